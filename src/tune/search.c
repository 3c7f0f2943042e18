// search.c: the search `auto`: fills a pool with candidates near the fastest configurations, and proposes the one with
// the best estimate
#include "tune/search.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- a Gaussian process (Rasmussen and Williams, Gaussian Processes for Machine Learning, algorithm 2.1) ----

// The covariance is a product with one factor per parameter, the sum of a constant and a rational quadratic covariance.
// The terms of the product are the effects of one, two or more parameters together. So the model learns what a few
// parameters do from configurations that differ in the others.

enum { MODEL_POINTS = 256 };

// Estimates the value of a configuration from known values of others.
struct model {
    const struct space *space;
    double scale[SPACE_PARAMS]; // weight of each parameter in the distance between two configurations
    double two;                 // weight of one factor of 2 in a value
    double part;                // of the rational quadratic covariance in a factor
    float *place[SPACE_PARAMS]; // per value: position in the parameter's range (0 to 1), and number of factors of 2
    int points, configuration[MODEL_POINTS];
    double value[MODEL_POINTS]; // their mean must be 0, their variance 1
    double *factor;             // Cholesky factor of the covariances, MODEL_POINTS numbers per row
    double half[MODEL_POINTS];  // factor^-1 * value
};

static const double noise = 0.1;      // variance of a value
static const double together = 2;     // parameters that an effect depends on, on average
static const double two_weight = 0.2; // initial model.two; the initial weight of a parameter's whole range is 1
static const double weight_min = 1 / 64.0, weight_max = 16;

// Returns the number of factors of 2. Many devices are fast with a width that has many: 48 is between 32 and 64, but
// differs from both.
static float twos(const struct value *value)
{
    int64_t number;
    return value_whole(value, &number) && number > 0 ? (float)__builtin_ctzll((unsigned long long)number) : 0;
}

static void model_open(struct model *model, const struct space *space)
{
    *model = (struct model){.space = space, .two = two_weight};
    model->factor = xmalloc(sizeof(*model->factor) * MODEL_POINTS * MODEL_POINTS);
    int params = 0;
    for (int p = 0; p < space->params; p++) {
        const struct space_param *param = &space->param[p];
        params += param->values > 1;
        model->scale[p] = 1;
        model->place[p] = xmalloc(2 * sizeof(*model->place[p]) * (size_t)param->values);
        for (int v = 0; v < param->values; v++) {
            model->place[p][2 * v] = param->values > 1 ? (float)v / (float)(param->values - 1) : 0;
            model->place[p][2 * v + 1] = twos(&param->value[v]);
        }
    }
    model->part = params > together ? together / params : 1;
}

static void model_close(struct model *model)
{
    for (int p = 0; p < model->space->params; p++)
        free(model->place[p]);
    free(model->factor);
}

static double covariance(const struct model *model, int a, int b)
{
    const struct space *space = model->space;
    const uint16_t *x = space_tuple(space, a), *y = space_tuple(space, b);
    double product = 1;
    for (int p = 0; p < space->params; p++) {
        if (x[p] == y[p])
            continue;
        const float *from = model->place[p] + 2 * x[p], *to = model->place[p] + 2 * y[p];
        const double step = from[0] - to[0], two = from[1] - to[1];
        const double square = model->scale[p] * model->scale[p] * (step * step + two * two * model->two * model->two);
        product *= 1 - model->part * square / (2 + square);
    }
    return product;
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

// Doubles or halves each weight if this makes the known values more probable.
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

// Sets the expected value of a configuration and its standard deviation. Without known values, they are 0 and 1.
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
    START = 6,       // random configurations before the first estimate
    BEST = 5,        // the pool has the neighbours of this number of best configurations
    CROSSED = 20,    // candidates per best one, each a mixture of it and another best one
    LEAPS = 20,      // candidates per best one, which differ from it in 2 or 3 parameters
    LEAP_TRIES = 64, // random changes that must not be allowed before a leap is given up
    POOL = 600,      // candidates in all; random ones fill the pool
    LEARN_EVERY = 3  // results between two fits of the model's weights
};

struct search {
    const struct space *space;
    bool random;
    uint64_t state;     // of the random numbers
    double *ms;         // of each configuration
    int *rest, *place;  // configurations not returned yet; index of each configuration in `rest`, -1: returned
    int rests;          // length of `rest`
    int *first, firsts; // configurations to try first, the last one first
    int told[MODEL_POINTS], tolds; // configurations with results; the fastest first
    int results, learned;          // number of results; that when the model learned its weights
    int candidate[POOL], candidates;
    struct model model;
};

static bool is_asked(const struct search *search, int configuration)
{
    return search->place[configuration] < 0;
}

// ---- candidates ----

// Returns 0..limit-1.
static int random_below(struct search *search, int limit)
{
    return (int)(((random_next(&search->state) >> 32) * (uint64_t)limit) >> 32);
}

static int random_rest(struct search *search)
{
    return search->rest[random_below(search, search->rests)];
}

// Changes up to `count` parameters of a configuration at random. Returns an allowed configuration of `rest`; -1: it
// found none.
static int leap(struct search *search, int configuration, int count)
{
    const struct space *space = search->space;
    uint16_t tuple[SPACE_PARAMS];
    for (int i = 0; i < LEAP_TRIES; i++) {
        memcpy(tuple, space_tuple(space, configuration), sizeof(*tuple) * (size_t)space->params);
        for (int k = 0; k < count; k++) {
            const int p = random_below(search, space->params);
            tuple[p] = (uint16_t)random_below(search, space->param[p].values);
        }
        const int found = space_find(space, tuple);
        if (found >= 0 && !is_asked(search, found))
            return found;
    }
    return -1;
}

