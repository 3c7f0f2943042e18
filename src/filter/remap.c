// remap.c: takes each pixel from the place that a file names: a PGM image with 8 or 16 bits, as text (P2) or bytes (P5)
#include "filter/chain.h"
#include "filter/file_resource.h"
#include "filter/warp.h"

#include "base/file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MOST = 1 << 30, VALUE_MOST = 65535 };

// The unread part of the file.
struct rest {
    const char *at, *end;
};

// Reads a whole number, after spaces and comments. -1: there is none, or it is too large.
static int take_number(struct rest *rest)
{
    int number = -1;
    while (rest->at < rest->end && (isspace((unsigned char)*rest->at) || *rest->at == '#')) {
        const bool comment = *rest->at == '#';
        while (comment && rest->at < rest->end && *rest->at != '\n')
            rest->at++;
        rest->at += rest->at < rest->end;
    }
    for (; rest->at < rest->end && isdigit((unsigned char)*rest->at); rest->at++) {
        number = 10 * (number < 0 ? 0 : number) + (*rest->at - '0');
        if (number > 2 * CHAIN_SIDE_MAX)
            return -1;
    }
    return number;
}

// Reads a value of this many bytes. -1: the file ends before.
static int take_bytes(struct rest *rest, int bytes)
{
    int value = 0;
    if (rest->end - rest->at < bytes)
        return -1;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | (unsigned char)*rest->at++;
    return value;
}

static const char *read_values(struct rest *rest, struct file_resource *made)
{
    const bool text = rest->end - rest->at > 2 && memcmp(rest->at, "P2", 2) == 0;
    if (!text && (rest->end - rest->at < 2 || memcmp(rest->at, "P5", 2) != 0))
        return "it is not a PGM image: it does not begin with P2 or P5";
    rest->at += 2;
    made->width = take_number(rest);
    made->height = take_number(rest);
    const int most = take_number(rest);
    if (made->width < 1 || made->height < 2 || made->width > CHAIN_SIDE_MAX || most < 1 || most > VALUE_MOST ||
        (int64_t)made->width * made->height > 2 * CHAIN_PIXELS_MAX)
        return "its size or maximum value is wrong or too large";
    if (made->height % 2 != 0)
        return "its height must be even: the upper half has x, the lower half has y";
    made->count = made->width * made->height;
    rest->at += !text && rest->at < rest->end; // the space after the header
    if (rest->end - rest->at < made->count)    // each value has a byte or more
        return "it ends too early";
    made->numbers = malloc(sizeof(*made->numbers) * (size_t)made->count);
    if (!made->numbers)
        return "out of memory";
    const int bytes = most > 255 ? 2 : 1;
    for (int i = 0; i < made->count; i++) {
        made->numbers[i] = text ? take_number(rest) : take_bytes(rest, bytes);
        if (made->numbers[i] < 0 || made->numbers[i] > most)
            return "it ends too early, or a value is wrong";
    }
    return NULL;
}

void place_read(const char *bytes, size_t size, struct file_resource *made)
{
    struct rest rest = {bytes, bytes + size};
    const char *why = read_values(&rest, made);
    if (!why)
        return;
    free(made->numbers);
    made->numbers = NULL;
    snprintf(made->why, sizeof(made->why), "%s", why);
}

static void place_file(const char *path, struct file_resource *made)
{
    size_t size = 0;
    char *bytes = file_read(path, FILE_MOST, &size);
    if (bytes)
        place_read(bytes, size, made);
    else
        snprintf(made->why, sizeof(made->why), "%s", file_read_error());
    free(bytes);
}

// ---- the filter ----

enum { REMAP_FILL = 1 };
enum { ARGUMENT_RED, ARGUMENT_GREEN, ARGUMENT_BLUE, ARGUMENT_WIDTH, ARGUMENT_BITS };
enum { BITS = 32 };

static const struct param params[] = {
    {"file", PARAM_FILE, .max = 1, .step = 1,
     .help = "PGM image, 8 or 16 bits: each pixel's place in the image, x in the upper half, y in the lower half"},
    {"fill", PARAM_COLOR, .max = COLOR_MAX, .step = COLOR_STEP,
     .help = "colour of pixels whose place is outside the image"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    filter_split_color(values->value[REMAP_FILL], arguments->value + ARGUMENT_RED);
    arguments->count = ARGUMENT_BITS + 1;
    return true;
}

static bool has_places(const struct filter_values *values)
{
    return values->resource && values->resource->numbers;
}

static void map(const struct filter_values *values, int width, int height, struct filter_map *map)
{
    map->width = has_places(values) ? values->resource->width : width;
    map->height = has_places(values) ? values->resource->height / 2 : height;
    memcpy(map->matrix, (double[]){1, 0, 0, 0, 1, 0, 0, 0, 1}, sizeof(map->matrix));
}

static void set_places(const struct filter_values *values, const struct filter_map *map, int32_t *nodes)
{
    const struct file_resource *places = values->resource;
    const size_t count = (size_t)map->width * (size_t)map->height, columns = (size_t)map->width + 1;
    for (size_t i = 0; has_places(values) && i < count; i++) {
        int32_t *node = nodes + 2 * (i / (size_t)map->width * columns + i % (size_t)map->width);
        node[0] = (places->numbers[i] < CHAIN_SIDE_MAX ? places->numbers[i] : 0) * 256;
        node[1] = (places->numbers[count + i] < CHAIN_SIDE_MAX ? places->numbers[count + i] : 0) * 256;
    }
}

static void fit(const struct filter_values *values, const struct stage_size *size, struct filter_arguments *arguments)
{
    arguments->value[ARGUMENT_WIDTH] = size->width;
    arguments->count = ARGUMENT_BITS + (int)((int64_t)size->width * size->height / BITS) + 1;
}

static bool fill(const struct stage *stage, const struct stage_size *size, int32_t *numbers, char why[FILTER_WHY])
{
    const struct file_resource *places = stage->values.resource;
    const int count = size->width * size->height;
    uint32_t *bits = (uint32_t *)numbers + ARGUMENT_BITS;
    for (int i = 0; places && i < count; i++) {
        if (places->numbers[i] >= size->from_width || places->numbers[count + i] >= size->from_height)
            bits[i / BITS] |= 1u << i % BITS;
    }
    return true;
}

extern const struct filter filter_remap;
const struct filter filter_remap = {
    .name = "remap",
    .summary = "take each pixel from the place that a file gives",
    .example = "remap",
    .usage = "remap=map.pgm",
    .kind = FILTER_WARP,
    .params = params,
    .placed = true,
    .reads = place_file,
    .prepare = prepare,
    .warp = &(const struct filter_warping){.map = map, .places = set_places},
    .fit = fit,
    .fill = fill,
};
