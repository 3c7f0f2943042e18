// reference_rules.h: the filters of the reference as rules with values, between its chains and its filters
#pragma once

#include "reference.h"

enum { MATRIX_NUMBERS = 81, PARAMETER_WORDS = 8 };

enum value_type { NO_VALUE, INTEGER, REAL, WORD, MATRIX };

struct value {
    int number; // INTEGER; WORD: its index
    float real; // REAL
    int side;   // MATRIX, with its numbers row by row
    float matrix[MATRIX_NUMBERS];
};

// Values that convolve computes from its matrix before the first pixel.
struct weights {
    int shift;
    int64_t bias, q[MATRIX_NUMBERS];
};

struct values {
    struct value value[REFERENCE_PARAMS];
    struct weights weights;
};

struct parameter {
    const char *name;
    enum value_type type;
    double low, high;
    const char *preset; // text of the default
    // The words of a WORD; the presets of a MATRIX and their numbers.
    const char *words[PARAMETER_WORDS], *meanings[PARAMETER_WORDS];
};

// A filter. `pixel` computes the output pixel (x, y); before the call it holds the input pixel (x, y).
struct rule {
    const char *name;
    void (*pixel)(const struct picture *from, int x, int y, const struct values *values, uint8_t *to);
    // Completes the values for the picture (NULL: none yet). Returns false if the values contradict each other.
    bool (*prepare)(const struct picture *from, struct values *values);
    struct parameter parameter[REFERENCE_PARAMS];
};

extern const struct rule reference_rules[];
