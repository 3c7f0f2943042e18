// picture.c: reads and scales image files for filters
#include "filter/picture.h"

#include "base/log.h"
#include "base/number.h"
#include "filter/chain.h"
#include "filter/rows.h"
#include "filter/warp.h"
#include "image/imagefile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void picture_file(const char *path, struct file_resource *made)
{
    struct image image;
    char why[IMAGEFILE_WHY];
    if (!imagefile_try(&image, path, why)) {
        snprintf(made->why, sizeof(made->why), "%.*s", FILTER_WHY - 1, why);
        return;
    }
    made->width = image.shape.width;
    made->height = image.shape.height;
    made->count = made->width * made->height;
    made->numbers = malloc(sizeof(*made->numbers) * (size_t)made->count);
    if (!made->numbers)
        snprintf(made->why, sizeof(made->why), "out of memory");
    for (int y = 0; made->numbers && y < made->height; y++)
        memcpy(made->numbers + (size_t)y * (size_t)made->width, image_row(&image, 0, y), 4 * (size_t)made->width);
    image_free(&image);
}

bool picture_copy_of(const struct file_resource *from, struct file_resource *to)
{
    const size_t bytes = sizeof(*to->numbers) * (size_t)from->count;
    *to = *from;
    to->numbers = malloc(bytes);
    if (to->numbers)
        memcpy(to->numbers, from->numbers, bytes);
    return to->numbers;
}

static struct warp_source source_of(const int32_t *pixels, int width, int height)
{
    return (struct warp_source){(const uint8_t *)pixels, 4 * (size_t)width, width, height};
}

// Makes the pixels of a map without or with taps. False: out of memory.
static bool run_map(const struct filter_map *map, const struct warp_source *from, int32_t *to)
{
    const bool taps = map->taps != TAPS_NONE;
    struct filter_map grid = *map;
    grid.shift = taps ? 0 : warp_shift(map, from->width, from->height);
    const int count = taps ? taps_count(map, from->width, from->height) : warp_count(&grid);
    int32_t *numbers = malloc(sizeof(*numbers) * (size_t)count);
    if (!numbers)
        return false;
    if (taps)
        taps_fill(map, from->width, from->height, numbers);
    else
        warp_fill(&grid, numbers);
    for (int y = 0; y < map->height; y++)
        (taps ? row_level()->taps : row_level()->warp)(numbers, from, y,
                                                       (uint8_t *)(to + (size_t)y * (size_t)map->width));
    free(numbers);
    return true;
}

bool picture_scale(const struct file_resource *from, int width, int height, int32_t *to)
{
    const struct warp_source source = source_of(from->numbers, from->width, from->height);
    const bool shrinks = width < from->width || height < from->height;
    struct filter_map map = {0};
    warp_scale_map(&map, from->width, from->height, width, height, shrinks ? TAPS_AREA : TAPS_NONE);
    if (map.taps == TAPS_NONE)
        return run_map(&map, &source, to);
    if (width == from->width || height == from->height) {
        map.part = width == from->width ? FILTER_ALONG_COLUMNS : FILTER_ALONG_ROWS;
        return run_map(&map, &source, to);
    }
    struct filter_map columns = map;
    columns.part = FILTER_ALONG_COLUMNS;
    columns.width = from->width;
    map.part = FILTER_ALONG_ROWS;
    int32_t *between = malloc(sizeof(*between) * (size_t)from->width * (size_t)height);
    const struct warp_source half = source_of(between, from->width, height);
    const bool ok = between && run_map(&columns, &source, between) && run_map(&map, &half, to);
    free(between);
    return ok;
}

bool picture_cover(const struct file_resource *from, int width, int height, int32_t *to, char why[FILTER_WHY])
{
    const double factor = fmax((double)width / from->width, (double)height / from->height);
    const double wide = fmax(floor(from->width * factor + 0.5), width);
    const double high = fmax(floor(from->height * factor + 0.5), height);
    if (wide * high > CHAIN_PIXELS_MAX) {
        snprintf(why, FILTER_WHY, "it is too long or too wide to cover the frame; crop it first");
        return false;
    }
    const int across = (int)wide, down = (int)high, left = (across - width) / 2, top = (down - height) / 2;
    int32_t *scaled = malloc(sizeof(*scaled) * (size_t)across * (size_t)down);
    const bool ok = scaled && picture_scale(from, across, down, scaled);
    for (int y = 0; ok && y < height; y++)
        memcpy(to + (size_t)y * (size_t)width, scaled + (size_t)(top + y) * (size_t)across + left,
               sizeof(*to) * (size_t)width);
    free(scaled);
    return ok;
}

bool picture_tile(const struct file_resource *from, int width, int height, int32_t *to, char why[FILTER_WHY])
{
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++)
            to[(size_t)y * (size_t)width + (size_t)x] = from->numbers[y % from->height * from->width + x % from->width];
    }
    return true;
}

