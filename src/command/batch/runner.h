// runner.h: pictures of any size through one chain: paths that are fitted to them, and what is done when their device
// is lost
#pragma once

#include "command/batch/fleet.h"
#include "image/codec/codec.h"
#include "path/path.h"

enum {
    RUNNER_LAG = 1,
    RUNNER_FLIGHTS = 2,
    RUNNER_FITS = 8, // paths kept open for sizes that come again: upright and lying pictures of a few cameras
};

struct runner_setup {
    const struct chain *chain; // may have CHAIN_MAX filters, 2 fewer where pictures are turned
    struct fleet *fleet;
    int member;          // of the fleet; -1: the cpu path
    int threads;         // of the cpu path
    uint64_t keep_bytes; // that paths of a device may hold while they wait for their size to come again; 0: none wait
};

// A picture for a runner, and what comes of it.
struct runner_job {
    const struct image *picture;  // must stay valid until it is collected
    const struct path_feed *feed; // where runner_feeds: brings its rows, and takes those of the result; NULL: as it is
    struct codec_turn turn;       // what is done ahead of the chain; the transposing has been
    struct image_shape encode;    // what is wanted, as path_setup.encode; width 0: RGBA
};

// A path for pictures of one kind and size.
struct runner_fit {
    struct path *path; // NULL: none
    struct image_shape input, encode;
    struct codec_turn turn;
    bool fed;
    struct chain chain;  // with the turn ahead
    uint64_t bytes;      // about what it holds
    unsigned long asked; // when it was last asked for
};

struct runner {
    struct runner_setup setup;
    struct device *device; // NULL: the cpu path
    struct runner_fit fit[RUNNER_FITS];
    unsigned long asked; // counts
    struct runner_job flight[RUNNER_FLIGHTS];
    struct runner_fit *carrier[RUNNER_FLIGHTS]; // of each flight that is submitted
    int flights, submitted;                     // the first ones of the flights are on their paths
    const struct fleet_member *done_by;         // the last one; NULL: the cpu path
    bool recovering;                            // from a loss: nothing has been collected since
    bool given_up;                              // a lost device could not be replaced, nor by the cpu path
};

bool runner_open(struct runner *runner, const struct runner_setup *setup); // false on failure (logged)
void runner_close(struct runner *runner);                                  // takes a zeroed one

// How many pictures may stay in flight while the caller prepares the next: none on the cpu path, which only works while
// it is asked to.
int runner_lag(const struct runner *runner);
// Whether pictures may come by rows: on the cpu path.
bool runner_feeds(const struct runner *runner);
// What the last collected picture went through; NULL for the cpu path.
const struct fleet_member *runner_done_by(const struct runner *runner);

void runner_submit(struct runner *runner, const struct runner_job *job); // at most RUNNER_FLIGHTS may be in flight
// Waits for the oldest picture. What `result` points to stays valid until the next submit or collect. False where it
// cannot be done: *why gets a text the caller frees, or NULL.
bool runner_collect(struct runner *runner, struct path_result *result, char **why);
