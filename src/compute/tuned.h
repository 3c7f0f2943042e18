// tuned.h: looks up the results of tunings: what is fastest for a pass on a device
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

// Finds the entries for a key: each call returns the next one, from the best to the worst, until it returns false. The
// first call, with `found` zeroed, finds the best. The caller takes the first that it can use: an entry for another
// text (entry.source) or one whose choice does not fit is passed over. Among entries with the same match, the nearest
// size comes first, then the driver of the key, then the latest level and line. The first call of all reads the files.
bool tuned_next(struct tuned *tuned, const struct tuned_key *key, struct tuned_found *found);

// Adds an entry of this run, in memory. False: out of memory.
bool tuned_add(struct tuned *tuned, const struct tuned_entry *entry);
