// plan.h: a chain cut into fused passes: load, point filters, at most one stencil or warp, point filters, store
#pragma once

#include "filter/chain.h"

// The pixels between two passes.
enum pass_pixels {
    PASS_RGBA,
    PASS_GREY, // one byte per pixel, the value of all three channels; alpha is 255
};

extern const size_t pass_pixel_bytes[];

struct pass {
    const struct stage *before[CHAIN_MAX]; // point filters before the stencil
    int before_count;
    const struct stage *stencil;          // NULL: none
    const struct stage *warp;             // NULL: none; without `before`, `stencil` and changes of the load
    bool returns;                         // the warp returns to the size of the input of an earlier pass
    const struct stage *after[CHAIN_MAX]; // point filters after the stencil or warp; empty without one
    int after_count;
    const struct stage *last;       // a point filter with a second picture, after all others; NULL: none
    bool load_mirror, load_flip;    // the pass reads its input mirrored or flipped
    bool store_mirror, store_flip;  // and writes its output mirrored or flipped
    struct filter_map map;          // of the warp; zeroed without one
    int from_width, from_height;    // size of its input
    int width, height;              // size of its output
    bool equal_channels;            // the input of its stencil or warp has three equal channels
    bool grey;                      // equal_channels, and alpha is 255 or not needed: one byte per pixel is enough
    enum pass_pixels reads, writes; // the first pass ignores `reads`: it reads the source's format
    char name[128];                 // "blur+gray": its filters, for stage times
};

enum { PLAN_STAGES = FILTER_STEPS * CHAIN_MAX, PLAN_PASSES = PLAN_STAGES + 1 }; // one pass more for a conversion

struct plan {
    struct chain chain; // a held copy
    // Its stages, with the steps of FILTER_SEVERAL and both parts of separable stencils. Passes point into them.
    struct stage stage[PLAN_STAGES];
    struct stage_size size[PLAN_STAGES]; // of the stages
    int keeper[PLAN_STAGES]; // of a stage with SECOND_KEPT: the number of the stage that keeps its picture; else -1
    int stages;
    struct pass pass[PLAN_PASSES];
    int count; // at least 1: an empty chain is one pass that loads and stores
};

// Returns true if arguments of the stage depend on the frame.
bool stage_follows(const struct stage *stage);
// Sets these arguments of all stages, and `followed` to their count.
void plan_set_frame_time(struct plan *plan, const struct frame_time *frame_time);

// Returns the earlier pass whose kept picture is the second picture of `pass`. NULL: `pass` keeps its own, or has none.
const struct pass *plan_keeper(const struct plan *plan, const struct pass *pass);

// Returns true if the arguments of a pass are for one size of its picture: it has a warp or a placed filter, or it
// measures its input.
bool pass_has_size(const struct pass *pass);

// The arguments of the pass's warp, which is not a user's (filter/warp.h).
int pass_warp_count(const struct pass *pass);
void pass_warp_fill(const struct pass *pass, int32_t *arguments);

// Returns true if the first filter of a pass computes its arguments from histograms of the pass's whole input.
bool pass_measures(const struct pass *pass);
struct histogram_parts pass_histograms(const struct pass *pass); // these histograms

// Fills `plan` for an input of this size, which chain_output_size accepts. Do not move or copy it afterwards, because
// passes point into it. It holds its chain (chain_hold) until plan_free. `opaque`: alpha is 255 everywhere in the
// input.
void plan_make(struct plan *plan, const struct chain *chain, int width, int height, bool opaque);

// Makes the resources of the stages, for a plan that runs. False: there are none, and `error` gets one line.
bool plan_fill(struct plan *plan, char error[CHAIN_ERROR]);
void plan_free(struct plan *plan); // accepts a zeroed plan

// Makes a separate pass of the conversion before a warp. `input_rgba`: the chain's input is RGBA.
void plan_split_warp(struct plan *plan, bool input_rgba);

// Call after plan_make and plan_split. Marks stencils whose input is grey, and grey pictures between two passes, which
// have one byte per pixel and no alpha. They need `opaque`: alpha is 255 everywhere or kept elsewhere. `grey`: the
// chain's input is grey.
void plan_mark_grey(struct plan *plan, bool opaque, bool grey);

// Makes a separate pass of the conversion and the point filters before a stencil of at least this radius. The stencil
// then reads RGBA. Otherwise a device may convert and filter each pixel again for every neighbour. `input_rgba`: the
// chain's input is RGBA.
void plan_split(struct plan *plan, bool input_rgba, int radius);
