// clock.h: the host clock: CLOCK_MONOTONIC, as in V4L2 timestamps
#pragma once

#include <limits.h>
#include <stdint.h>
#include <time.h>

#define NS_PER_S ((int64_t)1000000000)
#define NS_PER_MS ((int64_t)1000000)

int64_t clock_now_ns(void);
static inline double clock_ms_since(int64_t start_ns)
{
    return (double)(clock_now_ns() - start_ns) / 1e6;
}
// Returns the time-out of poll() until that time: 0 to INT_MAX.
static inline int clock_ms_until(int64_t when_ns)
{
    const int64_t left_ms = (when_ns - clock_now_ns() + 999999) / 1000000;
    if (left_ms > INT_MAX)
        return INT_MAX;
    return left_ms > 0 ? (int)left_ms : 0;
}
static inline struct timespec clock_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}
// Sleeps until that time, or until a signal arrives. Returns at once if the time has passed.
void clock_sleep_until_ns(int64_t when_ns);
