// driver_call.h: counts calls of drivers that may never return, so that a signal can end the process
#pragma once

#include <stdbool.h>

// Call these before and after a driver call that waits or compiles. On any thread; calls may nest.
void driver_call_begin(void);
void driver_call_end(void);

// A signal handler calls driver_call_interrupt. Then driver_call_interrupted returns true: compilers in children end.
void driver_call_interrupt(void);
bool driver_call_interrupted(void);

// Returns true if a driver call runs, and no driver call has begun or returned for `ms` milliseconds. `main_thread`:
// only calls of the main thread count. A signal handler may call it.
bool driver_call_stuck(bool main_thread, int ms);