// Returns a configuration that takes each value from one of the two at random; -1: it is not allowed.
static int cross(struct search *search, int a, int b)
{
    const uint16_t *x = space_tuple(search->space, a), *y = space_tuple(search->space, b);
    uint16_t tuple[SPACE_PARAMS];
    for (int p = 0; p < search->space->params; p++)
        tuple[p] = random_below(search, 2) ? x[p] : y[p];
    return space_find(search->space, tuple);
}

static void add(struct search *search, int configuration)
{
    if (configuration >= 0 && search->candidates < POOL && !is_asked(search, configuration))
        search->candidate[search->candidates++] = configuration;
}

static void fill(struct search *search)
{
    const int bests = search->tolds < BEST ? search->tolds : BEST;
    int near[POOL];
    search->candidates = 0;
    for (int i = 0; i < search->rests && search->rests <= POOL; i++)
        add(search, search->rest[i]);
    for (int i = 0; i < bests && search->rests > POOL; i++) {
        const int best = search->told[i], count = space_neighbours(search->space, best, near, POOL);
        for (int k = 0; k < count; k++)
            add(search, near[k]);
        for (int k = 0; k < CROSSED; k++)
            add(search, cross(search, best, search->told[random_below(search, bests)]));
        for (int k = 0; k < LEAPS; k++)
            add(search, leap(search, best, 2 + k % 2));
    }
    while (search->candidates < POOL && search->rests > POOL)
        add(search, random_rest(search));
}

// ---- the choice ----

// Fits the model to the square roots of the ranks, which separate the fast results more than the slow ones.
static void fit(struct search *search)
{
    struct model *model = &search->model;
    const int points = model->points = search->tolds;
    double mean = 0, variance = 0;
    for (int i = 0; i < points; i++) {
        model->configuration[i] = search->told[i];
        model->value[i] = -sqrt(isfinite(search->ms[search->told[i]]) ? i : points);
        mean += model->value[i] / points;
    }
    for (int i = 0; i < points; i++)
        variance += (model->value[i] - mean) * (model->value[i] - mean) / points;
    for (int i = 0; i < points; i++)
        model->value[i] = (model->value[i] - mean) / sqrt(fmax(variance, 1e-12));
    if (search->results < search->learned + LEARN_EVERY) {
        factorise(model);
        return;
    }
    model_learn(model);
    search->learned = search->results;
}

// Returns the expected improvement: the expected gain of a configuration over the best rank so far.
static double improvement(const struct model *model, int configuration)
{
    const double density_0 = 0.3989422804014327; // of the normal distribution, at 0
    double mean, deviation;
    model_estimate(model, configuration, &mean, &deviation);
    const double over = (mean - model->value[0]) / deviation;
    return deviation * (over * 0.5 * erfc(-over * M_SQRT1_2) + density_0 * exp(-0.5 * over * over));
}

// Returns the candidate with the largest expected improvement; -1: there is no candidate.
static int choose(struct search *search)
{
    int best = -1;
    double highest = -INFINITY;
    fit(search);
    fill(search);
    for (int i = 0; i < search->candidates; i++) {
        const double found = improvement(&search->model, search->candidate[i]);
        if (found > highest) {
            highest = found;
            best = search->candidate[i];
        }
    }
    return best;
}

static int propose(struct search *search)
{
    while (search->firsts > 0) {
        const int first = search->first[--search->firsts];
        if (!is_asked(search, first))
            return first;
    }
    const bool blind = search->space->count - search->rests < START || search_best(search, NULL) < 0;
    const int chosen = search->random || blind ? -1 : choose(search);
    return chosen >= 0 ? chosen : random_rest(search);
}

// ---- the search as its callers see it ----

struct search *search_open(const struct space *space, bool random, uint64_t seed, const int *first, int firsts)
{
    struct search *search = xalloc(sizeof(*search));
    const size_t count = (size_t)space->count;
    *search = (struct search){.space = space, .random = random, .state = seed, .rests = space->count};
    search->ms = xmalloc(sizeof(*search->ms) * count);
    search->rest = xmalloc(sizeof(*search->rest) * count);
    search->place = xmalloc(sizeof(*search->place) * count);
    search->first = xmalloc(sizeof(*search->first) * (size_t)firsts);
    for (int c = 0; c < space->count; c++)
        search->rest[c] = search->place[c] = c;
    for (int i = firsts - 1; i >= 0; i--)
        search->first[search->firsts++] = first[i];
    model_open(&search->model, space);
    return search;
}

int search_next(struct search *search)
{
    if (search->rests == 0)
        return -1;
    const int next = propose(search), hole = search->place[next];
    const int moved = search->rest[--search->rests];
    search->rest[hole] = moved;
    search->place[moved] = hole;
    search->place[next] = -1;
    return next;
}

void search_tell(struct search *search, int configuration, double ms)
{
    search->ms[configuration] = ms;
    search->results++;
    if (search->tolds == MODEL_POINTS)
        search->tolds--; // forgets the slowest
    int at = search->tolds++;
    for (; at > 0 && !(search->ms[search->told[at - 1]] <= ms); at--)
        search->told[at] = search->told[at - 1];
    search->told[at] = configuration;
}

int search_best(const struct search *search, double *ms)
{
    if (search->tolds == 0 || !isfinite(search->ms[search->told[0]]))
        return -1;
    if (ms)
        *ms = search->ms[search->told[0]];
    return search->told[0];
}

void search_close(struct search *search)
{
    if (!search)
        return;
    model_close(&search->model);
    free(search->first);
    free(search->place);
    free(search->rest);
    free(search->ms);
    free(search);
}
