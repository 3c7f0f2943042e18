// thread.h: threads without signals, and conditions with deadlines
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
