// frail.h: paths and a device that can be lost at any frame; linked instead of the program's own
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

enum { NEVER = -1 };
enum { OVER_NOTHING, OVER_GLX, OVER_EGL, OVER_KINDS };

// What happens to the devices, and what has; set before a run. The cpu path is never lost.
struct frail {
    int submit_fails_at, collect_fails_at; // pictures since the run began
    bool stays_lost;                       // it cannot be opened again
    bool no_cpu;                           // the cpu path cannot be opened
    bool no_egl;                           // nor a device beside an EGL context
    atomic_int submitted, collected;
    int gpus;                           // GPUs in the list, before its CPU device; 0: the CPU device alone
    bool meet;                          // each opening waits until as many have begun as there are GPUs
    atomic_int opening, opened_cpu;     // openings that have begun; CPU devices that were opened
    atomic_int opened_over[OVER_KINDS]; // how often a device was opened beside which context
    atomic_int misuses;                 // of a path, on any thread
    const char *report;                 // that shall not be begun before signals are held; NULL: none
    bool held_late;                     // it was
    int signal;                         // that has come since the beginning
};
struct frail *frail(void); // there is one

void frail_begin(void); // a run: nothing has been submitted or opened yet
