// queue.h: where the threads of a batch meet: workers take tasks and hand in outcomes, the main thread collects these
#pragma once

#include "command/batch/outcome.h"

#include <pthread.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t handed_in, room;
    const struct tasks *tasks;
    size_t next;    // task to be given out
    bool fail_fast; // a failure stops the queue; a full disk always does
    bool stopped;
    int workers; // that have not left
    struct outcome *first, *last;
    int waiting, waiting_most; // outcomes in the list
};

void queue_init(struct queue *queue, const struct tasks *tasks, bool fail_fast);
void queue_finish(struct queue *queue);
void queue_limit(struct queue *queue, int waiting); // at most so many outcomes wait; before any worker

// For workers. NULL where there is nothing more to do.
const struct task *queue_take(struct queue *queue);
// Waits while many wait already: what is not on the disk yet is bounded.
void queue_hand_in(struct queue *queue, struct outcome *outcome);
void queue_enter(struct queue *queue); // before its thread starts
void queue_leave(struct queue *queue);

// For the main thread. Waits for a group of outcomes, or until the deadline, and gives all handed in since, oldest
// first. *over: all workers have left, and these are the last.
struct outcome *queue_collect(struct queue *queue, int64_t deadline_ns, bool *over);
void queue_stop(struct queue *queue); // no more tasks are given out
