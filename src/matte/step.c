// step.c: computes one step of a network; compiled once per instruction set
//
// Each value is summed in the same order at every level, and no level fuses a product with a sum.
#include "matte/step.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LANES = VECTOR_BYTES >= 32 ? 8 : 4, TILE = 8 };

typedef float vector __attribute__((vector_size(LANES * 4)));
typedef int32_t lanes __attribute__((vector_size(LANES * 4)));
typedef float vector_anywhere __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

static inline vector larger(vector a, vector b)
{
    const lanes more = a > b;
    return (vector)((more & (lanes)a) | (~more & (lanes)b));
}

static inline vector to_six(vector value)
{
    return -larger(-larger(value, (vector){0}), (vector){0} - 6.0f);
}

static inline __attribute__((always_inline)) vector activated(enum activation activation, vector value)
{
    switch (activation) {
    case ACTIVATION_NONE:
        break;
    case ACTIVATION_RELU:
        return larger(value, (vector){0});
    case ACTIVATION_RELU6:
        return to_six(value);
    case ACTIVATION_HARD_SWISH:
        return value * (to_six(value + 3.0f) * (1.0f / 6));
    case ACTIVATION_LOGISTIC:
        for (int i = 0; i < LANES; i++)
            value[i] = 1 / (1 + expf(-value[i]));
    }
    return value;
}

static inline __attribute__((always_inline)) void activate_all(enum activation activation, float *values, size_t count)
{
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        *(vector_anywhere *)(values + i) = activated(activation, *(vector_anywhere *)(values + i));
    vector rest = {0};
    memcpy(&rest, values + i, (count - i) * sizeof(float));
    rest = activated(activation, rest);
    memcpy(values + i, &rest, (count - i) * sizeof(float));
}

static void activate(enum activation activation, float *values, size_t count)
{
    if (activation == ACTIVATION_RELU)
        activate_all(ACTIVATION_RELU, values, count);
    else if (activation == ACTIVATION_RELU6)
        activate_all(ACTIVATION_RELU6, values, count);
    else if (activation == ACTIVATION_HARD_SWISH)
        activate_all(ACTIVATION_HARD_SWISH, values, count);
    else if (activation == ACTIVATION_LOGISTIC)
        activate_all(ACTIVATION_LOGISTIC, values, count);
}

// Rows of windows: `rows` runs of `length` values, which are `pitch` values apart; the next window begins after
// `stride`.
struct windows {
    const float *from;
    size_t rows, length, pitch, stride;
};

// Computes `pixels` (a constant) neighbouring pixels.
static inline __attribute__((always_inline)) void
multiply_pixels(int pixels, struct windows windows, const struct network_step *step, size_t channels, float *to)
{
    for (size_t c = 0; c < channels; c += LANES) {
        const float *weights =
            step->weights + c / STEP_BLOCK * STEP_BLOCK * windows.rows * windows.length + c % STEP_BLOCK;
        vector sum[TILE];
#pragma GCC unroll 8
        for (int p = 0; p < pixels; p++)
            sum[p] = *(const vector_anywhere *)(step->bias + c);
        for (size_t row = 0; row < windows.rows; row++) {
            const float *from = windows.from + row * windows.pitch;
            for (size_t k = 0; k < windows.length; k++, weights += STEP_BLOCK) {
                const vector weight = *(const vector_anywhere *)weights;
#pragma GCC unroll 8
                for (int p = 0; p < pixels; p++)
                    sum[p] += weight * from[(size_t)p * windows.stride + k];
            }
        }
#pragma GCC unroll 8
        for (int p = 0; p < pixels; p++) {
            if (c + LANES <= channels)
                *(vector_anywhere *)(to + (size_t)p * channels + c) = sum[p];
            else
                memcpy(to + (size_t)p * channels + c, &sum[p], (channels - c) * sizeof(float));
        }
    }
}

static void multiply(struct windows windows, size_t count, const struct network_step *step, size_t channels, float *to)
{
    size_t p = 0;
    for (; p + TILE <= count; p += TILE, windows.from += TILE * windows.stride)
        multiply_pixels(TILE, windows, step, channels, to + p * channels);
    for (; p < count; p++, windows.from += windows.stride)
        multiply_pixels(1, windows, step, channels, to + p * channels);
}

