// reference_rules.h: the filters of the reference as rules with values, between its chains and its filters
#pragma once

#include "reference.h"

enum { MATRIX_NUMBERS = 81, PARAMETER_WORDS = 9 };

enum value_type { NO_VALUE, INTEGER, REAL, WORD, MATRIX, MAP, POINTS, TEXT, CAPTION, COLOR };

struct value {
    int number; // INTEGER; COLOR: 0xrrggbb; WORD: its index; MAP, POINTS without numbers: the index of the word
    float real; // REAL
    int side;   // MATRIX, with its numbers row by row
    int count;  // MAP, POINTS: the count of numbers; 0: a word
    float matrix[MATRIX_NUMBERS];
    const char *text; // TEXT, a file; CAPTION, words
};

// Values that convolve computes from its matrix before the first pixel.
struct weights {
    int shift;
    int64_t bias, q[MATRIX_NUMBERS];
};

// The inputs of a chain's filters up to the present one, without `none` and `keep`.
struct inputs {
    struct picture picture[16];
    int count;
    int kept;   // of a mask: the number of the input that it mixes in; `count`: no filter is before it
    int movers; // the number of filters up to the last one that moves pixels
    bool moved; // one of these filters is neither mirror nor flip
};

struct values {
    struct value value[REFERENCE_PARAMS];
    struct weights weights;
    uint8_t table[3][256]; // of levels and its like
    struct lut *lut;       // NULL: none
    struct tiles *tiles;   // of clahe; NULL: none
    struct picture second; // of overlay; its colours are multiplied by alpha
    int left, top;         // where it lies
    const struct inputs *inputs;
};

struct parameter {
    const char *name;
    enum value_type type;
    double low, high;
    const char *preset; // text of the default
    // The words of a WORD; the presets of a MATRIX and their numbers.
    const char *words[PARAMETER_WORDS], *meanings[PARAMETER_WORDS];
};

// Replaces the picture by the result of a warp. Returns false if it is too large.
bool reference_warp(struct picture *picture, const char *name, const struct values *values);
bool reference_scale(struct picture *picture, const struct values *values); // as scale, but alpha does not weigh
void reference_lut_free(struct lut *lut);
// reference_several.c: replaces the picture by the result of a filter that has several steps. Returns false if the
// filter has not.
bool reference_several(struct picture *picture, const char *name, const struct values *values);

typedef void reference_pixel(const struct picture *from, int x, int y, const struct values *values, uint8_t *to);

void reference_weigh(struct picture *picture);   // multiplies the colours by alpha
void reference_unweigh(struct picture *picture); // divides the colours by alpha; without alpha there is no colour

reference_pixel pixel_gray, pixel_gaussian, pixel_erode, pixel_dilate;
void reference_run(struct picture *picture, reference_pixel *pixel, const struct values *values);
bool reference_pad(struct picture *picture, const struct values *values);
bool reference_remap(struct picture *picture, const struct values *values);
bool reference_pixelate(struct picture *picture, const struct values *values);

// A filter. `pixel` computes the output pixel (x, y); before the call it holds the input pixel (x, y). NULL: the filter
// is a warp, or has several steps.
struct rule {
    const char *name;
    reference_pixel *pixel;
    // Completes the values for the picture (NULL: none yet). Returns false if the values contradict each other.
    bool (*prepare)(const struct picture *from, struct values *values);
    struct parameter parameter[REFERENCE_PARAMS];
};

// The rules of each file; a row without a name ends them.
extern const struct rule filters_rules[], tables_rules[], lut_rules[], placed_rules[], warps_rules[], several_rules[];
const struct rule *reference_find(const char *name); // NULL: there is none
const struct rule *reference_rule(int index);        // of all files; NULL after the last one
