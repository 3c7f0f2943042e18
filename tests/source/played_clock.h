// played_clock.h: a clock that passes only while every thread waits: a wait takes no time, and a slow machine changes
// nothing
//
// Linked with --wrap=thread_start. All waits of the program must be polls or sleeps of driver_clock.
#pragma once

void played_clock_start(void);  // driver_clock is this clock from now on
int played_clock_threads(void); // number of threads that the program has started so far