// Copies the rows of input below one row of output, of `length` values with zeros outside the input.
static void gather(const struct network_step *step, int y, size_t length, float *to)
{
    const struct network_tensor *in = step->in[0];
    const size_t left = (size_t)step->left * in->shape[3], row = (size_t)in->shape[2] * in->shape[3];
    const size_t count = row < length - left ? row : length - left;
    for (int ky = 0; ky < step->kernel_y; ky++, to += length) {
        const int at = y * step->stride_y - step->top + ky;
        memset(to, 0, length * sizeof(float));
        if (at >= 0 && at < in->shape[1])
            memcpy(to + left, in->data + (size_t)at * row, count * sizeof(float));
    }
}

static void convolve(const struct network_step *step)
{
    const struct network_tensor *in = step->in[0], *out = step->out;
    const size_t deep = in->shape[3], channels = out->shape[3], width = out->shape[2];
    const bool point = step->kernel_x * step->kernel_y == 1 && step->stride_x == 1 && step->stride_y == 1;
    struct windows windows = {step->scratch, step->kernel_y, step->kernel_x * deep, 0, step->stride_x * deep};
    windows.pitch = (width - 1) * windows.stride + windows.length;
    for (int y = 0; y < out->shape[1]; y++) {
        float *to = out->data + (size_t)y * width * channels;
        if (point)
            windows.from = in->data + (size_t)y * width * deep;
        else
            gather(step, y, windows.pitch, step->scratch);
        multiply(windows, width, step, channels, to);
        activate(step->activation, to, width * channels);
    }
}

static void convolve_transposed(const struct network_step *step)
{
    const struct network_tensor *in = step->in[0], *out = step->out;
    const size_t length = in->shape[3], channels = out->shape[3], run = step->kernel_x * channels;
    for (int y = 0; y < in->shape[1]; y++) {
        const float *from = step->scratch;
        const struct windows windows = {in->data + (size_t)y * in->shape[2] * length, 1, length, 0, length};
        multiply(windows, in->shape[2], step, run * step->kernel_y, step->scratch);
        for (int x = 0; x < in->shape[2]; x++) {
            for (int ky = 0; ky < step->kernel_y; ky++, from += run)
                memcpy(out->data + ((size_t)(y * step->kernel_y + ky) * in->shape[2] + x) * run, from,
                       run * sizeof(float));
        }
    }
}

// The part of a window that lies in the input.
struct inside {
    const float *from;        // the first pixel
    int rows, columns, first; // first: its place in the window
};

// Computes `count` channels, at most LANES, of a pixel: a sum of products, or the largest values.
static inline __attribute__((always_inline)) void combine_window(const struct network_step *step, struct inside inside,
                                                                 int channel, int count, float *to)
{
    const int channels = step->out->shape[3], row = step->in[0]->shape[2] * channels;
    const size_t bytes = (size_t)count * sizeof(float);
    vector sum = (vector){0} - INFINITY, value = {0}, weight = {0};
    if (step->weights)
        memcpy(&sum, step->bias + channel, bytes);
    for (int ky = 0; ky < inside.rows; ky++) {
        const float *from = inside.from + (size_t)ky * row + channel;
        size_t place = (size_t)(inside.first + ky * step->kernel_x) * channels + channel;
        for (int kx = 0; kx < inside.columns; kx++, from += channels, place += channels) {
            memcpy(&value, from, bytes);
            if (step->weights) {
                memcpy(&weight, step->weights + place, bytes);
                sum += value * weight;
            } else {
                sum = larger(value, sum);
            }
        }
    }
    memcpy(to + channel, &sum, bytes);
}

// A depthwise convolution, or the largest value of each window.
static void combine_windows(const struct network_step *step)
{
    const struct network_tensor *in = step->in[0], *out = step->out;
    const int channels = out->shape[3], width = in->shape[2], height = in->shape[1];
    float *to = out->data;
    for (int y = 0; y < out->shape[1]; y++) {
        const int top = y * step->stride_y - step->top, above = top < 0 ? -top : 0;
        const int below = top + step->kernel_y > height ? height - top : step->kernel_y;
        for (int x = 0; x < out->shape[2]; x++, to += channels) {
            const int left = x * step->stride_x - step->left, before = left < 0 ? -left : 0;
            const int behind = left + step->kernel_x > width ? width - left : step->kernel_x;
            const struct inside inside = {in->data + ((size_t)(top + above) * width + left + before) * channels,
                                          below - above, behind - before, above * step->kernel_x + before};
            int c = 0;
            for (; c + LANES <= channels; c += LANES)
                combine_window(step, inside, c, LANES, to);
            if (c < channels)
                combine_window(step, inside, c, channels - c, to);
        }
        activate(step->activation, to - (size_t)out->shape[2] * channels, (size_t)out->shape[2] * channels);
    }
}

