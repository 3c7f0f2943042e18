// model_strategy.c: the search `auto`: fills a pool with candidates near the best configurations, and proposes the
// one with the best estimate
#include "base/alloc.h"
#include "tune/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- a Gaussian process with a Matern 3/2 covariance (Rasmussen and Williams, Gaussian Processes for Machine
// Learning, algorithm 2.1) ----

enum { MODEL_POINTS = 256 };

// Estimates the value of a configuration from known values of others.
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

static const double noise = 0.1;      // variance of a value
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

static void model_open(struct model *model, const struct space *space)
{
    *model = (struct model){.space = space, .two = two_weight};
    model->place = xmalloc(2 * sizeof(*model->place) * ((size_t)space_neighbours_max(space) + 1));
    model->factor = xmalloc(sizeof(*model->factor) * MODEL_POINTS * MODEL_POINTS);
    place_values(model);
}

// Accepts a zeroed model.
static void model_close(struct model *model)
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

// Replaces the known values; their mean must be 0, their variance 1. `points` is at most MODEL_POINTS.
static void model_fit(struct model *model, const int *configuration, const double *value, int points)
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

// Call after model_fit. Doubles or halves each weight if this makes the known values more probable.
static void model_learn(struct model *model)
{
    double best = weigh(model);
    for (int p = 0; p < model->space->params; p++) {
        if (model->space->param[p].values > 1)
            improve(model, &model->scale[p], &best);
    }
    improve(model, &model->two, &best);
    factorise(model);
}

// Sets the expected value of a configuration and its standard deviation. Far from all known values, they are 0 and 1.
static void model_estimate(const struct model *model, int configuration, double *mean, double *deviation)
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

// ---- the search ----

enum {
    START = 6,      // random configurations before the first estimate
    BEST = 5,       // the pool has the neighbours of this number of best configurations
    CROSSED = 20,   // candidates per best one, each a mixture of it and another best one
    LEAPS = 20,     // candidates per best one, which differ from it in 2 or 3 parameters
    POOL = 600,     // candidates in all; random ones fill the pool
    LEARN_EVERY = 3 // results between two fits of the model's weights
};

struct candidates {
    int told[MODEL_POINTS]; // configurations with results; the fastest first
    int tolds;
    int candidate[POOL];
    int candidates;
    struct model model;
    int learned; // number of results when the model learned its weights
};

static void tell_pool(struct search *search, int configuration)
{
    struct candidates *pool = search->own;
    const double ms = search->ms[configuration];
    if (pool->tolds == MODEL_POINTS)
        pool->tolds--; // forgets the slowest
    int at = pool->tolds++;
    for (; at > 0 && !(search->ms[pool->told[at - 1]] <= ms); at--)
        pool->told[at] = pool->told[at - 1];
    pool->told[at] = configuration;
}

// ---- candidates ----

static void add(struct search *search, int configuration)
{
    struct candidates *pool = search->own;
    if (configuration >= 0 && pool->candidates < POOL && !search_asked(search, configuration))
        pool->candidate[pool->candidates++] = configuration;
}

// Returns a configuration that takes each value from one of the two at random; -1: it is not allowed.
static int cross(struct search *search, int a, int b)
{
    const struct space *space = search->space;
    const uint16_t *x = space_tuple(space, a), *y = space_tuple(space, b);
    uint16_t tuple[SPACE_PARAMS];
    for (int p = 0; p < space->params; p++)
        tuple[p] = search_random_below(search, 2) ? x[p] : y[p];
    return space_find(space, tuple);
}

static void fill(struct search *search)
{
    struct candidates *pool = search->own;
    const int bests = pool->tolds < BEST ? pool->tolds : BEST;
    pool->candidates = 0;
    for (int i = 0; i < search->rests && search->rests <= POOL; i++)
        add(search, search->rest[i]);
    for (int i = 0; i < bests && search->rests > POOL; i++) {
        const int best = pool->told[i];
        const int count = space_neighbours(search->space, best, search->near, search->near_most);
        for (int k = 0; k < count; k++)
            add(search, search->near[k]);
        for (int k = 0; k < CROSSED; k++)
            add(search, cross(search, best, pool->told[search_random_below(search, bests)]));
        for (int k = 0; k < LEAPS; k++)
            add(search, search_random_leap(search, best, 2 + k % 2));
    }
    while (pool->candidates < POOL && search->rests > POOL)
        add(search, search_random_rest(search));
}

// ---- the model ----

// Fits the model to the square roots of the ranks, which separate the fast results more than the slow ones.
static void fit(struct search *search)
{
    struct candidates *pool = search->own;
    double value[MODEL_POINTS], mean = 0, variance = 0;
    for (int i = 0; i < pool->tolds; i++) {
        value[i] = isfinite(search->ms[pool->told[i]]) ? -sqrt(i) : -sqrt(pool->tolds);
        mean += value[i] / pool->tolds;
    }
    for (int i = 0; i < pool->tolds; i++)
        variance += (value[i] - mean) * (value[i] - mean) / pool->tolds;
    for (int i = 0; i < pool->tolds; i++)
        value[i] = (value[i] - mean) / sqrt(fmax(variance, 1e-12));
    model_fit(&pool->model, pool->told, value, pool->tolds);
    if (search->told >= pool->learned + LEARN_EVERY) {
        model_learn(&pool->model);
        pool->learned = search->told;
    }
}

// Returns the expected improvement: the expected gain of a configuration over the best rank so far.
static double improvement(const struct search *search, int configuration)
{
    const struct candidates *pool = search->own;
    const double density_0 = 0.3989422804014327; // of the normal distribution, at 0
    double mean, deviation;
    model_estimate(&pool->model, configuration, &mean, &deviation);
    const double over = (mean - pool->model.value[0]) / deviation;
    return deviation * (over * 0.5 * erfc(-over * M_SQRT1_2) + density_0 * exp(-0.5 * over * over));
}

// Fills the pool. Returns the candidate with the largest expected improvement; -1: there is no candidate.
static int choose(struct search *search)
{
    struct candidates *pool = search->own;
    int best = -1;
    double highest = -INFINITY;
    fill(search);
    for (int i = 0; i < pool->candidates; i++) {
        const double found = improvement(search, pool->candidate[i]);
        if (found > highest) {
            highest = found;
            best = pool->candidate[i];
        }
    }
    return best;
}

static int next_model(struct search *search)
{
    if (search->asked < START || search->best < 0) // too few results for an estimate
        return -1;
    fit(search);
    return choose(search);
}

static void open_model(struct search *search)
{
    struct candidates *pool = search->own;
    model_open(&pool->model, search->space);
}

static void close_model(struct search *search)
{
    struct candidates *pool = search->own;
    model_close(&pool->model);
}

const struct strategy auto_strategy = {
    .name = "auto",
    .own_bytes = sizeof(struct candidates),
    .open = open_model,
    .next = next_model,
    .tell = tell_pool,
    .close = close_model,
};
