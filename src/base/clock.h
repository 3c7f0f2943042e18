// clock.h: the host clock: CLOCK_MONOTONIC, as in V4L2 timestamps
#pragma once

#include <stdint.h>

int64_t clock_now_ns(void);
static inline double clock_ms_since(int64_t start_ns)
{
    return (double)(clock_now_ns() - start_ns) / 1e6;
}
// Sleeps until that time, or until a signal arrives. Returns at once if the time has passed.
void clock_sleep_until_ns(int64_t when_ns);
