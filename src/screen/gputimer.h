// gputimer.h: how long the GPU takes to draw, from timer queries that nobody waits for
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { GPUTIMER_QUERIES = 4 }; // more than frames in flight, so that one is free again by then

struct gputimer {
    bool works, es;
    unsigned query[GPUTIMER_QUERIES]; // ring
    int first, count;                 // those whose result is still out
    bool running;
    int64_t ns; // the newest result; -1 before the first
};

void gputimer_init(struct gputimer *timer, bool es); // does nothing ever where GL has no such queries
void gputimer_finish(struct gputimer *timer);        // takes a zeroed one
// Around the drawing of a frame. Begin also collects what has arrived.
void gputimer_begin(struct gputimer *timer);
void gputimer_end(struct gputimer *timer);
