// thread.h: threads and conditions as every layer wants them
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

// Starts a thread with every signal blocked: signals are for the main thread, whose waiting they end. `name`, up
// to 15 characters, is what debuggers call it. False on failure (logged).
bool thread_start(pthread_t *thread, void *(*run)(void *context), void *context, const char *name);

// A condition for thread_wait, whose deadlines are clock_now_ns time.
void thread_condition_init(pthread_cond_t *condition);
// As pthread_cond_wait; false once the deadline has passed.
bool thread_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t deadline_ns);
