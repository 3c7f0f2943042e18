// clock.c: the host clock
#include "base/clock.h"

int64_t clock_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

void clock_sleep_until_ns(int64_t when_ns)
{
    const struct timespec when = clock_timespec(when_ns);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
}
