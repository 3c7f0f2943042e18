// resident.h: chains run on pictures that stay in a device's memory: their passes and nothing else, for measuring
#pragma once

#include "compute/timing.h"
#include "path/path.h"

struct resident;       // pictures of one shape in a device's memory, and outputs that take turns
struct resident_chain; // a chain built for them

// Uses the setup's device and input. With `to_image`, outputs are images, which GL's textures also are for kernels;
// otherwise they are buffers. NULL on failure (logged).
struct resident *resident_open(const struct path_setup *setup, int pictures, bool to_image);
void resident_close(struct resident *resident); // takes NULL; the chains must be closed by then
bool resident_fill(struct resident *resident, int picture, const struct image *frame); // false: logged

// `variant` as in path_setup. NULL on failure: *error as in path_open.
struct resident_chain *resident_chain_open(struct resident *resident, const struct chain *chain, const char *variant,
                                           char **error);
void resident_chain_close(struct resident_chain *chain); // takes NULL

// Runs the chain on picture `first` and those behind it in turn. False on failure (logged).
bool resident_run(struct resident_chain *chain, int first, int runs, struct timing *timing);
// The output of the last run.
bool resident_read(struct resident *resident, struct image *rgba);
