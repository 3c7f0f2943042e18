// model.h: a Gaussian process: estimates values of configurations from the known values of others; logs nothing
#pragma once

#include "tune/space.h"

enum { MODEL_POINTS = 256 };

struct model {
    const struct space *space;
    double scale[SPACE_PARAMS]; // weight of each parameter in the distance between two configurations
    double two;                 // weight of a factor 2 in a value
    float *place;               // of each value: its place in the parameter's range, and how often 2 divides it
    int first[SPACE_PARAMS];    // the first value of each parameter in `place`
    int points;
    int configuration[MODEL_POINTS];
    double value[MODEL_POINTS];
    double *factor;            // Cholesky factor of the covariances, MODEL_POINTS numbers per row
    double half[MODEL_POINTS]; // factor^-1 * value
};

bool model_open(struct model *model, const struct space *space); // false: no memory
void model_close(struct model *model);                           // also if it was never opened but is zeroed

// Replaces the known values; their mean must be 0, their variance 1. `points` is at most MODEL_POINTS.
void model_fit(struct model *model, const int *configuration, const double *value, int points);
// After model_fit: doubles or halves the weights of parameters where this makes the known values more probable.
void model_learn(struct model *model);
// The value expected, and how uncertain it is. A value that is not known has the mean 0 and the deviation 1.
void model_estimate(const struct model *model, int configuration, double *mean, double *deviation);
