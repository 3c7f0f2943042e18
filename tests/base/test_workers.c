// test_workers.c: every part of a job runs once, with any number of threads; ThreadSanitizer runs it too
#include "base/thread.h"

#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>

enum { PARTS_MAX = 1000 };

struct job {
    atomic_int runs[PARTS_MAX];
    int plain[PARTS_MAX]; // written without atomics: TSan sees a part that runs twice or a return that comes too soon
    atomic_int other_threads;
    pthread_t caller;
};

static void run_part(void *context, int part)
{
    struct job *job = context;
    atomic_fetch_add(&job->runs[part], 1);
    job->plain[part] += part;
    if (!pthread_equal(pthread_self(), job->caller))
        atomic_fetch_add(&job->other_threads, 1);
}

static void run_slow_part(void *context, int part)
{
    usleep(2000);
    run_part(context, part);
}

static struct job job;

static void test_threads(int threads)
{
    struct workers *workers = workers_open(threads);
    if (!CHECK(workers != NULL))
        return;
    CHECK(threads == 0 ? workers_count(workers) >= 1 : workers_count(workers) == threads);
    static const int parts[] = {0, 1, 2, 3, 7, 64, PARTS_MAX};
    memset(&job, 0, sizeof(job));
    job.caller = pthread_self();
    int rounds[PARTS_MAX] = {0};
    for (int round = 0; round < 200; round++) {
        const int count = parts[round % 7];
        workers_run(workers, run_part, &job, count);
        for (int i = 0; i < count; i++)
            rounds[i]++;
    }
    bool right = true;
    for (int i = 0; i < PARTS_MAX; i++)
        right = right && atomic_load(&job.runs[i]) == rounds[i] && job.plain[i] == rounds[i] * i;
    CHECK(right);
    if (threads > 1) {
        workers_run(workers, run_slow_part, &job, 32);
        CHECK(atomic_load(&job.other_threads) > 0);
    }
    workers_close(workers);
}

int main(void)
{
    workers_close(NULL);
    test_threads(1);
    test_threads(2);
    test_threads(5);
    test_threads(0);
    struct workers *idle = workers_open(4); // closed without a job
    workers_close(idle);
    return check_end(&unit);
}
