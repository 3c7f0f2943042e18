// build.c: the thread of a build
#include "command/live/build.h"

#include "base/clock.h"
#include "base/thread.h"

#include <stdlib.h>

enum { POLL_NS = 2000000 };

static void *run(void *argument)
{
    struct build *b = argument;
    b->setup.chain = &b->chain;
    if (b->path)
        b->ok = path_prepare(b->path, &b->chain, &b->error);
    else
        b->ok = (b->opened = path_open(&b->setup, &b->error)) != NULL;
    b->done = true;
    return NULL;
}

void build_start(struct build *b)
{
    b->ok = false;
    b->done = false;
    b->opened = NULL;
    b->error = NULL;
    b->running = thread_start(&b->thread, run, b, "builder");
    if (!b->running)
        b->done = true;
}

bool build_take(struct build *b)
{
    if (!b->done)
        return false;
    if (b->running)
        pthread_join(b->thread, NULL);
    b->running = false;
    return true;
}

bool build_discard(struct build *b, int patience_ms)
{
    if (!b->running)
        return true;
    const int64_t deadline_ns = clock_now_ns() + (int64_t)patience_ms * 1000000;
    for (; patience_ms >= 0 && !b->done; clock_sleep_until_ns(clock_now_ns() + POLL_NS)) {
        if (clock_now_ns() >= deadline_ns)
            return false;
    }
    pthread_join(b->thread, NULL);
    b->running = false;
    path_close(b->opened);
    free(b->error);
    return true;
}
