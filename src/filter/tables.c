// tables.c: tables for each channel (docs/pixels.md section 3)
#include "filter/tables.h"

#include <math.h>

enum { ALL_CHANNELS, FIRST_CHANNEL, CHANNELS = 3 };

void tables_fill(struct filter_arguments *arguments, int channel, const double result[FILTER_LEVELS])
{
    arguments->count = FILTER_LEVELS;
    for (int i = 0; i < FILTER_LEVELS; i++) {
        const int made = (int)fmin(fmax(floor(result[i] + 1e-9 + 0.5), 0), FILTER_LEVELS - 1);
        arguments->value[i] = 0;
        for (int k = 0; k < CHANNELS; k++)
            arguments->value[i] |= (channel == ALL_CHANNELS || channel == FIRST_CHANNEL + k ? made : i) << 8 * k;
    }
}

void tables_start(struct filter_arguments *arguments)
{
    arguments->count = FILTER_LEVELS;
    for (int i = 0; i < FILTER_LEVELS; i++)
        arguments->value[i] = i * 0x010101;
}

// The transfer function of sRGB (IEC 61966-2-1), and its inverse.
static double to_light(double value)
{
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

static double from_light(double light)
{
    return light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055;
}

void tables_multiply(struct filter_arguments *arguments, const double factor[3])
{
    struct filter_arguments one;
    double result[FILTER_LEVELS];
    arguments->count = FILTER_LEVELS;
    for (int k = 0; k < CHANNELS; k++) {
        for (int i = 0; i < FILTER_LEVELS; i++)
            result[i] = 255 * from_light(factor[k] * to_light(i / 255.0));
        tables_fill(&one, ALL_CHANNELS, result);
        for (int i = 0; i < FILTER_LEVELS; i++)
            arguments->value[i] |= one.value[i] & 255 << 8 * k;
    }
}
