// subject.h: what the tuner tunes: a search space, and how to validate, build and time its configurations
#pragma once

#include "base/hash.h"
#include "compute/driver_cache.h"
#include "path/probe.h"
#include "tune/space.h"

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
    // For the log of results (journal.h). Returns a text that names the subject, its size, the device and the driver;
    // the caller frees it. NULL: no memory. `key` NULL: there is no log.
    char *(*key)(const struct subject *subject);
    // Writes the hash of the program text. False: no memory, or the text cannot be made.
    bool (*source)(const struct subject *subject, int configuration, char hash[HASH_TEXT]);
    // Runs a build 1 to 64 times, and waits. False on failure (logged). NULL: its energy is not measured.
    bool (*run)(void *build, int runs);
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

// Frees a subject with its members; accepts NULL.
void subject_close(struct subject *subject);
