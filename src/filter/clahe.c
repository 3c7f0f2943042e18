// clahe.c: equalizes the histograms of tiles, with limited contrast
#include "filter/chain.h"
#include "filter/histogram.h"

#include <math.h>

enum { CLAHE_CLIP, CLAHE_TILES };
enum { ONE = 2048 }; // the weight of a tile at its centre (kernels/clahe.cl)

static const struct param params[] = {
    {"clip", PARAM_REAL, .max = 100, .preset = 2, .step = 0.25f,
     .help = "limit of the contrast: maximum count of a level, as a multiple of the mean count; 0: no limit"},
    {"tiles", PARAM_INT, .min = 1, .max = HISTOGRAM_TILES, .preset = 8, .step = 1,
     .help = "tiles in each row and column; more tiles adapt to smaller parts of the image"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->tiles = arguments->value[CLAHE_TILES_AT] = (int32_t)values->value[CLAHE_TILES];
    arguments->value[CLAHE_CLIP_AT] = (int32_t)floor(values->value[CLAHE_CLIP] * 100 + 0.5);
    arguments->count = CLAHE_TABLES_AT;
    return true;
}

static void fit(const struct filter_values *values, const struct stage_size *size, struct filter_arguments *arguments)
{
    const int columns_at = CLAHE_TABLES_AT + arguments->tiles * arguments->tiles * FILTER_LEVELS;
    arguments->value[CLAHE_COLUMNS_AT] = columns_at;
    arguments->value[CLAHE_ROWS_AT] = columns_at + size->width;
    arguments->count = columns_at + size->width + size->height;
}

// Fills in the tiles around each pixel of a row or column, and their weights.
static void find_tiles(int32_t *to, int count, int tile, int tiles)
{
    for (int x = 0; x < count; x++) {
        const int from_centre = 2 * x + tile, before = from_centre / (2 * tile) - 1; // twice; from the tile before
        const int weight = (from_centre % (2 * tile) * ONE + tile) / (2 * tile);
        const int left = before < 0 ? 0 : before;
        const int right = before + 1 < tiles ? before + 1 : tiles - 1;
        to[x] = left | right << 5 | weight << 10;
    }
}

static bool fill(const struct stage *stage, const struct stage_size *size, int32_t *numbers, char why[FILTER_WHY])
{
    const int levels = stage->arguments.tiles * stage->arguments.tiles * FILTER_LEVELS;
    for (int i = 0; i < levels; i++)
        numbers[CLAHE_TABLES_AT + i] = i % FILTER_LEVELS; // until a picture has been measured
    const struct histogram_parts tiles = histogram_parts_of(false, stage->arguments.tiles, size->width, size->height);
    find_tiles(numbers + numbers[CLAHE_COLUMNS_AT], size->width, tiles.width, tiles.tiles);
    find_tiles(numbers + numbers[CLAHE_ROWS_AT], size->height, tiles.height, tiles.tiles);
    return true;
}

extern const struct filter filter_clahe;
const struct filter filter_clahe = {
    .name = "clahe",
    .summary = "equalize the histogram of each part of the image, with limited contrast",
    .example = "clahe",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .params = params,
    .placed = true,
    .prepare = prepare,
    .measured = &(const struct filter_measured){.measure = clahe_measure},
    .fit = fit,
    .fill = fill,
};
