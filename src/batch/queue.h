// queue.h: connects the threads of a batch: workers take tasks and memory and hand in outcomes; the main thread
// collects the outcomes
#pragma once

#include "batch/tasks.h"

#include <pthread.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t handed_in, room, memory_given;
    const struct tasks *tasks;
    size_t next;    // index of the next task
    bool fail_fast; // stop at the first failure; a full disk always stops the queue
    bool stopped;
    int workers; // workers that have not left
    struct outcome *first, *last;
    int waiting, waiting_most; // outcomes in the list, and their limit
    uint64_t memory_bytes, memory_used;
};

// `memory_bytes` limits the memory of all images in flight.
void queue_init(struct queue *queue, const struct tasks *tasks, bool fail_fast, uint64_t memory_bytes);
void queue_finish(struct queue *queue);
// Sets the number of workers, before they start. Reduces *jobs and the limit of waiting outcomes if the process may
// open few files. `device`: the workers use devices. Returns false if the limit of open files is too low for one job
// (logged).
bool queue_admit(struct queue *queue, int *jobs, bool device);

// For workers. Returns NULL if there is no more task.
const struct task *queue_take(struct queue *queue);
// Takes over the outcome. Waits while the list is full, which limits the outputs that are not on the disk yet.
void queue_hand_in(struct queue *queue, struct outcome *outcome);
void queue_leave(struct queue *queue); // also for a worker that cannot start
// Takes `bytes`, which must not exceed `memory_bytes`. If fewer are left, it waits for them (`waiting`) or returns
// false. A thread that waits must hold no bytes, because two such threads could wait for each other.
bool queue_take_memory(struct queue *queue, uint64_t bytes, bool waiting);
void queue_give_memory(struct queue *queue, uint64_t bytes);

// For the main thread. Waits until half the limit of outcomes has arrived, all workers have left, or the deadline has
// passed. Returns all waiting outcomes, oldest first; the caller frees them. *over is set if all workers have left:
// these outcomes are the last.
struct outcome *queue_collect(struct queue *queue, int64_t deadline_ns, bool *over);
void queue_stop(struct queue *queue); // queue_take then returns NULL
