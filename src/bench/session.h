// session.h: the cases of a test: calibrates them, checks their results, measures them in rounds (for
// implementers)
#pragma once

#include "base/stats.h"
#include "bench/bench.h"
#include "compute/program.h"
#include "screen/window.h"

#include <stdint.h>

// A running test: of a device in the child process, or a measurement in monocle's.
struct bench_session {
    const struct bench_test *test; // names the figures
    struct device *device;         // NULL only in a measurement: none is needed
    struct window *window;         // with BENCH_WINDOW, its context is current; NULL: none can be opened
    char window_why[256];          // the reason if there is no window
    struct gl_context *gl;         // the window's, or one without a window, current; NULL: none
    char gl_why[256];              // the reason if there is none
    cl_command_queue queue;        // with profiling
    double seconds;                // time to measure, divided among rounds and cases
    double slot_s;                 // time of one measurement of a case; 0: as `seconds` gives
    double limit_s;                // no round begins that would end later, from the fourth on
    int rounds;
    char error[FIGURE_NOTE]; // the last error that was logged
    struct bench_listener listener;
    bool stopped; // by the listener

    // Of a measurement.
    const struct measurement *measurement;
    struct chosen *chosen;
    struct picture_pool *pool;
    struct tuned *tuned; // for the cpu path
};

// Opens a device (NULL: none), and GL: none, a context without a window, or a window if possible. From now on, the
// session keeps the last error. False: the device cannot be opened (logged). Close it also then.
enum bench_gl { BENCH_PLAIN, BENCH_GL, BENCH_WINDOW };
bool bench_begin(struct bench_session *session, const struct device_info *device, const char *kernels,
                 enum bench_gl gl);
void bench_end(struct bench_session *session);

enum { BENCH_ARGUMENTS = 8 };

// A further value of each measurement of a case, such as the time of a stage.
struct bench_part {
    struct figure figure; // `test` "": that of the session
    double value;         // of the latest measurement, in the unit of the test; `time` sets it. Negative: there is none
    struct samples values;
};

struct bench_case {
    struct bench_session *session;
    struct figure figure;
    const char *file; // of its kernel; NULL: the test's
    // Makes `runs` runs (at most TIMING_RUNS) and returns the average seconds of one. Negative on failure (logged).
    // NULL: times `once` by the host's clock, or the kernel by the device's.
    double (*time)(struct bench_case *c, int runs);
    // Runs once and compares the result with the host's. False if it is wrong, or on failure (logged).
    bool (*check)(struct bench_case *c);
    bool (*once)(const struct bench_case *c); // runs once, and waits; false on failure (logged); NULL: the kernel
    // Adds to the figure when all cases are measured, or reports more (bench_derive); NULL: nothing.
    void (*finish)(struct bench_case *c);
    bool silent; // other cases use the value; it is not reported
    // The value is `work` times `loops` per second. Work 0: the value is the time, in ms if this is the test's unit,
    // else in microseconds.
    double work;
    cl_uint loops, loops_most; // repetitions within a run; raised until a run is long enough; 0: always 1
    int runs;                  // of one measurement; 0: calibrated
    int warm_runs;             // before, because memory is touched and drivers finish compiling; 0: 1
    void *data;                // of the test

    cl_kernel kernel;
    struct kernel_argument arguments[BENCH_ARGUMENTS];
    int argument_count;
    size_t size[2], local[2];

    struct samples values;
    struct bench_part *part; // reported after the case; borrowed
    int parts;
};

// Builds a kernel of the case's file with these options. On failure returns false and sets the figure's reason.
bool bench_kernel(struct bench_case *c, const char *options, const char *name);
void bench_argument(struct bench_case *c, const void *value, size_t bytes); // borrows the value
static inline size_t bench_round_up(int value, int unit)
{
    return (size_t)((value + unit - 1) / unit * unit);
}
// Sets the bytes of `result` (NULL: nothing) to 0, runs the kernel once with `loops` and waits. False on failure
// (logged).
bool bench_kernel_once(struct bench_case *c, cl_uint loops, cl_mem result, size_t bytes);

// Memory of a device's test, which no one frees: the process ends with the test. Allocates a buffer with this content,
// for kernels to read, or one for all uses (NULL). NULL on failure (logged).
cl_mem bench_memory(const struct bench_session *session, size_t bytes, const void *content);
// Reads a part of a buffer. False on failure (logged).
bool bench_read(const struct bench_session *session, cl_mem buffer, size_t at, void *to, size_t bytes);

// Sets the parameters of the case's figure.
void bench_name(struct bench_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Marks a case that cannot run.
void bench_skip(struct bench_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Returns true if the driver allows work-groups of this size for the case's kernel. Else marks the case as skipped.
bool bench_group_fits(struct bench_case *c, size_t items);
void bench_fail(struct bench_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
// `log`: a line that names the device, then the compiler's log. NULL: the reason was logged.
void bench_fail_build(struct bench_case *c, const char *log);

// Opens each case, whose data and parameters are set, with `open` (NULL: it is open), and measures all as
// bench_measure. `ready` false: what the cases share is missing, so they fail with the last error.
void bench_run(struct bench_session *session, struct bench_case *cases, int count, bool ready,
               void (*open)(struct bench_case *c));
// Measures all cases that are not skipped, and reports the figures of all in their order. Releases their kernels. If
// the listener stops it, reports the rounds so far.
void bench_measure(struct bench_session *session, struct bench_case *cases, int count);

// Measures the cases briefly and reports nothing. Returns the figure with the largest value; its value is 0 if no case
// can run. Releases their kernels.
struct figure bench_best(struct bench_case *cases, int count);

void bench_report(const struct bench_session *session, const struct figure *figure);
// Reports a figure of another test of the measurement, which follows from that of the case.
void bench_derive(const struct bench_case *c, int test, double value);
// Reports that the whole test failed, with the last error that was logged.
void bench_report_failure(const struct bench_session *session);
void bench_progress(struct bench_session *session, const char *format, ...) __attribute__((format(printf, 2, 3)));
