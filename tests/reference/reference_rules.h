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

// The inputs of a chain's filters, from the last one that moved pixels up to the present one.
struct inputs {
    struct picture picture[16];
    int count;
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
// Return false if the values are impossible, as `prepare` below.
bool check_scale(const struct picture *picture, struct values *values);
bool check_warp(const struct picture *picture, struct values *values);
bool check_canny(const struct picture *picture, struct values *values);
bool check_undistort(const struct picture *picture, struct values *values);

// reference_tables.c: fill the tables, as `prepare` below; pixel_tables uses them.
bool prepare_levels(const struct picture *from, struct values *values);
bool prepare_curves(const struct picture *from, struct values *values);
bool prepare_autolevels(const struct picture *from, struct values *values);
bool prepare_equalize(const struct picture *from, struct values *values);
bool prepare_clahe(const struct picture *from, struct values *values);
void pixel_clahe(const struct picture *from, int x, int y, const struct values *values, uint8_t *to);
bool prepare_grayworld(const struct picture *from, struct values *values);
bool prepare_exposure(const struct picture *from, struct values *values);
bool prepare_temperature(const struct picture *from, struct values *values);
bool prepare_posterize(const struct picture *from, struct values *values);
// reference_lut.c
void reference_lut_free(struct lut *lut);
bool prepare_lut(const struct picture *from, struct values *values);
void pixel_lut(const struct picture *from, int x, int y, const struct values *values, uint8_t *to);
void pixel_tables(const struct picture *from, int x, int y, const struct values *values, uint8_t *to);

// reference_several.c: replaces the picture by the result of a filter that has several steps. Returns false if the
// filter has not.
bool reference_several(struct picture *picture, const char *name, const struct values *values);

typedef void reference_pixel(const struct picture *from, int x, int y, const struct values *values, uint8_t *to);

reference_pixel pixel_gray, pixel_gaussian, pixel_erode, pixel_dilate;
void reference_run(struct picture *picture, reference_pixel *pixel, const struct values *values);
// reference_placed.c
void pixel_vignette(const struct picture *from, int x, int y, const struct values *values, uint8_t *to);
void pixel_grain(const struct picture *from, int x, int y, const struct values *values, uint8_t *to);
bool prepare_overlay(const struct picture *from, struct values *values);
void pixel_overlay(const struct picture *from, int x, int y, const struct values *values, uint8_t *to);
bool prepare_blend(const struct picture *from, struct values *values);
bool prepare_mask(const struct picture *from, struct values *values);
void pixel_within(const struct picture *from, int x, int y, const struct values *values, uint8_t *to);
void pixel_mask(const struct picture *from, int x, int y, const struct values *values, uint8_t *to);
void pixel_blend(const struct picture *from, int x, int y, const struct values *values, uint8_t *to);
bool prepare_text(const struct picture *from, struct values *values);
bool reference_pad(struct picture *picture, const struct values *values);
bool check_pad(const struct picture *picture, struct values *values);
void pixel_colorkey(const struct picture *from, int x, int y, const struct values *values, uint8_t *to);
bool check_remap(const struct picture *picture, struct values *values);
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

extern const struct rule reference_rules[];
