// picture.c: reads and scales image files for filters
#include "filter/picture.h"

#include "filter/rows.h"
#include "filter/warp.h"
#include "image/imagefile.h"

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
    const int count = taps ? taps_count(map, from->width, from->height) : warp_count(map);
    int32_t *numbers = malloc(sizeof(*numbers) * (size_t)count);
    if (!numbers)
        return false;
    if (taps)
        taps_fill(map, from->width, from->height, numbers);
    else
        warp_fill(map, numbers);
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

// Replaces pixels by those of half the size, which are the means of four. Less than two pixels stay one.
static void halve(int32_t *pixels, int *width, int *height)
{
    const int from = *width, rows = *height;
    const uint8_t *bytes = (const uint8_t *)pixels;
    uint8_t *to = (uint8_t *)pixels; // never behind the rows that are read
    *width = (from + 1) / 2;
    *height = (rows + 1) / 2;
    for (int y = 0; y < *height; y++) {
        const uint8_t *above = bytes + 8 * (size_t)y * (size_t)from;
        const uint8_t *below = above + (2 * y + 1 < rows ? 4 * (size_t)from : 0);
        for (int x = 0; x < *width; x++) {
            const int left = 8 * x, right = left + (2 * x + 1 < from ? 4 : 0);
            for (int i = 0; i < 4; i++)
                *to++ = (uint8_t)((above[left + i] + above[right + i] + below[left + i] + below[right + i] + 2) / 4);
        }
    }
}

bool picture_cover(const struct file_resource *from, int width, int height, int32_t *to)
{
    struct file_resource copy;
    if (!picture_copy_of(from, &copy))
        return false;
    int32_t *pixels = copy.numbers;
    int across = copy.width, down = copy.height;
    while (across >= 2 * width && down >= 2 * height)
        halve(pixels, &across, &down);
    const double wide = (double)across / width, high = (double)down / height;
    const double step = wide < high ? wide : high; // pixels of `from` for one of the result
    const struct filter_map map = {
        .width = width,
        .height = height,
        .matrix = {step, 0, (across - 1 - step * (width - 1)) / 2, //
                   0, step, (down - 1 - step * (height - 1)) / 2, 0, 0, 1},
    };
    const struct warp_source source = source_of(pixels, across, down);
    const bool ok = run_map(&map, &source, to);
    free(pixels);
    return ok;
}
