// clock.h: the one host clock, CLOCK_MONOTONIC, which V4L2 timestamps use too
#pragma once

#include <stdint.h>

int64_t clock_now_ns(void);
// Sleeps until that time; returns at once when it has passed, early when a signal arrives.
void clock_sleep_until_ns(int64_t when_ns);
