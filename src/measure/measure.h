// measure.h: measures what an OpenCL device, or the filters and paths of this program, can do
#pragma once

#include "compute/device.h"
#include "measure/figure.h"

enum { MEASURE_ROUNDS = 9, MEASURE_ROUNDS_HERE = 30, MEASURE_ROUNDS_MAX = 1000 }; // of a test; of a measurement

// A row of the table of tests.
struct bench_session;
struct measure_test {
    const char *name; // "memory.copy"; the part before the dot is its group
    const char *unit;
    const char *definition; // what the value means; no full stop at its end
    const char *file;       // its kernels: "bench/compute.cl"; NULL: none
    double seconds;         // default time to measure, excluding set-up
    bool gl;                // the session has a window if one can be opened, and its device shares with GL if it can
    void (*run)(struct bench_session *session);
};
extern const struct measure_test *const measure_tests[]; // ends with NULL

// Returns true if the word names the test or its group.
bool measure_is_named(const struct measure_test *test, const char *word);

// Figures and progress, as they come.
struct measure_listener {
    void (*take)(void *context, const struct figure *figure);
    bool (*progress)(void *context, const char *text); // false: stop
    void *context;
};

// ---- tests of a device, each in a child process ----

struct measure_setup {
    const struct measure_test *test;
    int device;                       // number in device_list
    const char *kernels;              // directory that overrides the embedded kernels; NULL: none
    double seconds;                   // time to measure; 0: the default for these rounds
    int rounds;                       // 0: MEASURE_ROUNDS
    struct measure_listener listener; // the text of `progress` may be NULL
};

// Runs a test in a child process and reports its figures. If the test does not end, crashes or reports nothing, the
// last figure is a failed one with the reason and no parameters. Returns false if `progress` stopped it.
bool measure_run(const struct measure_setup *setup);

// The arguments of the child, after the program's name.
enum measure_word {
    MEASURE_COMMAND,
    MEASURE_PARENT, // process id of the parent
    MEASURE_DEVICE,
    MEASURE_TEST,
    MEASURE_MS,      // time to measure
    MEASURE_COUNT,   // of rounds
    MEASURE_KERNELS, // directory; "": none
    MEASURE_WORDS,
};

// The child's part: runs a test and writes its figures to the parent (base/child.h). Returns the exit status.
int measure_answer(char *const *words);

// The child of a test has its time to measure and this time, for the set-up and for slow compilers and devices.
enum { MEASURE_SETUP_S = 120 };

// ---- measurements of chosen filters and paths, in this process ----

enum { MEASUREMENT_TESTS = 4 };

struct chosen;
struct measurement {
    const char *name;
    const char *details; // for the help: what it measures, and its defaults
    // Its figures belong to these tests; fewer: the rest is zeroed. The first is measured and compared with a base; the
    // others follow from the same rounds.
    struct measure_test test[MEASUREMENT_TESTS];
    bool frames;       // whole frames: on all paths by default, to the textures of a window if one can be opened
    bool has_measures; // it takes chosen measures
    bool (*run)(struct bench_session *session); // false: the chosen cases are impossible (logged)
};
extern const struct measurement *const measurement_list[]; // ends with NULL

struct measure_here {
    const struct measurement *measurement;
    struct chosen *chosen;
    const char *device;  // as in device_choose
    bool insist;         // the user named a path or the device: without it, nothing is measured
    const char *kernels; // as in measure_setup
    double seconds;      // measure MEASURE_ROUNDS_MAX rounds, but for at most this time; 0: `rounds`
    int rounds;          // 0: MEASURE_ROUNDS_HERE
    struct measure_listener listener;
};

// The hardware that was used.
struct measure_place {
    struct device_info device;
    int number;          // of the device in device_list; -1: none
    char processor[128]; // and the instructions in use
    char gl[160];        // of the GL context; "": none
};

enum measure_end {
    MEASURE_ENDED,   // also by the listener
    MEASURE_NOTHING, // a device or GL is missing (logged)
    MEASURE_CASES,   // the chosen cases are impossible (logged)
};

// Measures on the main thread.
enum measure_end measure_here(const struct measure_here *setup, struct measure_place *place);
