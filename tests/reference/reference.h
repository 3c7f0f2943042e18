// reference.h: docs/pixels.md as the plainest possible program; every path is compared with it
//
// Written only from docs/pixels.md. It shares types of src/image with the program, but no code.
#pragma once

#include "image/image.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

// RGBA pixels, rows without padding.
struct picture {
    int width, height;
    uint8_t *rgba;
};

struct picture picture_new(int width, int height); // exits the program if memory is short
struct picture picture_copy(const struct picture *from);
void picture_free(struct picture *picture);
// Returns the pixel at (x, y), or the nearest edge pixel if that is outside.
static inline const uint8_t *picture_pixel(const struct picture *picture, int x, int y)
{
    if (x < 0)
        x = 0;
    if (x > picture->width - 1)
        x = picture->width - 1;
    if (y < 0)
        y = 0;
    if (y > picture->height - 1)
        y = picture->height - 1;
    return picture->rgba + ((size_t)y * (size_t)picture->width + (size_t)x) * 4;
}

// Section 1: the positions of samples.
struct reference_plane {
    int row_bytes, rows;
};
int reference_planes(enum pixfmt format, int width, int height, struct reference_plane plane[PIXFMT_PLANES]);
bool reference_size_ok(enum pixfmt format, int width, int height);
const char *reference_format_name(enum pixfmt format);

// Section 1: colour. `color` is resolved.
struct color reference_default_color(bool grey, int width, int height);
struct color_coefficients reference_to_rgb(struct color color);
void reference_yuv_pixel(const struct color_coefficients *coefficients, int y, int u, int v, uint8_t rgba[4]);
struct picture reference_frame(const struct image *frame);

// Sections 3 and 4: replaces the picture by the chain's result. If the text is not a chain, or a result is too large,
// returns false and leaves the picture. If the picture is NULL, only checks the text.
bool reference_chain(struct picture *picture, const char *text);
// Runs one filter. The texts are in the order of its parameters; NULL: the default.
enum { REFERENCE_PARAMS = 8 };
bool reference_filter(struct picture *picture, const char *name, const char *const texts[REFERENCE_PARAMS]);
int reference_filters(void); // number of filters
const char *reference_filter_name(int index);

// Section 3, otsu: returns t for a histogram of luma.
int reference_otsu(const uint64_t histogram[256]);

// Section 5: planes without padding, each width * height bytes.
struct color_reverse reference_to_yuv(struct color color);
void reference_pixel_yuv(const uint8_t *rgba, struct color color, uint8_t yuv[3]);
void reference_444p(const struct picture *picture, enum color_matrix matrix, uint8_t *y, uint8_t *u, uint8_t *v);

// Section 7: the numbers of a result.
void reference_counts(const struct picture *picture, uint32_t counts[3][256]); // adds to the counts
uint32_t reference_column(const struct picture *picture, int x, int strip, int strips);
uint32_t reference_row(const struct picture *picture, int y);

// Section 6: converts the top left of a picture to this shape, planes without padding. Returns the number of bytes; if
// the output is NULL, only counts them.
size_t reference_output(const struct picture *picture, const struct image_shape *shape, uint8_t *bytes);

// For all parts of the reference: floor(value + 0.5), value / 2^bits rounded down, 0..255.
static inline int64_t reference_round(double value)
{
    return (int64_t)floor(value + 0.5);
}

static inline int64_t reference_shift(int64_t value, int bits)
{
    int64_t divisor = (int64_t)1 << bits;
    int64_t quotient = value / divisor;
    return value % divisor < 0 ? quotient - 1 : quotient;
}

static inline uint8_t reference_sat8(int64_t value)
{
    if (value < 0)
        return 0;
    return value > 255 ? 255 : (uint8_t)value;
}