static void combine_two(const struct network_step *step)
{
    const struct network_tensor *a = step->in[0], *b = step->in[1];
    const bool add = step->kind == STEP_ADD;
    for (size_t at = 0; at < a->count; at += b->count) {
        const float *first = a->data + at;
        float *to = step->out->data + at;
        size_t i = 0;
        for (; i + LANES <= b->count; i += LANES) {
            const vector x = *(const vector_anywhere *)(first + i), y = *(const vector_anywhere *)(b->data + i);
            *(vector_anywhere *)(to + i) = add ? x + y : x * y;
        }
        for (; i < b->count; i++)
            to[i] = add ? first[i] + b->data[i] : first[i] * b->data[i];
    }
}

static void average(const struct network_step *step)
{
    const struct network_tensor *in = step->in[0];
    const size_t channels = in->shape[3], pixels = in->count / channels;
    float *restrict to = step->out->data;
    memset(to, 0, channels * sizeof(float));
    for (size_t p = 0; p < pixels; p++) {
        const float *restrict from = in->data + p * channels;
        for (size_t c = 0; c < channels; c++)
            to[c] += from[c];
    }
    for (size_t c = 0; c < channels; c++)
        to[c] /= (float)pixels;
}

struct place {
    int first, second;
    float weight; // of the second
};

static struct place find_place(int at, int from, int to, bool half_pixels)
{
    const float scale = (float)from / (float)to;
    float place = half_pixels ? ((float)at + 0.5f) * scale - 0.5f : (float)at * scale;
    place = place < 0 ? 0 : place;
    const int first = (int)place < from - 1 ? (int)place : from - 1;
    return (struct place){first, first + 1 < from ? first + 1 : first, place - (float)first};
}

static void resize(const struct network_step *step)
{
    const struct network_tensor *in = step->in[0], *out = step->out;
    const int channels = out->shape[3], width = in->shape[2];
    float *restrict to = out->data;
    for (int y = 0; y < out->shape[1]; y++) {
        const struct place v = find_place(y, in->shape[1], out->shape[1], step->half_pixels);
        const float *upper = in->data + (size_t)v.first * width * channels;
        const float *lower = in->data + (size_t)v.second * width * channels;
        for (int x = 0; x < out->shape[2]; x++, to += channels) {
            const struct place h = find_place(x, width, out->shape[2], step->half_pixels);
            const int l = h.first * channels, r = h.second * channels;
            const float w[4] = {(1 - v.weight) * (1 - h.weight), (1 - v.weight) * h.weight, v.weight * (1 - h.weight),
                                v.weight * h.weight};
            for (int c = 0; c < channels; c++)
                to[c] = upper[l + c] * w[0] + upper[r + c] * w[1] + lower[l + c] * w[2] + lower[r + c] * w[3];
        }
    }
}

static void pad(const struct network_step *step)
{
    const struct network_tensor *in = step->in[0], *out = step->out;
    const size_t channels = in->shape[3];
    const float *from = in->data;
    memset(out->data, 0, out->count * sizeof(float));
    for (int y = 0; y < in->shape[1]; y++) {
        for (int x = 0; x < in->shape[2]; x++, from += channels)
            memcpy(out->data + ((size_t)(y + step->top) * out->shape[2] + x + step->left) * out->shape[3] + step->front,
                   from, channels * sizeof(float));
    }
}

static void join(const struct network_step *step)
{
    float *to = step->out->data;
    for (int i = 0; i < step->inputs; i++) {
        memcpy(to, step->in[i]->data, step->in[i]->count * sizeof(float));
        to += step->in[i]->count;
    }
}

void VECTORS_NAME(step_run)(const struct network_step *step)
{
    static step_function *const functions[STEP_KINDS] = {
        [STEP_CONVOLUTION] = convolve,
        [STEP_DEPTHWISE] = combine_windows,
        [STEP_TRANSPOSED] = convolve_transposed,
        [STEP_ADD] = combine_two,
        [STEP_MULTIPLY] = combine_two,
        [STEP_ACTIVATION] = join,
        [STEP_MEAN] = average,
        [STEP_RESIZE] = resize,
        [STEP_LARGEST] = combine_windows,
        [STEP_PAD] = pad,
        [STEP_JOIN] = join,
    };
    functions[step->kind](step);
    if (functions[step->kind] != convolve && functions[step->kind] != combine_windows) // these have done it by rows
        activate(step->activation, step->out->data, step->out->count);
}
