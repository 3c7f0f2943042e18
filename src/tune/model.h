// model.h: a Gaussian process: estimates the value of a configuration from known values of others; logs nothing
#pragma once

#include "tune/space.h"

enum { MODEL_POINTS = 256 };

struct model {
    const struct space *space;
    double scale[SPACE_PARAMS]; // weight of each parameter in the distance between two configurations
    double two;                 // weight of one factor of 2 in a value
    float *place;               // per value: position in the parameter's range (0 to 1), and number of factors of 2
    int first[SPACE_PARAMS];    // index of each parameter's first value in `place`
    int points;
    int configuration[MODEL_POINTS];
    double value[MODEL_POINTS];
    double *factor;            // Cholesky factor of the covariances, MODEL_POINTS numbers per row
    double half[MODEL_POINTS]; // factor^-1 * value
};

bool model_open(struct model *model, const struct space *space); // false: no memory
void model_close(struct model *model);                           // accepts a zeroed model

// Replaces the known values; their mean must be 0, their variance 1. `points` is at most MODEL_POINTS.
void model_fit(struct model *model, const int *configuration, const double *value, int points);
// Call after model_fit. Doubles or halves each weight if this makes the known values more probable.
void model_learn(struct model *model);
// Sets the expected value of a configuration and its standard deviation. Far from all known values, they are 0 and 1.
void model_estimate(const struct model *model, int configuration, double *mean, double *deviation);
