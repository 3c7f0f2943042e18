// remap.c: takes each pixel from the place that a file names
#include "filter/chain.h"
#include "filter/place_file.h"
#include "filter/warp.h"

#include <string.h>

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
    .color = FILTER_COLORS,
    .params = params,
    .placed = true,
    .reads = place_file,
    .prepare = prepare,
    .map = map,
    .places = set_places,
    .fit = fit,
    .fill = fill,
};