// Returns the mask's number for a pixel of the file.
static int32_t mask_of(int32_t word, bool black)
{
    const int32_t red = word & 255, green = word >> 8 & 255, blue = word >> 16 & 255, alpha = word >> 24 & 255;
    const int32_t white = (((77 * red + 150 * green + 29 * blue + 128) >> 8) * alpha + 127) / 255;
    return black ? 255 - white : white;
}

// Sets each value of a line to the largest, or the mean, of those up to `radius` before and after it. `from` has
// `radius` more values on each side, and so has `scratch`.
static void change_line(const int32_t *from, int32_t *to, int32_t *scratch, int count, int radius, bool mean)
{
    const int span = 2 * radius + 1, all = count + 2 * radius;
    int32_t most = 0, sum = span / 2;
    for (int i = 0; mean && i < all; i++) {
        sum += from[i] - (i >= span ? from[i - span] : 0);
        if (i >= span - 1)
            to[i - span + 1] = sum / span;
    }
    for (int i = all - 1; !mean && i >= 0; i--) // to the end of its block of `span` values
        most = scratch[i] = i % span == span - 1 || from[i] > most ? from[i] : most;
    for (int i = 0; !mean && i < all; i++) { // from the begin of its block
        most = i % span == 0 || from[i] > most ? from[i] : most;
        if (i >= span - 1)
            to[i - span + 1] = most > scratch[i - span + 1] ? most : scratch[i - span + 1];
    }
}

// Changes rows, then columns. False: out of memory.
static bool change_lines(int32_t *mask, int width, int height, int radius, bool mean)
{
    const int longest = (width > height ? width : height) + 2 * radius;
    int32_t *from = malloc(3 * sizeof(*from) * (size_t)longest);
    if (!from)
        return false;
    int32_t *to = from + longest, *scratch = to + longest;
    for (int down = 0; radius > 0 && down < 2; down++) {
        const int count = down ? height : width, lines = down ? width : height;
        const size_t step = down ? (size_t)width : 1, next = down ? 1 : (size_t)width;
        for (int line = 0; line < lines; line++) {
            int32_t *at = mask + (size_t)line * next;
            for (int i = -radius; i < count + radius; i++)
                from[i + radius] = at[(size_t)clamp_int(i, 0, count - 1) * step];
            change_line(from, to, scratch, count, radius, mean);
            for (int i = 0; i < count; i++)
                at[(size_t)i * step] = to[i];
        }
    }
    free(from);
    return true;
}

static void invert(int32_t *mask, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mask[i] = 255 - mask[i];
}

// Grows (below 0: shrinks) the white parts, and softens their border. False: out of memory.
static bool soften(int32_t *mask, int width, int height, const float softness[2])
{
    const double shorter = width < height ? width : height;
    const int soft = (int)floor(shorter * (double)softness[1] / 400 + 0.5);
    const int grown = (int)floor(shorter * (double)softness[0] / 100 + 0.5) + 2 * soft;
    const size_t count = (size_t)width * (size_t)height;
    if (grown < 0)
        invert(mask, count);
    bool ok = change_lines(mask, width, height, abs(grown), false);
    if (grown < 0)
        invert(mask, count);
    for (int i = 0; ok && i < 2; i++)
        ok = change_lines(mask, width, height, soft, true);
    return ok;
}

// Warns once for each file if the sides of a mask are cut by more than 1 %.
static void warn_cut(const struct filter_values *values, int width, int height)
{
    char text[FILTER_FILE + 80];
    const double ratio = (double)width * values->resource->height / ((double)height * values->resource->width);
    if (ratio > 0.99 && ratio < 1.01)
        return;
    snprintf(text, sizeof(text), "the mask %s has another shape than the image: its sides are cut", values->file);
    log_warn_once(text);
}

int picture_mask_count(int width, int height)
{
    return (width + 3) / 4 * height;
}

bool picture_mask(const struct filter_values *values, int width, int height, const float softness[2], int32_t *to,
                  char why[FILTER_WHY])
{
    const float *value = values->value;
    const bool black = value[MASK_COLOR] != 0;
    if (!values->resource) {
        memset(to, 255, sizeof(*to) * (size_t)picture_mask_count(width, height));
        return true;
    }
    int32_t *words = malloc(sizeof(*words) * (size_t)width * (size_t)height);
    if (value[MASK_FIT] == 0)
        warn_cut(values, width, height);
    bool ok =
        words && (value[MASK_FIT] == 0 ? picture_cover : picture_tile)(values->resource, width, height, words, why);
    for (size_t i = 0; ok && i < (size_t)width * (size_t)height; i++)
        words[i] = mask_of(words[i], black);
    ok = ok && (!softness || soften(words, width, height, softness));
    for (int y = 0; ok && y < height; y++) {
        uint8_t *row = (uint8_t *)(to + picture_mask_count(width, y));
        for (int x = 0; x < width; x++)
            row[x] = (uint8_t)words[(size_t)y * (size_t)width + (size_t)x];
    }
    free(words);
    return ok;
}
