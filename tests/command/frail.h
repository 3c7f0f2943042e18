// frail.h: paths and a device that can be lost at any frame; replaces the program's own when linked
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

enum { NEVER = -1 };
enum { OVER_NOTHING, OVER_GLX, OVER_EGL, OVER_KINDS };

// The faults of the devices, set before a run, and counters. The cpu path is never lost.
struct frail {
    int submit_fails_at, collect_fails_at; // number of the frame in the run
    int tried_fails;   // frames of path_try: 0: succeed, 1: cannot be submitted, 2: cannot be collected
    bool stays_lost;   // a lost device cannot be opened again
    atomic_int no_cpu; // number of cpu paths that cannot be opened after a loss
    bool no_egl;       // no device can be opened for an EGL context
    atomic_int submitted, collected;
    atomic_bool gl_lost;
    int gpus;                           // GPUs in the list, before its CPU device; 0: only the CPU device
    int sharing;                        // index of the GPU, from 1 on, that can share with GL; 0: none
    bool meet;                          // each opening waits until one per GPU has begun
    atomic_int opening, opened_cpu;     // openings that began; CPU devices opened
    atomic_int opened_over[OVER_KINDS]; // devices opened, by kind of context
    atomic_int misuses;                 // wrong calls of a path, on any thread
    const char *report;                 // this file must not be opened before signals are blocked; NULL: none
    bool held_late;                     // it was opened before
    atomic_int signal;                  // received since the run began
};
struct frail *frail(void); // the only one

void frail_begin(void); // begins a run: resets the counters
