// model.c: a Gaussian process with a Matern 3/2 covariance (Rasmussen and Williams, Gaussian Processes for Machine
// Learning, algorithm 2.1)
#include "tune/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double noise = 0.01;     // variance of a measured value
static const double two_weight = 0.2; // initial model.two; the initial weight of a parameter's whole range is 1
static const double weight_min = 1 / 64.0, weight_max = 16;

// Returns the number of factors of 2. Many devices are fast with a width that has many: 48 is between 32 and 64, but
// differs from both.
static double twos(const char *text)
{
    char *end;
    const long number = strtol(text, &end, 10);
    return end == text || *end || number < 1 ? 0 : __builtin_ctzl((unsigned long)number);
}

static void place_values(struct model *model)
{
    const struct space *space = model->space;
    int at = 0;
    for (int p = 0; p < space->params; p++) {
        const struct space_param *param = &space->param[p];
        model->scale[p] = 1;
        model->first[p] = at;
        for (int v = 0; v < param->values; v++, at++) {
            model->place[2 * at] = param->values > 1 ? (float)v / (float)(param->values - 1) : 0;
            model->place[2 * at + 1] = (float)twos(param->value[v]);
        }
    }
}

bool model_open(struct model *model, const struct space *space)
{
    *model = (struct model){.space = space, .two = two_weight};
    model->place = malloc(2 * sizeof(*model->place) * ((size_t)space_neighbours_max(space) + 1));
    model->factor = malloc(sizeof(*model->factor) * MODEL_POINTS * MODEL_POINTS);
    if (model->place && model->factor)
        place_values(model);
    return model->place && model->factor;
}

void model_close(struct model *model)
{
    free(model->place);
    free(model->factor);
}

static double covariance(const struct model *model, int a, int b)
{
    const struct space *space = model->space;
    const uint16_t *x = space_tuple(space, a), *y = space_tuple(space, b);
    double sum = 0;
    for (int p = 0; p < space->params; p++) {
        if (x[p] == y[p])
            continue;
        const float *from = model->place + 2 * (model->first[p] + x[p]);
        const float *to = model->place + 2 * (model->first[p] + y[p]);
        const double step = from[0] - to[0], two = from[1] - to[1];
        sum += model->scale[p] * model->scale[p] * (step * step + two * two * model->two * model->two);
    }
    const double distance = sqrt(3 * sum);
    return (1 + distance) * exp(-distance);
}

// Computes the Cholesky factor. Returns the logarithm of the values' probability, up to a constant.
static double factorise(struct model *model)
{
    double probability = 0;
    for (int i = 0; i < model->points; i++) {
        double *row = model->factor + (size_t)i * MODEL_POINTS;
        double value = model->value[i], rest = 1 + noise;
        for (int j = 0; j < i; j++) {
            const double *other = model->factor + (size_t)j * MODEL_POINTS;
            double sum = covariance(model, model->configuration[i], model->configuration[j]);
            for (int k = 0; k < j; k++)
                sum -= row[k] * other[k];
            row[j] = sum / other[j];
            rest -= row[j] * row[j];
            value -= row[j] * model->half[j];
        }
        row[i] = sqrt(fmax(rest, noise / 2)); // rounding errors must not make it 0
        model->half[i] = value / row[i];
        probability -= 0.5 * model->half[i] * model->half[i] + log(row[i]);
    }
    return probability;
}

void model_fit(struct model *model, const int *configuration, const double *value, int points)
{
    model->points = points;
    memcpy(model->configuration, configuration, sizeof(*configuration) * (size_t)points);
    memcpy(model->value, value, sizeof(*value) * (size_t)points);
    factorise(model);
}

// Returns the logarithm of the probability of the values and the weights. A prior prefers the initial weights, because
// a few points do not determine them.
static double weigh(struct model *model)
{
    double probability = factorise(model), off = log(model->two / two_weight);
    probability -= 0.5 * off * off;
    for (int p = 0; p < model->space->params; p++) {
        off = log(model->scale[p]);
        probability -= 0.5 * off * off;
    }
    return probability;
}

// Doubles or halves a weight if this makes the probability higher than *best. *best is then the new probability.
static void improve(struct model *model, double *weight, double *best)
{
    for (int turn = 0; turn < 2; turn++) {
        const double before = *weight;
        *weight *= turn ? 0.5 : 2;
        const bool legal = *weight >= weight_min && *weight <= weight_max;
        const double found = legal ? weigh(model) : -INFINITY;
        if (found > *best)
            *best = found;
        else
            *weight = before;
    }
}

void model_learn(struct model *model)
{
    double best = weigh(model);
    for (int p = 0; p < model->space->params; p++) {
        if (model->space->param[p].values > 1)
            improve(model, &model->scale[p], &best);
    }
    improve(model, &model->two, &best);
    factorise(model);
}

void model_estimate(const struct model *model, int configuration, double *mean, double *deviation)
{
    double half[MODEL_POINTS], variance = 1;
    *mean = 0;
    for (int i = 0; i < model->points; i++) {
        const double *row = model->factor + (size_t)i * MODEL_POINTS;
        double sum = covariance(model, configuration, model->configuration[i]);
        for (int k = 0; k < i; k++)
            sum -= row[k] * half[k];
        half[i] = sum / row[i];
        *mean += half[i] * model->half[i];
        variance -= half[i] * half[i];
    }
    *deviation = sqrt(fmax(variance, 1e-12));
}
