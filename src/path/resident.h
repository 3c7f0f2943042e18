// resident.h: runs chains and measures on pictures in a device's memory, to time only the kernels
#pragma once

#include "compute/timing.h"
#include "path/measures.h"

struct resident;     // pictures of one shape in a device's memory, and outputs that are used in turn
struct opencl_chain; // a compiled chain

// Uses the setup's device and input. `to_image`: outputs are OpenCL images, such as GL textures; otherwise buffers.
// NULL on failure (logged).
struct resident *resident_open(const struct path_setup *setup, int pictures, bool to_image);
void resident_close(struct resident *resident); // accepts NULL; close its chains before
bool resident_fill(struct resident *resident, int picture, const struct image *frame); // false: logged

// Compiles a chain for these pictures. `variant` as in path_setup. NULL on failure: *error as in path_open.
struct opencl_chain *resident_chain_open(struct resident *resident, const struct chain *chain, const char *variant,
                                         char **error);
void resident_chain_close(struct opencl_chain *chain); // accepts NULL

// Runs the chain `runs` times, on picture `first` and the next ones in turn. False on failure (logged).
bool resident_run(struct resident *resident, const struct opencl_chain *chain, int first, int runs,
                  struct timing *timing);
// Copies the output of the last run to `rgba`. False on failure (logged).
bool resident_read(struct resident *resident, struct image *rgba);

// The measures of `measuring`, which is borrowed, of RGBA pictures. resident_measures_open returns NULL on failure:
// *error as in path_open. resident_measures_run is like resident_run. resident_measures_read copies the values of the
// last run. False on failure (logged).
struct resident_measures;
struct resident_measures *resident_measures_open(struct resident *resident, const struct measuring *measuring,
                                                 char **error);
void resident_measures_close(struct resident_measures *measures); // accepts NULL
bool resident_measures_run(struct resident_measures *measures, int first, int runs, struct timing *timing);
bool resident_measures_read(const struct resident_measures *measures, uint32_t *values);
