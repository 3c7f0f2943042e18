// plan.h: a chain cut into fused passes: load, point filters, at most one stencil or warp, point filters, store
#pragma once

#include "filter/chain.h"

// The pixels between two passes.
enum pass_pixels {
    PASS_RGBA,
    PASS_GREY, // one byte per pixel, the value of all three channels; alpha is 255
};

extern const size_t pass_pixel_bytes[];

// A picture that filters of a pass get besides their input.
struct plan_picture {
    enum {
        PICTURE_NONE,
        PICTURE_SOURCE,      // the chain's input, in RGBA (cpu)
        PICTURE_OUTPUT,      // the output of the pass `pass`
        PICTURE_LAST_OUTPUT, // the output of this pass for the frame before
        PICTURE_LAST_INPUT,  // the input of this pass's last filter for the frame before
    } kind;
    int pass;
};

struct pass {
    const struct stage *before[CHAIN_MAX]; // point filters before the stencil
    int before_count;
    const struct stage *stencil;          // NULL: none
    const struct stage *warp;             // NULL: none; without `before`, `stencil` and changes of the load
    bool returns;                         // the warp returns to the size of the input of an earlier pass
    const struct stage *after[CHAIN_MAX]; // point filters after the stencil or warp; empty without one
    int after_count;
    struct plan_picture second;     // of its masks; or of its last point filter, for a picture of the frame before
    int until;                      // the last pass that reads its output
    bool kept;                      // its output is the second picture of a pass
    int buffer;                     // of its output (plan_place)
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
    int kept[PLAN_STAGES];               // of a mask: the number of the stage whose input is its kept picture; else -1
    int stages;
    struct pass pass[PLAN_PASSES];
    int count; // at least 1: an empty chain is one pass that loads and stores
};

// Returns true if arguments of the stage depend on the frame.
bool stage_follows(const struct stage *stage);
// Sets these arguments of all stages, and `followed` to their count.
void plan_set_frame_time(struct plan *plan, const struct frame_time *frame_time);

// Returns the point filters that a pass runs last: those after its stencil or warp, or all. Sets their count.
const struct stage *const *pass_points(const struct pass *pass, int *count);
// Returns true if the last filter of the pass gets a picture of the frame before.
bool pass_remembers(const struct pass *pass);

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

// Makes a separate pass of the point filters after a stencil or warp if a mask is among them, for a path whose masks
// read pictures.
void plan_split_masks(struct plan *plan);

// Sets the passes' second pictures and places their outputs. Call after the functions that make passes. `in_place`: a
// pass may get the chain's input as second picture; else a pass that converts it comes first.
void plan_pictures(struct plan *plan, bool in_place);
// Gives the output of pass `number` the first buffer that is free while passes `first` to `number` run. Call it for the
// passes in order. Returns the buffer's number.
int plan_place(struct plan *plan, int first, int number);

// Makes a separate pass of the conversion before a warp. `input_rgba`: the chain's input is RGBA.
void plan_split_warp(struct plan *plan, bool input_rgba);

// Call after plan_pictures. Marks stencils whose input is grey, and grey pictures between two passes, which
// have one byte per pixel and no alpha. They need `opaque`: alpha is 255 everywhere or kept elsewhere. `grey`: the
// chain's input is grey.
void plan_mark_grey(struct plan *plan, bool opaque, bool grey);

// Makes a separate pass of the conversion and the point filters before a stencil of at least this radius. The stencil
// then reads RGBA. Otherwise a device may convert and filter each pixel again for every neighbour. `input_rgba`: the
// chain's input is RGBA.
void plan_split(struct plan *plan, bool input_rgba, int radius);
