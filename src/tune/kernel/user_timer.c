// user_timer.c: the parent's part of the timing of a user's kernels
//
// A thread waits for the child, and writes the last reply when the child has ended.
#include "tune/kernel/user_timer.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/driver_call.h"
#include "base/log.h"
#include "base/thread.h"
#include "path/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 16, DAY_MS = 24 * 3600 * 1000, HELLO_MS = 60000 };
// After a signal, the tuner compares the results so far. A kernel that takes longer than this is left out.
enum { SIGNAL_MS = 5000, POLL_MS = 100 };

struct user_timer {
    const char *words[WORDS_MAX];
    char pipes[32];
    int requests[2], replies[2];
    pthread_t thread;
    bool started;
    pid_t process; // the child, after its first reply; 0: not yet
};

static void *run_child(void *context)
{
    struct user_timer *timer = context;
    struct user_timer_reply last = {.ended = true};
    int value = 0;
    const enum child_end end = child_run(child_program, (char *const *)timer->words, DAY_MS, &value);
    child_explain(end, value, DAY_MS / 1000, DAY_MS / 1000, last.why);
    if (write(timer->replies[1], &last, sizeof(last)) < 0)
        log_error("cannot time a kernel: %s", strerror(errno));
    return NULL;
}

struct user_timer *user_timer_open(const char *const *arguments, int count, int pipes)
{
    struct user_timer *timer = calloc(1, sizeof(*timer));
    if (!timer || count >= WORDS_MAX) {
        log_error("cannot time a kernel: out of memory");
        free(timer);
        return NULL;
    }
    memcpy(timer->words, arguments, sizeof(*arguments) * (size_t)count);
    timer->words[pipes] = timer->pipes;
    timer->requests[0] = timer->requests[1] = timer->replies[0] = timer->replies[1] = -1;
    if (pipe2(timer->requests, O_CLOEXEC) != 0 || pipe2(timer->replies, O_CLOEXEC) != 0) {
        log_error("cannot time a kernel: %s", strerror(errno));
    } else {
        snprintf(timer->pipes, sizeof(timer->pipes), "%d,%d", timer->requests[0], timer->replies[1]);
        timer->started = thread_start(&timer->thread, run_child, timer, "timer");
    }
    if (timer->started)
        return timer;
    user_timer_close(timer);
    return NULL;
}

// Waits for a reply. False: there is none within the limit.
static bool read_reply(struct user_timer *timer, int limit_ms, struct user_timer_reply *reply)
{
    struct pollfd polled = {.fd = timer->replies[0], .events = POLLIN};
    const int64_t start_ns = clock_now_ns();
    int ready = 0;
    for (int ms = 0; ready <= 0 && ms < (driver_call_interrupted() && limit_ms > SIGNAL_MS ? SIGNAL_MS : limit_ms);) {
        ready = poll(&polled, 1, POLL_MS);
        ms = (int)((clock_now_ns() - start_ns) / 1000000);
        if (ready < 0 && errno != EINTR)
            return false;
    }
    return ready > 0 && read(timer->replies[0], reply, sizeof(*reply)) == (ssize_t)sizeof(*reply);
}

void user_timer_ask(struct user_timer *timer, const struct user_timer_request *request, int limit_ms,
                    struct user_timer_reply *reply)
{
    *reply = (struct user_timer_reply){.ended = true, .why = "its process has ended"};
    if (timer->process == 0 && read_reply(timer, HELLO_MS, reply))
        timer->process = reply->ended ? 0 : reply->process;
    if (timer->process == 0 || write(timer->requests[1], request, sizeof(*request)) != (ssize_t)sizeof(*request))
        return;
    if (read_reply(timer, limit_ms, reply))
        return;
    *reply = (struct user_timer_reply){.ended = true};
    child_explain(CHILD_LATE, 0, limit_ms / 1000, limit_ms / 1000, reply->why);
}

void user_timer_close(struct user_timer *timer)
{
    if (!timer)
        return;
    if (timer->process > 0)
        kill(-timer->process, SIGKILL);
    for (int i = 0; i < 2; i++) {
        if (timer->requests[i] >= 0)
            close(timer->requests[i]);
    }
    if (timer->started)
        pthread_join(timer->thread, NULL);
    for (int i = 0; i < 2; i++) {
        if (timer->replies[i] >= 0)
            close(timer->replies[i]);
    }
    free(timer);
}
