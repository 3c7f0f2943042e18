// tuner.h: searches for the fastest configuration of a subject, and compares it with the default
#pragma once

#include "base/stats.h"
#include "compute/driver_cache.h"
#include "path/probe.h"
#include "tune/space.h"

// ---- the subject ----

enum { SUBJECT_PRESETS = 8, SUBJECT_SEEDS = 5, SUBJECT_TEXT = 192 };

struct subject;

// One way to implement a subject. Only one thread may use a subject, except for `validate` and `print`.
struct subject_type {
    // Makes the inputs. The tuner calls it once or more before `build`. False on failure (logged).
    bool (*prepare)(struct subject *subject);
    // Tests the configuration without risk for this process, and compares its output with the reference's. After a
    // failure, `why` has the reason. On any thread.
    enum probe_status (*validate)(const struct subject *subject, int configuration, char why[VERDICT_TEXT]);
    // Builds a valid configuration and runs it once, untimed. The subject must outlive the result. On failure returns
    // NULL, and `why` has the reason.
    void *(*build)(struct subject *subject, int configuration, char why[VERDICT_TEXT]);
    // Sets *ms to the average time of a run, over runs that together take about `for_ms`. False on failure (logged).
    bool (*time)(void *build, double for_ms, double *ms);
    void (*release)(void *build); // of the result of `build`
    // Writes the configuration for messages: "window:ROWS=8:GROUP_WIDTH=32".
    void (*print)(const struct subject *subject, int configuration, char text[SUBJECT_TEXT]);
    // Adds the result to the user's database (compute/tuned.h). False on failure (logged). NULL: results are
    // not stored.
    bool (*store)(const struct subject *subject, int configuration, double ms, double default_ms);
    void (*close)(struct subject *subject); // frees the subject, except for its members below
    // Runs a build 1 to 64 times, and waits. False on failure (logged). NULL: its energy is not measured.
    bool (*run)(void *build, int runs);
    // Returns the number that the tuner minimizes, which is over 0, from the time of the configuration. INFINITY: it
    // cannot be computed. NULL: the time.
    double (*cost)(const struct subject *subject, int configuration, double ms);
    // Returns an object of other numbers for this time; null: it cannot be computed. NULL: there are none.
    struct json_t *(*metrics)(const struct subject *subject, int configuration, double ms);
};

// The implementer embeds this as its first member, and fills it.
struct subject {
    const struct subject_type *type;
    const char *name; // "blur+gray"; borrowed
    struct space space;
    // The configurations that the search tries first. The first one that runs is the default.
    int preset[SUBJECT_PRESETS], presets;
    // Configurations that it tries next, such as earlier results.
    int seed[SUBJECT_SEEDS], seeds;
    // The configuration that a stored result makes other commands use; it is tried like a preset. has_used false: they
    // use the default.
    bool has_used;
    bool used_exactly; // the result is for this device, driver and size, so it need not be stored again
    int used;
};

// Opens a search over the subject's space. It tries first: the presets, the one in use and the seeds.
struct search *subject_search(const struct subject *subject, bool random, uint64_t seed);
// Frees a subject with its members; accepts NULL.
void subject_close(struct subject *subject);

// ---- the tuner ----

enum { TUNER_RUNS = 3 };
#define TUNER_GAIN_MIN .02 // smallest gain for which a configuration replaces the current one

struct energy;
struct search;
struct workers;

struct tuner_trial {
    int configuration;
    double ms;                    // median of run_ms; INFINITY: it failed or was not measured
    double cost;                  // the number that the tuner minimizes; INFINITY, too
    double run_ms[TUNER_RUNS];    // `runs` times
    int runs;                     // 1: it was too slow to measure again
    double validate_ms, build_ms; // on the host's clock
    enum probe_status status;     // of the validation; PROBE_NOT_RUN: also if it cannot be measured
    char why[VERDICT_TEXT];       // reason of the failure
};

