// thread.c: threads, conditions, and workers that share the parts of one job
#include "base/thread.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
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
    const struct timespec until = clock_timespec(deadline_ns);
    return pthread_cond_timedwait(condition, lock, &until) == 0;
}

// ---- workers ----

enum { WORKERS_MAX = 256 };

struct workers {
    pthread_mutex_t lock;
    pthread_cond_t start, done;
    pthread_t thread[WORKERS_MAX];
    int threads; // started threads; the caller is not included
    bool quit;
    unsigned generation; // counts jobs, so that a worker takes each once
    void (*job)(void *context, int part);
    void *context;
    int parts, next, finished;
};

int workers_available(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return 1;
    return CPU_COUNT(&set);
}

// Runs parts until none is left. The lock is held on entry and on return.
static void work(struct workers *w)
{
    while (w->next < w->parts) {
        const int part = w->next++;
        pthread_mutex_unlock(&w->lock);
        w->job(w->context, part);
        pthread_mutex_lock(&w->lock);
        if (++w->finished == w->parts)
            pthread_cond_signal(&w->done);
    }
}

static void *worker_main(void *argument)
{
    struct workers *w = argument;
    unsigned seen = 0;
    pthread_mutex_lock(&w->lock);
    while (!w->quit) {
        if (seen == w->generation) {
            pthread_cond_wait(&w->start, &w->lock);
            continue;
        }
        seen = w->generation;
        work(w);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct workers *workers_open(int threads)
{
    struct workers *w = xalloc(sizeof(*w));
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->start, NULL);
    pthread_cond_init(&w->done, NULL);
    const int wanted = threads > 0 ? threads : workers_available();
    while (w->threads < wanted - 1 && w->threads < WORKERS_MAX) {
        char name[32];
        snprintf(name, sizeof(name), "worker %d", w->threads + 1);
        if (!thread_start(&w->thread[w->threads], worker_main, w, name)) {
            log_warn("continuing with %d of %d worker threads", w->threads + 1, wanted);
            break;
        }
        w->threads++;
    }
    return w;
}

void workers_close(struct workers *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->quit = true;
    pthread_cond_broadcast(&w->start);
    pthread_mutex_unlock(&w->lock);
    for (int i = 0; i < w->threads; i++)
        pthread_join(w->thread[i], NULL);
    pthread_cond_destroy(&w->done);
    pthread_cond_destroy(&w->start);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

int workers_count(const struct workers *w)
{
    return w->threads + 1;
}

void workers_run(struct workers *w, void (*job)(void *context, int part), void *context, int parts)
{
    if (parts <= 0)
        return;
    pthread_mutex_lock(&w->lock);
    w->job = job;
    w->context = context;
    w->parts = parts;
    w->next = 0;
    w->finished = 0;
    w->generation++;
    pthread_cond_broadcast(&w->start);
    work(w);
    while (w->finished < w->parts)
        pthread_cond_wait(&w->done, &w->lock);
    pthread_mutex_unlock(&w->lock);
}
