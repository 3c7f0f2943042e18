// plan.h: a chain cut into fused passes: load, point filters, at most one stencil, point filters, store
#pragma once

#include "filter/chain.h"

// What lies between two passes.
enum pass_pixels {
    PASS_RGBA,
    PASS_GREY, // one byte per pixel, the value of all three channels; alpha is 255
};

extern const size_t pass_pixel_bytes[];

struct pass {
    const struct stage *before[CHAIN_MAX]; // point filters ahead of the stencil
    int before_count;
    const struct stage *stencil;          // NULL: none
    const struct stage *after[CHAIN_MAX]; // point filters behind the stencil; empty when there is none
    int after_count;
    bool load_mirror, load_flip;    // the pass reads its input mirrored, flipped
    bool store_mirror, store_flip;  // and writes its output so
    bool alike;                     // its stencil's input is grey: all three channels are equal
    bool grey;                      // the same, and alpha is 255 or kept elsewhere: one byte per pixel is enough
    enum pass_pixels reads, writes; // the first pass reads what the source has, whatever it says here
    char name[128];                 // "blur+gray": its filters, for stage times
};

enum { PLAN_PASSES = 2 * CHAIN_MAX };

struct plan {
    struct chain chain; // the plan's own copy; passes point into it
    struct pass pass[PLAN_PASSES];
    int count; // at least 1: an empty chain is one pass that loads and stores
};

// Fills `plan`, which must not be moved or copied afterwards (passes point into it).
void plan_make(struct plan *plan, const struct chain *chain);

// To be called after plan_make and plan_split. Marks the stencils whose input is grey, and the grey pictures between
// two passes, which take one byte per pixel. These have no room for alpha, so that `opaque` must be true: alpha is 255
// everywhere or kept elsewhere. `grey`: the chain's input is grey.
void plan_mark_grey(struct plan *plan, bool opaque, bool grey);

// Cuts conversion and point filters before a stencil of at least this radius off as a pass of their own, so that the
// stencil reads plain RGBA. Otherwise a device may convert and filter each pixel again for every neighbour.
// `input_rgba`: the first pass's input is RGBA already.
void plan_split(struct plan *plan, bool input_rgba, int radius);
