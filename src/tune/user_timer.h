// user_timer.h: times a user's kernels in a child process, so that no kernel runs in this one
#pragma once

#include "compute/verdicts.h"
#include "tune/space.h"

enum user_timer_action { TIMER_BUILD, TIMER_TIME, TIMER_RUN, TIMER_RELEASE };

// What the child should do. Both structs go through pipes, whole.
struct user_timer_request {
    enum user_timer_action action;
    int configuration;
    uint16_t tuple[SPACE_PARAMS]; // TIMER_BUILD
    double for_ms;                // TIMER_TIME
    int runs;                     // TIMER_RUN
};

struct user_timer_reply {
    bool ok, ended; // ended: the child has ended, and does not reply any more
    int process;    // the child
    double ms;      // of TIMER_TIME
    char why[VERDICT_TEXT];
};

struct user_timer;

// Starts the child with these arguments, whose memory stays valid until user_timer_close. The child first writes a
// reply that no request asks for; argument `pipes` is replaced by two file descriptors of this process, "5,7": where
// the child reads requests and writes replies. NULL on failure (logged).
struct user_timer *user_timer_open(const char *const *arguments, int count, int pipes);
void user_timer_close(struct user_timer *timer); // kills the child; accepts NULL
// Waits for the reply, at most `limit_ms`. After a reply with `ended`, only user_timer_close may follow.
void user_timer_ask(struct user_timer *timer, const struct user_timer_request *request, int limit_ms,
                    struct user_timer_reply *reply);
