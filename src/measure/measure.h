// measure.h: measures what an OpenCL device can do; each test runs in a child process
#pragma once

#include "compute/device.h"
#include "measure/figure.h"

// A row of the table of tests.
struct session;
struct measure_test {
    const char *name; // "memory.copy"; the part before the dot is its group
    const char *unit;
    const char *definition; // what the value means; no full stop at its end
    const char *file;       // its kernels: "bench/compute.cl"; NULL: none
    double seconds;         // default time to measure, excluding set-up
    bool gl;                // the session has a window if one can be opened, and its device shares with GL if it can
    void (*run)(struct session *session);
};
extern const struct measure_test *const measure_tests[]; // ends with NULL

// Returns true if the word names the test or its group.
bool measure_is_named(const struct measure_test *test, const char *word);

struct measure_setup {
    const struct measure_test *test;
    int device;          // number in device_list
    const char *kernels; // directory that overrides the embedded kernels; NULL: none
    double seconds;      // time to measure; 0: the default for these rounds
    int rounds;          // 0: MEASURE_ROUNDS
    void (*take)(void *context, const struct figure *figure); // called for each figure
    bool (*progress)(void *context, const char *text);        // `text` may be NULL; false: stop
    void *context;
};

enum { MEASURE_ROUNDS = 9, MEASURE_ROUNDS_MAX = 1000 };

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
