// pictures.h: deterministic test input: random numbers, images of all shapes, frames with odd strides
#pragma once

#include "reference.h"

#include <stdbool.h>
#include <stdint.h>

// The same numbers on every machine (SplitMix64, Steele and others, 2014), from any seed.
struct random {
    uint64_t state;
};
uint32_t random_bits(struct random *random);
int random_range(struct random *random, int low, int high); // from low to high, both included

// Shapes that reach different branches of a filter.
enum shape { SHAPE_FLAT, SHAPE_NOISE, SHAPE_EDGES, SHAPE_GRADIENT, SHAPE_EXTREMES, SHAPE_DOTS, SHAPE_COUNT };
const char *shape_name(enum shape shape);

// How the rows of a frame lie in memory.
enum layout {
    LAYOUT_TIGHT,  // planes without padding, one after the other
    LAYOUT_PADDED, // planes apart, odd start and stride, garbage as padding, nothing after the last row
    LAYOUT_PAGES,  // tight, in whole pages, as image_alloc makes it
    LAYOUT_REACH,  // in whole pages, rows and planes at multiples of 16, reach known: can be read in place
    LAYOUT_COUNT
};

struct test_frame {
    struct image image; // borrowed from `memory`
    uint8_t *memory[PIXFMT_PLANES];
    size_t size[PIXFMT_PLANES];
};

void frame_fill(struct test_frame *frame, const struct image_shape *shape, enum layout layout, enum shape content,
                struct random *random);
void frame_paint(struct test_frame *frame, enum shape content, struct random *random); // new pixels, same memory
void frame_free(struct test_frame *frame);
uint64_t frame_hash(const struct test_frame *frame); // hash of all its memory, including padding

// Returns true if two images have the same shape and pixels, in any layout.
bool same_images(const struct image *a, const struct image *b);

// The input of the golden images: 96x64, ramps, edges, dots and noise, varying alpha.
struct picture picture_golden(void);
