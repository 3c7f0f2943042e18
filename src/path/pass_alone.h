// pass_alone.h: runs one pass of a chain on pictures of its own, for probes and for tuning
#pragma once

#include "path/opencl_chain.h"

enum { PASS_ALONE_PICTURES = 16 };

struct pass_alone {
    struct opencl_target target; // the size of the pictures; to_image: the pass writes an image
    const struct plan *plan;     // borrowed
    int number;                  // of the pass
    cl_command_queue queue;      // with profiling
    struct opencl_layout layout; // of each input
    size_t bytes;                // of each input
    int pictures;                // inputs and outputs, used in turn
    cl_mem input[PASS_ALONE_PICTURES], output[PASS_ALONE_PICTURES];
    cl_mem guarded[PASS_ALONE_PICTURES]; // each output that is a buffer, with guard bytes before and after it
};

// Returns the shape of the pictures that a pass reads. Grey pictures between passes have PIXFMT_GREY.
struct image_shape pass_alone_shape(const struct opencl_target *target, const struct plan *plan, int number);

// Returns the shape of its result as RGBA, for a picture of that shape.
struct image_shape pass_alone_output(const struct opencl_target *target, const struct plan *plan, int number);

// Fills a picture of this shape with random bytes. If the pass may rely on it, the three colours of each pixel are
// equal.
void pass_alone_fill(const struct image *picture, const struct plan *plan, int number);

// Runs the pass with the cpu path, on one thread. False on failure (logged).
bool pass_alone_expect(const struct pass *pass, const struct image *picture, struct image *rgba);
// Fills a picture of this shape with the pixels that the pass reads if `frame` is the input of the plan. False on
// failure (logged).
bool pass_alone_input(const struct image *picture, const struct plan *plan, int number, const struct image *frame);

// Copies `picture`, which has the shape of pass_alone_shape, to each input. The caller calls pass_alone_close in any
// case.
cl_int pass_alone_open(struct pass_alone *alone, const struct opencl_target *target, const struct plan *plan,
                       int number, const struct image *picture, int pictures);
void pass_alone_close(struct pass_alone *alone);
// Enqueues the pass on input `picture`. The caller releases the span in any case.
cl_int pass_alone_run(const struct pass_alone *alone, const struct opencl_pass *opened, int picture,
                      struct device_span *span);
// Waits, and copies an output: RGBA, or one byte per pixel if the pass writes grey pictures.
cl_int pass_alone_read(const struct pass_alone *alone, int picture, const struct image *to);
// Waits, and sets *intact to false if the pass has written before or after an output buffer.
cl_int pass_alone_check(const struct pass_alone *alone, int picture, bool *intact);
