// session.h: the cases of a test: calibrates them, checks their results, measures them in rounds (for implementers)
#pragma once

#include "base/stats.h"
#include "compute/program.h"
#include "measure/measure.h"
#include "screen/window.h"

#include <stdint.h>

// A running test: of a device in the child process, or a measurement in monocle's.
struct session {
    const struct measure_test *test; // names the figures
    struct device *device;           // NULL only in a measurement: none is needed
    struct window *window;           // with SESSION_WINDOW, its context is current; NULL: none can be opened
    char window_why[256];            // the reason if there is no window
    struct gl_context *gl;           // the window's, or one without a window, current; NULL: none
    char gl_why[256];                // the reason if there is none
    cl_command_queue queue;          // with profiling
    double seconds;                  // time to measure, divided among rounds and cases
    double slot_s;                   // time of one measurement of a case; 0: as `seconds` gives
    double limit_s;                  // no round begins that would end later, from the fourth on
    int rounds;
    char error[FIGURE_NOTE]; // the last error that was logged
    struct measure_listener listener;
    bool stopped; // by the listener

    // Of a measurement.
    const struct measurement *measurement;
    struct chosen *chosen;
    struct pool *pool;
    struct tuned *tuned; // for the cpu path
};

// Opens a device (NULL: none), and GL: none, a context without a window, or a window if possible. From now on, the
// session keeps the last error. False: the device cannot be opened (logged). Close it also then.
enum session_gl { SESSION_PLAIN, SESSION_GL, SESSION_WINDOW };
bool session_begin(struct session *session, const struct device_info *device, const char *kernels, enum session_gl gl);
void session_end(struct session *session);

enum { SESSION_ARGUMENTS = 8 };

// A further value of each measurement of a case, such as the time of a stage.
struct session_part {
    struct figure figure; // `test` "": that of the session
    double value;         // of the latest measurement, in the unit of the test; `time` sets it. Negative: there is none
    struct samples values;
};

struct session_case {
    struct session *session;
    struct figure figure;
    const char *file; // of its kernel; NULL: the test's
    // Makes `runs` runs (at most TIMING_RUNS) and returns the average seconds of one. Negative on failure (logged).
    double (*time)(struct session_case *c, int runs);
    // Runs once and compares the result with the host's. False if it is wrong, or on failure (logged).
    bool (*check)(struct session_case *c);
    // Adds to the figure when all cases are measured, or reports more (session_derive); NULL: nothing.
    void (*finish)(struct session_case *c);
    bool silent; // other cases use the value; it is not reported
    // The value is `work` times `loops` per second. Work 0: the value is the time, in ms if this is the test's unit,
    // else in microseconds.
    double work;
    cl_uint loops, loops_most; // repetitions within a run; raised until a run is long enough; 0: always 1
    int runs;                  // of one measurement; 0: calibrated
    int warm_runs;             // before, because memory is touched and drivers finish compiling; 0: 1
    void *data;                // of the test

    // A case of session_kernel_time: the argument `loops_at` is `loops`. -1: none.
    cl_kernel kernel;
    struct kernel_argument arguments[SESSION_ARGUMENTS];
    int argument_count, loops_at;
    size_t size[2], local[2];

    struct samples values;
    struct session_part *part; // reported after the case; borrowed
    int parts;
};

// Times by events: the device's clock.
double session_kernel_time(struct session_case *c, int runs);

// Builds a kernel of the case's file with these options. On failure returns false and sets the figure's reason.
bool session_kernel(struct session_case *c, const char *options, const char *name);
void session_argument(struct session_case *c, const void *value, size_t bytes); // borrows the value
// Runs the kernel once with `loops` and waits. False on failure (logged).
bool session_kernel_once(struct session_case *c, cl_uint loops);

// Marks a case that cannot run.
void session_skip(struct session_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void session_fail(struct session_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
// `log`: a line that names the device, then the compiler's log. NULL: out of memory.
void session_fail_build(struct session_case *c, const char *log);

// Measures all cases that are not skipped, and reports the figures of all in their order. Releases their kernels. If
// the listener stops it, reports the rounds so far.
void session_measure(struct session *session, struct session_case *cases, int count);

// Measures the cases briefly and reports nothing. Returns the figure with the largest value; its value is 0 if no case
// can run. Releases their kernels.
struct figure session_best(struct session_case *cases, int count);

void session_report(const struct session *session, const struct figure *figure);
// Reports a figure of another test of the measurement, which follows from that of the case.
void session_derive(const struct session_case *c, int test, double value);
// Reports that the whole test failed, with the last error that was logged.
void session_report_failure(const struct session *session);
void session_progress(struct session *session, const char *format, ...) __attribute__((format(printf, 2, 3)));

// ---- data ----

// Allocates a buffer on the device and fills it with random bytes. NULL on failure (logged).
cl_mem session_random_buffer(struct session *session, size_t bytes);
