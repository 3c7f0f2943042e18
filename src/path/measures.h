// measures.h: measures of results and histograms of pictures, on the host
#pragma once

#include "base/thread.h"
#include "filter/filter.h"
#include "image/image.h"
#include "path/path.h"

// The measures that a setup requests. The values of a result lie in one array, in the order of enum path_measure.
struct measuring {
    unsigned wanted; // of enum path_measure; 0: none
    int strips, width, height;
    // Histograms of parts of a picture. NULL: a device computes the measures.
    uint32_t (*parts)[MEASURE_CHANNELS][FILTER_LEVELS];
};

// Prepares for results of this size. `host`: the host computes the measures.
void measuring_open(struct measuring *measuring, const struct path_setup *setup, int width, int height, bool host);
void measuring_close(struct measuring *measuring);
size_t measuring_values(const struct measuring *measuring);                        // their number; 0: none
size_t measuring_at(const struct measuring *measuring, enum path_measure measure); // the index of its first value
// Sets the pointers to a result's values, which the caller keeps.
void measuring_give(const struct measuring *measuring, const uint32_t *values, struct path_measures *measures);
// Computes the values of an RGBA picture with these workers. NULL: on this thread.
void measuring_run(struct measuring *measuring, const struct image *rgba, struct workers *workers, uint32_t *values);

// ---- histograms of inputs ----

// Rows first to end - 1 of a picture with `height` rows.
struct histogram_rows {
    const struct image *rgba; // the picture's rows from `top` on
    int top, height, first, end;
    bool grey;        // the three colours of each pixel are equal
    uint8_t *scratch; // memory for a row
};

// Adds the pixels of these rows to the histograms of the picture's parts.
void histogram_add(const struct histogram_parts *counted, const struct histogram_rows *rows,
                   uint32_t (*counts)[FILTER_LEVELS]);
