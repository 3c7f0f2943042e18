// queue.c: where the threads of a batch meet
#include "command/batch/queue.h"

#include "base/thread.h"

enum {
    GROUP = 32, // as many share the cost of getting to the disk
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

// A group that is collected, while another one fills the rest.
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
                     outcome->fault == FAULT_FULL; // nor has it space for any other
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
