// thread.h: threads without signals, conditions with deadlines, and workers that share the parts of one job
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

// Starts a thread with all signals blocked, because signals must interrupt the waits of the main thread. Debuggers show
// `name`, of up to 15 characters. False on failure (logged).
bool thread_start(pthread_t *thread, void *(*run)(void *context), void *context, const char *name);

// Initialises a condition for thread_wait. Deadlines are times of clock_now_ns.
void thread_condition_init(pthread_cond_t *condition);
// As pthread_cond_wait, until the deadline. False: the deadline has passed.
bool thread_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t deadline_ns);

// ---- workers; the caller works too ----

struct workers;

// Returns the number of CPUs that this process may run on.
int workers_available(void);

// `threads` includes the caller; 0: one per available CPU. May start fewer (log_warn). Never NULL.
struct workers *workers_open(int threads);
void workers_close(struct workers *workers); // accepts NULL
int workers_count(const struct workers *workers);

// Calls job(context, part) once for each part in 0..parts-1, in any order and on any worker, and returns after the last
// call. Only the thread that opened the workers may call this.
void workers_run(struct workers *workers, void (*job)(void *context, int part), void *context, int parts);
