// tuned.h: looks up the tuning results: the fastest choices for a pass on a device
#pragma once

#include "compute/tuned_file.h"

#include <pthread.h>
#include <stdint.h>

// The entries of all levels. On any thread.
struct tuned {
    pthread_mutex_t lock; // guards the members below
    bool loaded;
    struct tuned_list list[TUNED_LEVELS];
};

void tuned_init(struct tuned *tuned); // reads no file yet
void tuned_finish(struct tuned *tuned);

// How an entry fits a key, from best to worst. All have the pass of the key.
enum tuned_match {
    TUNED_EXACT,        // same device and driver, same size
    TUNED_OTHER_DRIVER, // same device, same size
    TUNED_OTHER_SIZE,   // same device
    TUNED_ARCHITECTURE, // same architecture
    TUNED_VENDOR_TYPE,  // same vendor and type of device
    TUNED_NONE,
};
const char *tuned_match_name(enum tuned_match match); // "same device, other size"

// An entry for a key.
struct tuned_found {
    const struct tuned_entry *entry; // valid until tuned_finish
    enum tuned_level level;
    enum tuned_match match;
    bool stale;    // same device, but the driver has changed since the measurement
    uint64_t rank; // for tuned_next
};

// Finds the entries for a key, one per call, from the best to the worst. The first call, with `found` zeroed, finds the
// best. Returns false if no entry is left. The caller skips entries that it cannot use: the entry is for another kernel
// text (entry.source), or its choice does not fit. Among entries with the same match, the nearest size comes first,
// then the driver of the key, then the latest level and line. The first call for `tuned` reads the files.
bool tuned_next(struct tuned *tuned, const struct tuned_key *key, struct tuned_found *found);

// Adds an entry to the level TUNED_RUN.
void tuned_add(struct tuned *tuned, const struct tuned_entry *entry);
