// compute.h: the numeric types that tests compute with, and the arithmetic speed of one
#pragma once

#include "measure/bench_session.h"

// ---- elements ----

struct element {
    const char *name; // in OpenCL C
    size_t bytes;
    bool is_float;
    const char *lacking; // why a device may lack it; NULL: all have it
};

enum { ELEMENT_HALF, ELEMENT_FLOAT, ELEMENT_DOUBLE, ELEMENT_INT, ELEMENT_SHORT, ELEMENT_CHAR, ELEMENTS };
extern const struct element elements[ELEMENTS];

enum { ELEMENT_WIDTHS = 5 };
extern const int element_widths[ELEMENT_WIDTHS]; // of vectors: 1, 2, 4, 8, 16

// Returns true if the device has the type. Otherwise marks the case as skipped.
bool element_check(const struct element *element, struct bench_case *c);

double element_read(const struct element *element, const void *memory, size_t index);
// Writes random numbers: floating-point numbers from 0.25 to 1, integers of all values.
void element_random(const struct element *element, void *memory, size_t count);

// ---- the speed ----

// Measures briefly for each vector width. Returns the best speed in Gop/s; its value is 0 if the device lacks the type,
// or on failure.
struct figure compute_peak(struct bench_session *session, const struct element *element);