// Takes the next configurations from the search, at most `most`, and validates them on the workers. Fills the trials'
// configuration, status, why and validate_ms. Returns their number; 0: none is left.
int tuner_validate(const struct subject *subject, struct search *search, struct workers *workers,
                   struct tuner_trial *trial, int most);

// The progress of the tuner. Its memory is valid until tuner_finish.
struct tuner_state {
    struct tuner_trial *trial; // in the order of the search
    int trials, failed;
    int best; // index of the fastest trial; -1: none
    double spent_s;
    bool comparing; // the search has ended
};

struct tuner_setup {
    struct subject *subject;
    bool random;           // search at random
    uint64_t seed;         // of the search
    int budget;            // maximum number of configurations; 0: no limit
    double seconds;        // maximum time of the search; 0: no limit
    struct energy *energy; // counter of the device (base/energy.h); NULL: none
    bool by_energy; // the comparison has 12 configurations instead of 6, and chooses the least energy; needs `energy`
    // Called after each configuration and before the comparison, on the thread of tuner_run. Returns false to end the
    // search; the comparison follows. May be NULL.
    bool (*progress)(void *context, const struct tuner_state *state);
    void *context;
};

struct tuner_result {
    struct tuner_state state;
    int base, used, best;             // numbers of the default, of the configuration in use and of the winner
    double base_ms, used_ms, best_ms; // medians of the comparison
    double speedup; // median over the rounds of the cost of the one in use / the winner's; 1: the one in use wins
    double noise;   // half the interquartile range of the times of the one in use / their median
    double base_mj, best_mj; // millijoules of a run; 0: not measured
};

// Tries configurations: validates several at a time in child processes, then times one after the other. At the end,
// runs the fastest, the default and the one in use (subject->used, else the default) in turns. A configuration replaces
// the one in use only if it is faster by more than 2 % and by more than the noise. Returns false on failure, such as no
// default that runs (logged), or if a signal arrives before one has run. A signal ends the validations; the comparison
// follows. The caller calls tuner_finish in any case.
bool tuner_run(const struct tuner_setup *setup, struct tuner_result *result);
void tuner_finish(struct tuner_result *result);

// Compares the fastest trials of result->state with result->used and result->base in turns, chooses the winner, and
// fills in the other members. False on failure (logged).
bool compare_run(const struct tuner_setup *setup, struct tuner_result *result);

// Returns the speed-up above which a configuration beats the one in use. `used`: times of the one in use. Writes their
// noise: half of the interquartile range, divided by the median.
double compare_least(const struct samples *used, double *noise);

// ---- files of results of tuners (T4 and others), and searches replayed on them ----

enum t4_state {
    T4_UNTRIED,
    T4_CORRECT,
    T4_COMPILE, // it did not build
    T4_RUNTIME, // it failed or crashed
    T4_CORRECTNESS,
    T4_CONSTRAINTS, // not allowed on this device
    T4_TIMEOUT,
};

struct t4_table {
    struct space space;
    struct t4_result {
        enum t4_state state;
        double ms; // INFINITY unless T4_CORRECT
    } * result;    // one per configuration; t4_finish frees them
};

struct claim;

// Reads a T4 results file, a cache of Kernel Tuner or the JSON output of KTT, which may be packed with gzip. Its
// configurations become the space. Returns false (logged) if the file cannot be read, is not such a file with times, or
// has a configuration twice. The table is then empty.
bool t4_read(struct t4_table *table, const char *path);
// Writes the trials, with their metrics. `device` is the device's name. Returns false if the file cannot be written
// (logged).
bool t4_write(const struct subject *subject, const struct tuner_state *state, const char *device, struct claim *claim);
void t4_finish(struct t4_table *table);

// Returns the configuration with the shortest time; -1: no result is T4_CORRECT.
int t4_best(const struct t4_table *table);

struct replay {
    const char *table; // path of a file that t4_read reads
    int search;        // index in SEARCH_CHOICES; -1: all
    int budget, seeds;
    bool json;
};

// Runs each search with each seed on the table. Prints the optimum's time divided by the best time found. Returns the
// exit code.
int replay_run(const struct replay *replay);
