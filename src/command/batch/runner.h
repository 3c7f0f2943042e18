// runner.h: pictures of any size through one chain: a path that is fitted to each, and what is done when its device is
// lost
#pragma once

#include "command/batch/fleet.h"
#include "image/codec.h"
#include "path/path.h"

enum { RUNNER_LAG = 1, RUNNER_FLIGHTS = 2 };

struct runner_setup {
    const struct chain *chain; // may have CHAIN_MAX - 2 filters
    struct fleet *fleet;
    int member;  // of the fleet; -1: the cpu path
    int threads; // of the cpu path
};

// A picture for a runner, and what comes of it.
struct runner_job {
    const struct image *picture; // must stay valid until it is collected
    struct codec_turn turn;      // what is done ahead of the chain; the transposing has been
    struct image_shape encode;   // what is wanted, as path_setup.encode; width 0: RGBA
};

struct runner {
    struct runner_setup setup;
    struct device *device; // NULL: the cpu path
    struct path *path;     // NULL: not open
    struct image_shape input, encode;
    struct codec_turn turn; // what the path is fitted to
    struct chain chain;     // with the turn ahead
    struct runner_job flight[RUNNER_FLIGHTS];
    int flights, submitted; // the first ones of the flights are on the path
    bool recovering;        // from a loss: nothing has been collected since
    bool given_up;          // a lost device could not be replaced, nor by the cpu path
};

bool runner_open(struct runner *runner, const struct runner_setup *setup); // false on failure (logged)
void runner_close(struct runner *runner);                                  // takes a zeroed one

// How many pictures may stay under way while the caller prepares the next: none on the cpu path, which only works while
// it is asked to.
int runner_lag(const struct runner *runner);
const char *runner_device_name(const struct runner *runner); // "cpu" for the cpu path

void runner_submit(struct runner *runner, const struct runner_job *job); // at most RUNNER_FLIGHTS may be under way
// Waits for the oldest picture. What `result` points to stays valid until the next collect. False where it cannot be
// done: *why gets a text the caller frees, or NULL.
bool runner_collect(struct runner *runner, struct path_result *result, char **why);
