// height.c: see height.h
#include "lane/height.h"

#include <math.h>
#include <string.h>

enum {
    RAISED = 10,      // lane_motion.raised of a line above the road
    RAISED_MOST = 20, // its limit: after 11 frames on the road, a line is reported again
    SLOWEST = 2,      // a smaller speed is not clear
    REACH = (HEIGHT_SPEEDS - 1) * HEIGHT_LAGS / HEIGHT_PARTS, // farther strips have no earlier place
};

static const double half = 0.35;                          // metres beside the line
static const float renewed = 1 / 5.0f;                    // share of a frame in the mean
static const float kept = 0.90f;                          // share of the earlier frames in the correlation
static const double clear = 0.5;                          // smallest correlation of a clear speed
static const double clear_rail = 0.65;                    // that of a line above the road; lights of cars have less
static const double still = 0.7;                          // largest correlation at speed 0, divided by the best one
static const double other = 0.8;                          // the same for the road, at the speed of the line
static const double at_road = 0.5;                        // the same for the line, at the speed of the road
static const double ratio_least = 1.35, ratio_most = 3.2; // of the speeds; camera at 1.4 m: heights of 0.36 to 0.96 m

// Returns the brightness of a line in a strip; negative: it is outside the table.
static float brightness(const struct lane_table *table, int strip, double x)
{
    const double metres = table->across / table->columns;
    const int first = (int)floor((x - half + table->across / 2) / metres), count = (int)(2 * half / metres);
    if (first < 0 || first + count > table->columns)
        return -1;
    const uint32_t *sums = table->sums + (size_t)strip * (size_t)table->columns + first;
    uint64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += sums[i];
    return sqrtf((float)sum / (float)table->full);
}

// Compares a strip with the places where it was in the earlier frames. Between two strips, brightness is linear.
static void add_matches(struct lane_motion *motion, int strip)
{
    const float now = motion->past[0][strip];
    motion->power[strip] = kept * motion->power[strip] + HEIGHT_LAGS * now * now;
    for (int speed = 0; speed < HEIGHT_SPEEDS; speed++) {
        float sum = 0;
        for (int lag = 1; lag <= HEIGHT_LAGS; lag++) {
            const int moved = speed * lag, part = moved % HEIGHT_PARTS;
            const float *then = &motion->past[lag][strip - moved / HEIGHT_PARTS];
            sum += part == 0 ? then[0] : then[0] + (then[-1] - then[0]) * (float)part / HEIGHT_PARTS;
        }
        motion->match[strip][speed] = kept * motion->match[strip][speed] + now * sum;
    }
}

void lane_motion_add(struct lane_motion *motion, const struct lane_table *table, const struct lane_shape *shape,
                     double offset)
{
    const float share = fmaxf(renewed, 1 / (float)++motion->frames);
    memmove(motion->past[1], motion->past[0], HEIGHT_LAGS * sizeof(motion->past[0]));
    for (int strip = 0; strip < table->strips; strip++) {
        const float bright = brightness(table, strip, lane_x(shape, offset, lane_strip_z(table, strip)));
        const float change = bright < 0 ? 0 : bright - motion->mean[strip];
        motion->mean[strip] += share * change;
        motion->past[0][strip] = motion->frames > 1 ? change : 0;
    }
    for (int strip = REACH; strip < table->strips; strip++)
        add_matches(motion, strip);
}

// Sums the correlations of the strips where both lines have texture; each sum is at most 1. Returns the best speed.
static int best_speed(const struct lane_motion *motion, const struct lane_motion *both, double match[HEIGHT_SPEEDS])
{
    double power = 0;
    int best = 0;
    memset(match, 0, HEIGHT_SPEEDS * sizeof(*match));
    for (int strip = REACH; strip < LANE_STRIPS_MAX; strip++) {
        if (motion->power[strip] <= 0 || both->power[strip] <= 0)
            continue;
        power += (double)motion->power[strip];
        for (int speed = 0; speed < HEIGHT_SPEEDS; speed++)
            match[speed] += (double)motion->match[strip][speed];
    }
    for (int speed = 0; speed < HEIGHT_SPEEDS; speed++) {
        match[speed] /= power > 0 ? power : 1;
        best = match[speed] > match[best] ? speed : best;
    }
    return best;
}

static bool is_clear(const double match[HEIGHT_SPEEDS], int best)
{
    return best >= SLOWEST && best < HEIGHT_SPEEDS - 1 && match[best] >= clear && match[0] < still * match[best];
}

bool lane_motion_clear(const struct lane_motion *motion)
{
    double match[HEIGHT_SPEEDS];
    const int best = best_speed(motion, motion, match);
    return is_clear(match, best);
}

void lane_motion_compare(struct lane_motion *motion, const struct lane_motion *road)
{
    double own[HEIGHT_SPEEDS], ground[HEIGHT_SPEEDS];
    const int speed = best_speed(motion, road, own), base = best_speed(road, motion, ground);
    if (!is_clear(ground, base))
        return;
    const bool faster =
        own[speed] >= clear_rail && is_clear(own, speed) && speed >= ratio_least * base && speed <= ratio_most * base;
    const bool differ = own[base] < at_road * own[speed] && ground[speed] < other * ground[base];
    motion->raised += !faster ? -1 : differ ? 1 : 0;
    motion->raised = motion->raised < 0 ? 0 : motion->raised > RAISED_MOST ? RAISED_MOST : motion->raised;
}

bool lane_motion_raised(const struct lane_motion *motion)
{
    return motion->raised >= RAISED;
}
