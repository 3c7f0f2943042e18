// measures.c: the measures of results on the host
#include "path/measures.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS = 16 }; // without strips

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

static void add_pixels(const uint8_t *row, int width, uint32_t histogram[MEASURE_CHANNELS][FILTER_LEVELS])
{
    for (int x = 0; x < width; x++) {
        for (int i = 0; i < MEASURE_CHANNELS; i++)
            histogram[i][row[4 * (size_t)x + (size_t)i]]++;
    }
}

static void count_strip(void *context, int strip)
{
    const struct job *job = context;
    const struct measuring *measuring = job->measuring;
    const int width = measuring->width, height = measuring->height;
    const int end = height * (strip + 1) / measuring->strips;
    memset(measuring->parts[strip], 0, sizeof(measuring->parts[strip]));
    for (int y = height * strip / measuring->strips; y < end; y++) {
        const uint8_t *row = image_row(job->rgba, 0, y);
        if (job->measures.histogram)
            add_pixels(row, width, measuring->parts[strip]);
        for (int x = 0; job->measures.columns && x < width; x++)
            job->columns[(size_t)strip * (size_t)width + (size_t)x] += row[4 * (size_t)x + MEASURE_SUMMED];
        for (int x = 0; job->measures.rows && x < width; x++)
            job->rows[y] += row[4 * (size_t)x + MEASURE_SUMMED];
    }
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
