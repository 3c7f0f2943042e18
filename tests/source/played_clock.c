// played_clock.c: see played_clock.h
#include "played_clock.h"

#include "driver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NEVER_NS INT64_MAX
enum { WAITERS = 512, NS_PER_MS = 1000000 };

struct waiter {
    struct pollfd *files;
    nfds_t count;
    int64_t until_ns;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t now_ns;
    int threads; // of the program
    int started; // so far
    int waiting;
    const struct waiter *waiter[WAITERS];
} clock_state = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .now_ns = 1, .threads = 1};

int __real_poll(struct pollfd *files, nfds_t count, int timeout_ms);

static int ready_of(const struct waiter *waiter)
{
    return waiter->count > 0 ? __real_poll(waiter->files, waiter->count, 0) : 0;
}

// Sets the clock to the end of the first wait, if no thread has anything to do. The caller holds the lock.
static void pass_time(void)
{
    int64_t first_ns = NEVER_NS;
    for (int i = 0; i < clock_state.waiting; i++) {
        const struct waiter *waiter = clock_state.waiter[i];
        if (waiter->until_ns <= clock_state.now_ns || ready_of(waiter) > 0)
            return;
        first_ns = waiter->until_ns < first_ns ? waiter->until_ns : first_ns;
    }
    if (clock_state.waiting < clock_state.threads)
        return;
    if (first_ns == NEVER_NS)
        abort(); // for ever
    clock_state.now_ns = first_ns;
    pthread_cond_broadcast(&clock_state.changed);
}

// Returns the number of ready files.
static int wait_until(struct pollfd *files, nfds_t count, int64_t until_ns)
{
    const struct waiter waiter = {files, count, until_ns};
    int ready;
    pthread_mutex_lock(&clock_state.lock);
    if (clock_state.waiting == WAITERS)
        abort();
    clock_state.waiter[clock_state.waiting++] = &waiter;
    while ((ready = ready_of(&waiter)) == 0 && clock_state.now_ns < until_ns) {
        struct timespec soon;
        pass_time();
        if (clock_state.now_ns >= until_ns)
            continue;
        clock_gettime(CLOCK_REALTIME, &soon); // a file may become ready
        soon.tv_nsec += NS_PER_MS;
        soon.tv_sec += soon.tv_nsec / 1000000000;
        soon.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&clock_state.changed, &clock_state.lock, &soon);
    }
    int i = 0;
    while (clock_state.waiter[i] != &waiter)
        i++;
    clock_state.waiter[i] = clock_state.waiter[--clock_state.waiting];
    pthread_mutex_unlock(&clock_state.lock);
    return ready;
}

static int64_t played_now_ns(void)
{
    pthread_mutex_lock(&clock_state.lock);
    const int64_t now_ns = clock_state.now_ns;
    pthread_mutex_unlock(&clock_state.lock);
    return now_ns;
}

static void played_sleep_until_ns(int64_t when_ns)
{
    wait_until(NULL, 0, when_ns);
}

static int played_poll(struct pollfd *files, nfds_t count, int timeout_ms)
{
    return wait_until(files, count, timeout_ms < 0 ? NEVER_NS : played_now_ns() + (int64_t)timeout_ms * NS_PER_MS);
}

void played_clock_start(void)
{
    driver_clock = (struct driver_clock){played_now_ns, played_sleep_until_ns, played_poll};
}

// ---- threads of the program ----

int played_clock_threads(void)
{
    return clock_state.started;
}

struct job {
    void *(*run)(void *context);
    void *context;
};

static void count_thread(int change)
{
    pthread_mutex_lock(&clock_state.lock);
    clock_state.threads += change;
    clock_state.started += change > 0;
    pthread_mutex_unlock(&clock_state.lock);
}

static void *run_job(void *context)
{
    const struct job job = *(struct job *)context;
    free(context);
    void *result = job.run(job.context);
    count_thread(-1);
    return result;
}

bool __real_thread_start(pthread_t *thread, void *(*run)(void *context), void *context, const char *name);
bool __wrap_thread_start(pthread_t *thread, void *(*run)(void *context), void *context, const char *name);
bool __wrap_thread_start(pthread_t *thread, void *(*run)(void *context), void *context, const char *name)
{
    struct job *job = malloc(sizeof(*job));
    *job = (struct job){run, context};
    count_thread(1);
    return __real_thread_start(thread, run_job, job, name);
}
