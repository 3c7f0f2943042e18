// measures.c: the measures of results on the host
#include "path/measures.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS = 16 }; // without strips
// Neighbouring pixels are often equal. With a single counter, each addition would wait for the one before.
enum { COPIES = 4, COUNTERS = MEASURE_CHANNELS * FILTER_LEVELS };

// A picture and its values.
struct job {
    const struct measuring *measuring;
    const struct image *rgba;
    struct path_measures measures;
    uint32_t *columns, *rows;
};

bool measuring_open(struct measuring *measuring, const struct path_setup *setup, int width, int height, bool host)
{
    *measuring = (struct measuring){.wanted = setup->measures,
                                    .strips = setup->measures & MEASURE_COLUMNS ? setup->strips : PARTS,
                                    .width = width,
                                    .height = height};
    if (host && setup->measures)
        measuring->parts = calloc((size_t)measuring->strips, sizeof(*measuring->parts));
    return !host || !setup->measures || measuring->parts;
}

void measuring_close(struct measuring *measuring)
{
    free(measuring->parts);
}

static size_t count_histograms(const struct measuring *measuring)
{
    return measuring->wanted & MEASURE_HISTOGRAM ? MEASURE_CHANNELS * FILTER_LEVELS : 0;
}

static size_t count_columns(const struct measuring *measuring)
{
    return measuring->wanted & MEASURE_COLUMNS ? (size_t)measuring->strips * (size_t)measuring->width : 0;
}

size_t measuring_values(const struct measuring *measuring)
{
    const size_t rows = measuring->wanted & MEASURE_ROWS ? (size_t)measuring->height : 0;
    return count_histograms(measuring) + count_columns(measuring) + rows;
}

void measuring_give(const struct measuring *measuring, const uint32_t *values, struct path_measures *measures)
{
    const uint32_t *columns = values + count_histograms(measuring), *rows = columns + count_columns(measuring);
    measures->histogram =
        measuring->wanted & MEASURE_HISTOGRAM ? (const uint32_t(*)[FILTER_LEVELS])(const void *)values : NULL;
    measures->columns = measuring->wanted & MEASURE_COLUMNS ? columns : NULL;
    measures->rows = measuring->wanted & MEASURE_ROWS ? rows : NULL;
}

typedef uint32_t counters[MEASURE_CHANNELS][FILTER_LEVELS];

// Loads pixels as words, because fewer loads are faster.
static void add_pixels(const uint8_t *row, int width, counters copies[COPIES])
{
    int x = 0;
    for (; x + COPIES <= width; x += COPIES) {
        uint64_t pairs[COPIES / 2];
        memcpy(pairs, row + 4 * (size_t)x, sizeof(pairs));
        for (int i = 0; i < COPIES / 2; i++) {
            const uint64_t pair = pairs[i];
            for (int k = 0; k < MEASURE_CHANNELS; k++) {
                copies[2 * i][k][pair >> 8 * k & 255]++;
                copies[2 * i + 1][k][pair >> (32 + 8 * k) & 255]++;
            }
        }
    }
    for (; x < width; x++) {
        for (int k = 0; k < MEASURE_CHANNELS; k++)
            copies[0][k][row[4 * (size_t)x + (size_t)k]]++;
    }
}

static uint32_t summed(const uint8_t *row, int x)
{
    uint32_t pixel;
    memcpy(&pixel, row + 4 * (size_t)x, sizeof(pixel));
    return pixel >> 8 * MEASURE_SUMMED & 255;
}

static void add_columns(const uint8_t *row, int width, uint32_t *restrict columns)
{
    for (int x = 0; x < width; x++)
        columns[x] += summed(row, x);
}

static uint32_t add_row(const uint8_t *row, int width)
{
    uint32_t sum = 0;
    for (int x = 0; x < width; x++)
        sum += summed(row, x);
    return sum;
}

static void count_strip(void *context, int strip)
{
    const struct job *job = context;
    const struct measuring *measuring = job->measuring;
    const int width = measuring->width, height = measuring->height;
    const int begin = height * strip / measuring->strips, end = height * (strip + 1) / measuring->strips;
    uint32_t *columns = job->columns + (size_t)strip * (size_t)width;
    counters copies[COPIES];
    if (job->measures.histogram)
        memset(copies, 0, sizeof(copies));
    for (int y = begin; y < end; y++) {
        const uint8_t *row = image_row(job->rgba, 0, y);
        if (job->measures.histogram)
            add_pixels(row, width, copies);
        if (job->measures.columns)
            add_columns(row, width, columns);
        if (job->measures.rows)
            job->rows[y] = add_row(row, width);
    }
    uint32_t *part = measuring->parts[strip][0];
    const uint32_t *copy = copies[0][0];
    for (int i = 0; job->measures.histogram && i < COUNTERS; i++)
        part[i] = copy[i] + copy[i + COUNTERS] + copy[i + 2 * COUNTERS] + copy[i + 3 * COUNTERS];
}

void measuring_run(struct measuring *measuring, const struct image *rgba, struct workers *workers, uint32_t *values)
{
    struct job job = {.measuring = measuring, .rgba = rgba};
    job.columns = values + count_histograms(measuring);
    job.rows = job.columns + count_columns(measuring);
    memset(values, 0, sizeof(*values) * measuring_values(measuring));
    measuring_give(measuring, values, &job.measures);
    for (int strip = 0; !workers && strip < measuring->strips; strip++)
        count_strip(&job, strip);
    if (workers)
        workers_run(workers, count_strip, &job, measuring->strips);
    for (int strip = 0; job.measures.histogram && strip < measuring->strips; strip++) {
        const uint32_t *part = measuring->parts[strip][0];
        for (int i = 0; i < MEASURE_CHANNELS * FILTER_LEVELS; i++)
            values[i] += part[i];
    }
}

void path_levels(const uint32_t histogram[MEASURE_CHANNELS][FILTER_LEVELS], struct path_levels *levels)
{
    *levels = (struct path_levels){0};
    for (int i = 0; i < MEASURE_CHANNELS; i++) {
        uint64_t pixels = 0, sum = 0;
        for (int level = 0; level < FILTER_LEVELS; level++) {
            if (histogram[i][level] == 0)
                continue;
            levels->least[i] = pixels == 0 ? level : levels->least[i];
            levels->most[i] = level;
            pixels += histogram[i][level];
            sum += (uint64_t)level * histogram[i][level];
        }
        levels->mean[i] = pixels > 0 ? (double)sum / (double)pixels : 0;
    }
}
