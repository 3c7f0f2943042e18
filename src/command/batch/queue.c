// queue.c: connects the threads of a batch
#include "command/batch/queue.h"

#include "base/thread.h"

enum {
    GROUP = 32, // outcomes that share the cost of one sync
    WAITING_MAX = 2 * GROUP,
};

void queue_init(struct queue *queue, const struct tasks *tasks, bool fail_fast)
{
    *queue = (struct queue){.tasks = tasks, .fail_fast = fail_fast, .waiting_most = WAITING_MAX};
    pthread_mutex_init(&queue->lock, NULL);
    thread_condition_init(&queue->handed_in);
    thread_condition_init(&queue->room);
}

void queue_finish(struct queue *queue)
{
    pthread_cond_destroy(&queue->room);
    pthread_cond_destroy(&queue->handed_in);
    pthread_mutex_destroy(&queue->lock);
}

void queue_limit(struct queue *queue, int waiting)
{
    queue->waiting_most = waiting < WAITING_MAX ? waiting : WAITING_MAX;
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

void queue_enter(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->workers++;
    pthread_mutex_unlock(&queue->lock);
}

void queue_leave(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->workers--;
    pthread_cond_signal(&queue->handed_in);
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
