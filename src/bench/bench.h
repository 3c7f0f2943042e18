// bench.h: measures what an OpenCL device, or the filters and paths of this program, can do
#pragma once

#include "bench/results.h"
#include "compute/device.h"

enum { BENCH_ROUNDS = 9, BENCH_ROUNDS_CHOSEN = 30, BENCH_ROUNDS_MAX = 1000 }; // of a test; of a measurement

// A row of the table of tests.
struct bench_session;
struct bench_test {
    const char *name; // "memory.copy"; the part before the dot is its group
    const char *unit;
    const char *definition; // what the value means; no full stop at its end
    const char *file;       // its kernels: "bench/compute.cl"; NULL: none
    double seconds;         // default time to measure, excluding set-up
    bool gl;                // the session has a window if one can be opened, and its device shares with GL if it can
    void (*run)(struct bench_session *session);
};
extern const struct bench_test *const bench_tests[]; // ends with NULL

// Returns true if the word names the test or its group.
bool bench_is_named(const struct bench_test *test, const char *word);

// Figures and progress, as they come.
struct bench_listener {
    void (*take)(void *context, const struct figure *figure);
    bool (*progress)(void *context, const char *text); // false: stop
    void *context;
};

// ---- tests of a device, each in a child process ----

struct bench_test_setup {
    const struct bench_test *test;
    int device;                     // number in device_list
    const char *kernels;            // directory that overrides the embedded kernels; NULL: none
    double seconds;                 // time to measure; 0: the default for these rounds
    int rounds;                     // 0: BENCH_ROUNDS
    struct bench_listener listener; // the text of `progress` may be NULL
};

// Runs a test in a child process and reports its figures. If the test does not end, crashes or reports nothing, the
// last figure is a failed one with the reason and no parameters. Returns false if `progress` stopped it.
bool bench_test_run(const struct bench_test_setup *setup);

// The arguments of the child, after the program's name.
enum bench_word {
    BENCH_WORD_COMMAND,
    BENCH_WORD_PARENT, // process id of the parent
    BENCH_WORD_DEVICE,
    BENCH_WORD_TEST,
    BENCH_WORD_MS,      // time to measure
    BENCH_WORD_COUNT,   // of rounds
    BENCH_WORD_KERNELS, // directory; "": none
    BENCH_WORDS,
};

// The child's part: runs a test and writes its figures to the parent (base/child.h). Returns the exit status.
int bench_reply(char *const *words);

// The child of a test has its time to measure and this time, for the set-up and for slow compilers and devices.
enum { BENCH_SETUP_S = 120 };

// ---- measurements of chosen filters and paths, in this process ----

enum { MEASUREMENT_TESTS = 4 };

struct chosen;
struct measurement {
    const char *name;
    const char *details; // for the help: what it measures, and its defaults
    // Its figures belong to these tests; fewer: the rest is zeroed. The first is measured and compared with a base; the
    // others follow from the same rounds.
    struct bench_test test[MEASUREMENT_TESTS];
    bool frames;       // whole frames: on all paths by default, to the textures of a window if one can be opened
    bool has_measures; // it takes chosen measures
    bool (*run)(struct bench_session *session); // false: the chosen cases are impossible (logged)
};
extern const struct measurement *const measurement_list[]; // ends with NULL

struct bench_chosen_setup {
    const struct measurement *measurement;
    struct chosen *chosen;
    const char *device;  // as in device_choose
    bool insist;         // the user named a path or the device: without it, nothing is measured
    const char *kernels; // as in measure_setup
    double seconds;      // measure for this time, at most BENCH_ROUNDS_MAX rounds; 0: measure `rounds`
    int rounds;          // 0: BENCH_ROUNDS_CHOSEN
    struct bench_listener listener;
};

// The hardware that was used.
struct bench_machine {
    struct device_info device;
    int number;          // of the device in device_list; -1: none
    char processor[128]; // and the instructions in use
    char gl[160];        // of the GL context; "": none
};

enum bench_outcome {
    BENCH_ENDED,   // also by the listener
    BENCH_NOTHING, // a device or GL is missing (logged)
    BENCH_CASES,   // the chosen cases are impossible (logged)
};

// Measures on the main thread.
enum bench_outcome bench_chosen_run(const struct bench_chosen_setup *setup, struct bench_machine *place);
