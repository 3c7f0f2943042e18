// step.h: one step of a network, and the functions that compute it
#pragma once

#include "base/vectors.h"
#include "matte/network.h"

#include <stdbool.h>

enum step_kind {
    STEP_CONVOLUTION,
    STEP_DEPTHWISE,  // a convolution of each channel alone
    STEP_TRANSPOSED, // each pixel becomes a block of kernel_y x kernel_x pixels
    STEP_ADD,        // in[1] has the shape of in[0], or one value for each channel
    STEP_MULTIPLY,
    STEP_ACTIVATION,
    STEP_MEAN, // of each channel
    STEP_RESIZE,
    STEP_LARGEST, // in each block of kernel_y x kernel_x pixels
    STEP_PAD,     // with zeros
    STEP_JOIN,    // all inputs, one after the other
    STEP_KINDS
};

enum activation { ACTIVATION_NONE, ACTIVATION_RELU, ACTIVATION_RELU6, ACTIVATION_HARD_SWISH, ACTIVATION_LOGISTIC };

enum { STEP_INPUTS = 4, STEP_BLOCK = 8 };

struct network_step {
    enum step_kind kind;
    enum activation activation; // of the result
    const struct network_tensor *in[STEP_INPUTS];
    const struct network_tensor *out;
    int inputs;
    int kernel_x, kernel_y, stride_x, stride_y;
    int left, top; // zeros before the first column and row
    int front;     // STEP_PAD: zeros before the first channel
    // Convolution: blocks of STEP_BLOCK output channels; in a block, STEP_BLOCK weights for each value of a window, in
    // the order of the input. The last block is filled up with zeros. Depthwise: a weight for each channel, for each
    // place of the window. Bias: one for each output channel, filled up in the same way.
    float *weights, *bias;
    float *scratch; // convolution: rows of windows; transposed: a row of results
    bool half_pixels;
};

// Computes step->out; its memory is none of the inputs'.
typedef void step_function(const struct network_step *step);
VECTORS_TABLE(step_function, step_run)
