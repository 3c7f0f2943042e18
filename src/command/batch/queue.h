// queue.h: connects the threads of a batch: workers take tasks and hand in outcomes, the main thread collects them
#pragma once

#include "command/batch/outcome.h"

#include <pthread.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t handed_in, room;
    const struct tasks *tasks;
    size_t next;    // index of the next task
    bool fail_fast; // stop at the first failure; a full disk always stops the queue
    bool stopped;
    int workers; // workers that have entered and not left
    struct outcome *first, *last;
    int waiting, waiting_most; // outcomes in the list, and their limit
};

void queue_init(struct queue *queue, const struct tasks *tasks, bool fail_fast);
void queue_finish(struct queue *queue);
void queue_limit(struct queue *queue, int waiting); // sets the limit of waiting outcomes; call before the first worker

// For workers. Returns NULL if there is no more task.
const struct task *queue_take(struct queue *queue);
// Takes over the outcome. Waits while the list is full, which limits the outputs that are not on the disk yet.
void queue_hand_in(struct queue *queue, struct outcome *outcome);
void queue_enter(struct queue *queue); // call on the main thread, before the worker's thread starts
void queue_leave(struct queue *queue);

// For the main thread. Waits until half the limit of outcomes has arrived, all workers have left, or the deadline has
// passed. Returns all waiting outcomes, oldest first; the caller frees them. *over is set if all workers have left:
// these outcomes are the last.
struct outcome *queue_collect(struct queue *queue, int64_t deadline_ns, bool *over);
void queue_stop(struct queue *queue); // queue_take then returns NULL
