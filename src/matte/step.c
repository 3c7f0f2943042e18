// step.c: computes one step of a network; compiled once per instruction set
//
// Each value is summed in the same order at every level, and no level fuses a product with a sum.
#include "matte/step.h"

#include <math.h>
#include <string.h>

enum { LANES = VECTOR_BYTES >= 32 ? 8 : 4, TILE = 8 };

typedef float vector __attribute__((vector_size(LANES * 4)));
typedef float vector_anywhere __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

static inline float to_six(float value)
{
    const float positive = value > 0 ? value : 0;
    return positive > 6 ? 6 : positive;
}

static void activate(enum activation activation, float *restrict values, size_t count)
{
    switch (activation) {
    case ACTIVATION_NONE:
        break;
    case ACTIVATION_RELU:
        for (size_t i = 0; i < count; i++)
            values[i] = values[i] > 0 ? values[i] : 0;
        break;
    case ACTIVATION_RELU6:
        for (size_t i = 0; i < count; i++)
            values[i] = to_six(values[i]);
        break;
    case ACTIVATION_HARD_SWISH:
        for (size_t i = 0; i < count; i++)
            values[i] *= to_six(values[i] + 3) * (1.0f / 6);
        break;
    case ACTIVATION_LOGISTIC:
        for (size_t i = 0; i < count; i++)
            values[i] = 1 / (1 + expf(-values[i]));
        break;
    }
}

// Computes `pixels` (a constant) neighbouring pixels, whose windows of `length` values are `stride` values apart.
static inline __attribute__((always_inline)) void multiply_pixels(int pixels, const float *windows, size_t stride,
                                                                  size_t length, const struct network_step *step,
                                                                  size_t channels, float *to)
{
    for (size_t c = 0; c < channels; c += LANES) {
        const float *weights = step->weights + c / STEP_BLOCK * STEP_BLOCK * length + c % STEP_BLOCK;
        vector sum[TILE];
#pragma GCC unroll 8
        for (int p = 0; p < pixels; p++)
            sum[p] = *(const vector_anywhere *)(step->bias + c);
        for (size_t k = 0; k < length; k++) {
            const vector weight = *(const vector_anywhere *)(weights + k * STEP_BLOCK);
#pragma GCC unroll 8
            for (int p = 0; p < pixels; p++)
                sum[p] += weight * windows[(size_t)p * stride + k];
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

static void multiply(const float *windows, size_t stride, size_t length, size_t count, const struct network_step *step,
                     size_t channels, float *to)
{
    size_t p = 0;
    for (; p + TILE <= count; p += TILE)
        multiply_pixels(TILE, windows + p * stride, stride, length, step, channels, to + p * channels);
    for (; p < count; p++)
        multiply_pixels(1, windows + p * stride, stride, length, step, channels, to + p * channels);
}

// Copies the windows of one row of output, with zeros outside the input.
static void gather(const struct network_step *step, int y, float *to)
{
    const struct network_tensor *in = step->in[0];
    const int channels = in->shape[3], row = step->kernel_x * channels;
    for (int x = 0; x < step->out->shape[2]; x++) {
        const int left = x * step->stride_x - step->left;
        const int first = left < 0 ? -left : 0;
        const int end = left + step->kernel_x > in->shape[2] ? in->shape[2] - left : step->kernel_x;
        for (int ky = 0; ky < step->kernel_y; ky++, to += row) {
            const int at = y * step->stride_y - step->top + ky;
            memset(to, 0, (size_t)row * sizeof(float));
            if (at >= 0 && at < in->shape[1] && end > first)
                memcpy(to + first * channels, in->data + ((size_t)at * in->shape[2] + left + first) * channels,
                       (size_t)(end - first) * channels * sizeof(float));
        }
    }
}

static void convolve(const struct network_step *step)
{
    const struct network_tensor *in = step->in[0], *out = step->out;
    const size_t length = (size_t)step->kernel_x * step->kernel_y * in->shape[3], channels = out->shape[3];
    if (step->kernel_x * step->kernel_y == 1 && step->stride_x == 1 && step->stride_y == 1) {
        multiply(in->data, length, length, (size_t)out->shape[1] * out->shape[2], step, channels, out->data);
        return;
    }
    for (int y = 0; y < out->shape[1]; y++) {
        gather(step, y, step->scratch);
        multiply(step->scratch, length, length, out->shape[2], step, channels,
                 out->data + (size_t)y * out->shape[2] * channels);
    }
}

static void convolve_transposed(const struct network_step *step)
{
    const struct network_tensor *in = step->in[0], *out = step->out;
    const size_t length = in->shape[3], channels = out->shape[3], run = step->kernel_x * channels;
    for (int y = 0; y < in->shape[1]; y++) {
        const float *from = step->scratch;
        multiply(in->data + (size_t)y * in->shape[2] * length, length, length, in->shape[2], step, run * step->kernel_y,
                 step->scratch);
        for (int x = 0; x < in->shape[2]; x++) {
            for (int ky = 0; ky < step->kernel_y; ky++, from += run)
                memcpy(out->data + ((size_t)(y * step->kernel_y + ky) * in->shape[2] + x) * run, from,
                       run * sizeof(float));
        }
    }
}

static void add_products(const float *restrict a, const float *restrict b, float *restrict to, int count)
{
    for (int c = 0; c < count; c++)
        to[c] += a[c] * b[c];
}

static void keep_largest(const float *restrict from, float *restrict to, int count)
{
    for (int c = 0; c < count; c++)
        to[c] = from[c] > to[c] ? from[c] : to[c];
}

// A depthwise convolution, or the largest value of each window.
static void combine_windows(const struct network_step *step)
{
    const struct network_tensor *in = step->in[0], *out = step->out;
    const int channels = out->shape[3], width = in->shape[2];
    float *to = out->data;
    for (int y = 0; y < out->shape[1]; y++) {
        for (int x = 0; x < out->shape[2]; x++, to += channels) {
            for (int c = 0; c < channels; c++)
                to[c] = step->weights ? step->bias[c] : -INFINITY;
            for (int k = 0; k < step->kernel_y * step->kernel_x; k++) {
                const int ay = y * step->stride_y - step->top + k / step->kernel_x;
                const int ax = x * step->stride_x - step->left + k % step->kernel_x;
                if (ay < 0 || ay >= in->shape[1] || ax < 0 || ax >= width)
                    continue;
                const float *from = in->data + ((size_t)ay * width + ax) * channels;
                if (step->weights)
                    add_products(from, step->weights + (size_t)k * channels, to, channels);
                else
                    keep_largest(from, to, channels);
            }
        }
    }
}

static void combine_two(const struct network_step *step)
{
    const struct network_tensor *a = step->in[0], *b = step->in[1];
    const float *first = a->data, *second = b->data;
    float *to = step->out->data;
    const bool add = step->kind == STEP_ADD;
    for (size_t at = 0; at < a->count; at += b->count) {
        for (size_t i = 0; i < b->count; i++)
            to[at + i] = add ? first[at + i] + second[i] : first[at + i] * second[i];
    }
}

static void average(const struct network_step *step)
{
    const struct network_tensor *in = step->in[0];
    const size_t channels = in->shape[3], pixels = in->count / channels;
    float *restrict to = step->out->data;
    memset(to, 0, channels * sizeof(float));
    for (size_t p = 0; p < pixels; p++) {
        for (size_t c = 0; c < channels; c++)
            to[c] += in->data[p * channels + c];
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
    activate(step->activation, step->out->data, step->out->count);
}
