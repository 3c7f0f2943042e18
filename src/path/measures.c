// measures.c: measures of results and histograms of pictures, on the host
#include "path/measures.h"

#include "base/alloc.h"
#include "filter/histogram.h"
#include "filter/rows.h"

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

void measuring_open(struct measuring *measuring, const struct path_setup *setup, int width, int height, bool host)
{
    *measuring = (struct measuring){.wanted = setup->measures,
                                    .strips = setup->measures & MEASURE_COLUMNS ? setup->strips : PARTS,
                                    .width = width,
                                    .height = height};
    if (host && setup->measures)
        measuring->parts = xcalloc((size_t)measuring->strips, sizeof(*measuring->parts));
}

void measuring_close(struct measuring *measuring)
{
    free(measuring->parts);
}

// Returns the number of a measure's values in a result; 0: it is not wanted.
static size_t count_values(const struct measuring *measuring, enum path_measure measure)
{
    const size_t width = (size_t)measuring->width, height = (size_t)measuring->height;
    if (!(measuring->wanted & measure))
        return 0;
    switch (measure) {
    case MEASURE_HISTOGRAM:
        return COUNTERS;
    case MEASURE_COLUMNS:
        return (size_t)measuring->strips * width;
    case MEASURE_ROWS:
        return height;
    case MEASURE_END:
        break;
    }
    return 0;
}

size_t measuring_at(const struct measuring *measuring, enum path_measure measure)
{
    size_t at = 0;
    for (unsigned before = 1; before < measure; before *= 2)
        at += count_values(measuring, before);
    return at;
}

size_t measuring_values(const struct measuring *measuring)
{
    return measuring_at(measuring, MEASURE_END);
}

static const uint32_t *values_of(const struct measuring *measuring, const uint32_t *values, enum path_measure measure)
{
    return measuring->wanted & measure ? values + measuring_at(measuring, measure) : NULL;
}

void measuring_give(const struct measuring *measuring, const uint32_t *values, struct path_measures *measures)
{
    measures->histogram =
        (const uint32_t(*)[FILTER_LEVELS])(const void *)values_of(measuring, values, MEASURE_HISTOGRAM);
    measures->columns = values_of(measuring, values, MEASURE_COLUMNS);
    measures->rows = values_of(measuring, values, MEASURE_ROWS);
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
    job.columns = values + measuring_at(measuring, MEASURE_COLUMNS);
    job.rows = values + measuring_at(measuring, MEASURE_ROWS);
    memset(values, 0, sizeof(*values) * measuring_values(measuring));
    measuring_give(measuring, values, &job.measures);
    for (int strip = 0; !workers && strip < measuring->strips; strip++)
        count_strip(&job, strip);
    if (workers)
        workers_run(workers, count_strip, &job, measuring->strips);
    uint32_t *histogram = values + measuring_at(measuring, MEASURE_HISTOGRAM);
    for (int strip = 0; job.measures.histogram && strip < measuring->strips; strip++) {
        const uint32_t *part = measuring->parts[strip][0];
        for (int i = 0; i < COUNTERS; i++)
            histogram[i] += part[i];
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

// ---- histograms of inputs ----

// Spans of a tile's rows or columns: one inside the picture, and one for each row or column beyond it. A tile has at
// most HISTOGRAM_TILES rows or columns beyond the picture.
enum { SPANS = 1 + HISTOGRAM_TILES };
enum { LUMA = -1 };

struct places {
    int first, end;
};

static void count_row(const uint8_t *at, int shift, int width, uint32_t copies[COPIES][FILTER_LEVELS])
{
    int x = 0;
    for (; x + COPIES <= width; x += COPIES) {
        uint64_t pairs[COPIES / 2]; // of pixels: fewer loads are faster
        memcpy(pairs, at + 4 * (size_t)x, sizeof(pairs));
        for (int i = 0; i < COPIES / 2; i++) {
            copies[2 * i][pairs[i] >> shift & 255]++;
            copies[2 * i + 1][pairs[i] >> (32 + shift) & 255]++;
        }
    }
    for (; x < width; x++)
        copies[0][at[4 * (size_t)x + (size_t)shift / 8]]++;
}

static void count_pixels(const struct histogram_rows *rows, struct places down, struct places across, int channel,
                         uint32_t counts[FILTER_LEVELS])
{
    const int width = across.end - across.first;
    const struct filter_arguments arguments = {0}; // the mode luma
    const struct row_variant *luma = row_variant_choose(filter_find("gray"), &arguments, width, 4, NULL);
    uint32_t copies[COPIES][FILTER_LEVELS] = {0};
    for (int y = down.first; y < down.end; y++) {
        const uint8_t *at = image_row(rows->rgba, 0, y - rows->top) + 4 * (size_t)across.first;
        if (channel == LUMA && !rows->grey) {
            luma->point(&arguments, at, rows->scratch, width, false);
            at = rows->scratch;
        }
        count_row(at, channel == LUMA || rows->grey ? 0 : 8 * channel, width, copies);
    }
    for (int i = 0; i < FILTER_LEVELS; i++)
        counts[i] += copies[0][i] + copies[1][i] + copies[2][i] + copies[3][i];
}

// Writes the rows or columns of the picture that a tile counts. The tile has `count` of them from `first` on; the
// picture has `all`. Leaves out the rows or columns that are not `within`. Returns the number of spans.
static int find_spans(int first, int count, int all, struct places within, struct places spans[SPANS])
{
    const int end = first + count, last = end < all ? end : all;
    int found = 0;
    spans[0].first = first > within.first ? first : within.first;
    spans[0].end = last < within.end ? last : within.end;
    found += spans[0].first < spans[0].end;
    for (int at = first > all ? first : all; at < end; at++) {
        const int place = histogram_mirrored(at, all);
        if (place >= within.first && place < within.end)
            spans[found++] = (struct places){place, place + 1};
    }
    return found;
}

void histogram_add(const struct histogram_parts *counted, const struct histogram_rows *rows,
                   uint32_t (*counts)[FILTER_LEVELS])
{
    const int width = rows->rgba->shape.width;
    for (int part = 0; part < counted->parts; part++) {
        const int tile = counted->colors ? 0 : part;
        const int channel = counted->colors ? part : LUMA;
        struct places across[SPANS], down[SPANS];
        const int columns = find_spans(tile % counted->tiles * counted->width, counted->width, width,
                                       (struct places){0, width}, across);
        const int lines = find_spans(tile / counted->tiles * counted->height, counted->height, rows->height,
                                     (struct places){rows->first, rows->end}, down);
        for (int i = 0; i < lines * columns; i++)
            count_pixels(rows, down[i / columns], across[i % columns], channel, counts[part]);
    }
}
