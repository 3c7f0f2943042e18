// queue.c: connects the threads of a batch
#include "batch/worker.h"

#include "base/log.h"
#include "base/thread.h"

#include <fcntl.h>
#include <sys/resource.h>

enum {
    GROUP = 32, // outcomes that share the cost of one sync
    WAITING_MAX = 2 * GROUP,
    ENOUGH = 1024,     // limit of open files that is enough for every batch
    DRIVER_FILES = 40, // files that a device's driver may open
    MAIN_FILES = 2,    // the report, and a directory during its sync
    LEAST = 16,        // advice for the user: one job, and files that the process inherits
};

void queue_init(struct queue *queue, const struct tasks *tasks, bool fail_fast, uint64_t memory_bytes)
{
    *queue = (struct queue){
        .tasks = tasks, .fail_fast = fail_fast, .memory_bytes = memory_bytes, .waiting_most = WAITING_MAX};
    pthread_mutex_init(&queue->lock, NULL);
    thread_condition_init(&queue->handed_in);
    thread_condition_init(&queue->room);
    thread_condition_init(&queue->memory_given);
}

void queue_finish(struct queue *queue)
{
    pthread_cond_destroy(&queue->memory_given);
    pthread_cond_destroy(&queue->room);
    pthread_cond_destroy(&queue->handed_in);
    pthread_mutex_destroy(&queue->lock);
}

// Returns the number of files that the process can still open.
static int files_left(int limit)
{
    int left = 0;
    for (int fd = 0; fd < limit; fd++)
        left += fcntl(fd, F_GETFD) < 0;
    return left;
}

// An output stays open and locked until it is renamed. Open at the same time are the outputs of the group that is being
// committed, as many waiting outputs, and the files of each job.
static bool fit_limit(struct queue *queue, int limit, int *jobs, bool device)
{
    const int each = device ? 2 : 1; // on a device, the job writes an output while the next input is open
    const int taken = MAIN_FILES + (device ? DRIVER_FILES : 0);
    const int left = files_left(limit) - taken, most = (left - 2) / each;
    if (left < 2 + each) {
        log_error("the limit of %d open files is too low; raise it to %d or more (ulimit -n)", limit, LEAST + taken);
        return false;
    }
    if (most < *jobs) {
        log_info("the limit of %d open files (ulimit -n) allows %d files in flight, not %d", limit, most, *jobs);
        *jobs = most;
    }
    const int waiting = (left - each * *jobs) / 2;
    queue->waiting_most = waiting < WAITING_MAX ? waiting : WAITING_MAX;
    return true;
}

bool queue_admit(struct queue *queue, int *jobs, bool device)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < ENOUGH &&
        !fit_limit(queue, (int)files.rlim_cur, jobs, device))
        return false;
    queue->workers = *jobs;
    return true;
}

// Returns the size of a group. While the main thread commits one group, the workers fill the other half of the list.
static int group(const struct queue *queue)
{
    return (queue->waiting_most + 1) / 2;
}

const struct task *queue_take(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    const bool more = !queue->stopped && queue->next < queue->tasks->count;
    const struct task *task = more ? &queue->tasks->row[queue->next++] : NULL;
    pthread_mutex_unlock(&queue->lock);
    return task;
}

void queue_hand_in(struct queue *queue, struct outcome *outcome)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->waiting >= queue->waiting_most)
        pthread_cond_wait(&queue->room, &queue->lock);
    outcome->next = NULL;
    if (queue->last)
        queue->last->next = outcome;
    else
        queue->first = outcome;
    queue->last = outcome;
    queue->waiting++;
    queue->stopped = queue->stopped || (queue->fail_fast && outcome->status == STATUS_FAILED) ||
                     outcome->fault == FAULT_FULL; // the disk is full for every file
    if (queue->waiting >= group(queue))
        pthread_cond_signal(&queue->handed_in);
    pthread_mutex_unlock(&queue->lock);
}

void queue_leave(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->workers--;
    pthread_cond_signal(&queue->handed_in);
    pthread_mutex_unlock(&queue->lock);
}

bool queue_take_memory(struct queue *queue, uint64_t bytes, bool waiting)
{
    pthread_mutex_lock(&queue->lock);
    while (waiting && bytes > queue->memory_bytes - queue->memory_used)
        pthread_cond_wait(&queue->memory_given, &queue->lock);
    const bool ok = bytes <= queue->memory_bytes - queue->memory_used;
    if (ok)
        queue->memory_used += bytes;
    pthread_mutex_unlock(&queue->lock);
    return ok;
}

void queue_give_memory(struct queue *queue, uint64_t bytes)
{
    pthread_mutex_lock(&queue->lock);
    queue->memory_used -= bytes;
    pthread_cond_broadcast(&queue->memory_given);
    pthread_mutex_unlock(&queue->lock);
}

struct outcome *queue_collect(struct queue *queue, int64_t deadline_ns, bool *over)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->waiting < group(queue) && queue->workers > 0 &&
           thread_wait(&queue->handed_in, &queue->lock, deadline_ns))
        ;
    struct outcome *first = queue->first;
    queue->first = queue->last = NULL;
    queue->waiting = 0;
    *over = queue->workers == 0;
    pthread_cond_broadcast(&queue->room);
    pthread_mutex_unlock(&queue->lock);
    return first;
}

void queue_stop(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->stopped = true;
    pthread_mutex_unlock(&queue->lock);
}
