// thread.c: threads and conditions
#include "base/thread.h"

#include "base/log.h"

#include <signal.h>
#include <string.h>
#include <time.h>

bool thread_start(pthread_t *thread, void *(*run)(void *context), void *context, const char *name)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const int error = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error != 0)
        log_error("cannot start the %s thread: %s", name, strerror(error));
    else
        pthread_setname_np(*thread, name);
    return error == 0;
}

void thread_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

bool thread_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t deadline_ns)
{
    enum { NS_PER_S = 1000000000 };
    const struct timespec until = {.tv_sec = deadline_ns / NS_PER_S, .tv_nsec = deadline_ns % NS_PER_S};
    return pthread_cond_timedwait(condition, lock, &until) == 0;
}
