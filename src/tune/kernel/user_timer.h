// user_timer.h: times a user's kernels in a child process, so that no kernel runs in this one
#pragma once

#include "compute/driver_cache.h"
#include "tune/space.h"

enum user_timer_action { TIMER_BUILD, TIMER_TIME, TIMER_RUN, TIMER_RELEASE };

// The parent writes requests to a pipe, and the child writes a reply to each one to another pipe.
struct user_timer_request {
    enum user_timer_action action;
    int configuration;
    uint16_t tuple[SPACE_PARAMS]; // TIMER_BUILD
    double for_ms;                // TIMER_TIME
    int runs;                     // TIMER_RUN
};

struct user_timer_reply {
    bool ok, ended; // ended: the child has ended, or did not reply in time
    int process;    // id of the child
    double ms;      // of TIMER_TIME
    char why[VERDICT_TEXT];
};

struct user_timer;

// Starts the child with these arguments, which are borrowed until user_timer_close. Replaces argument number `pipes` by
// two file descriptors of this process, such as "5,7": the child reads requests from the first one, and writes replies
// to the second one. Its first reply needs no request. NULL on failure (logged). One thread at a time.
struct user_timer *user_timer_open(const char *const *arguments, int count, int pipes);
void user_timer_close(struct user_timer *timer); // kills the child; accepts NULL
// Sends a request and waits for the reply, at most `limit_ms` milliseconds. After a reply with `ended`, only
// user_timer_close may follow.
void user_timer_ask(struct user_timer *timer, const struct user_timer_request *request, int limit_ms,
                    struct user_timer_reply *reply);
