// measured.c: filters whose tables and levels come from a histogram of the input (histogram.h)
#include "filter/chain.h"
#include "filter/histogram.h"
#include "filter/tables.h"

#include <math.h>

extern const struct filter filter_equalize, filter_autolevels, filter_otsu, filter_grayworld, filter_clahe;

// ---- equalize: tones so that each is as frequent as the others ----

static bool prepare_table(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    tables_start(arguments);
    return true;
}

const struct filter filter_equalize = {
    .name = "equalize",
    .summary = "equalize the histogram: use all tones equally",
    .example = "equalize",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .table = true,
    .prepare = prepare_table,
    .measured = &(const struct filter_measured){.measure = equalize_measure},
};

// ---- autolevels: black and white points ----

static const struct param cut_params[] = {
    {"cut", PARAM_REAL, .max = 20, .preset = 0.5f, .step = 0.25f,
     .help = "share of the darkest pixels that become black, and of the brightest that become white, at most, in %"},
    {0},
};

static bool prepare_cut(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    tables_start(arguments);
    arguments->value[arguments->count++] = (int32_t)floor(values->value[0] * 100 + 0.5);
    return true;
}

const struct filter filter_autolevels = {
    .name = "autolevels",
    .summary = "set the black point and the white point by the histogram",
    .example = "autolevels=1",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .table = true,
    .params = cut_params,
    .prepare = prepare_cut,
    .measured = &(const struct filter_measured){.measure = autolevels_measure},
};

// ---- otsu: black and white by luma, at the level that separates dark and bright pixels best ----

enum { MIDDLE = 128 };

static bool prepare_level(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = 1;
    arguments->value[0] = MIDDLE; // until a picture has been measured
    return true;
}

const struct filter filter_otsu = {
    .name = "otsu",
    .summary = "black and white: split at the level of Otsu's method",
    .example = "otsu",
    .kind = FILTER_POINT,
    .color = FILTER_MAKES_GREY,
    .prepare = prepare_level,
    .measured = &(const struct filter_measured){.measure = otsu_measure},
};

// ---- grayworld: automatic white balance: the mean colour becomes grey ----

const struct filter filter_grayworld = {
    .name = "grayworld",
    .summary = "automatic white balance: make the mean colour grey",
    .example = "temperature=3500,grayworld",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .table = true,
    .prepare = prepare_table,
    .measured = &(const struct filter_measured){.measure = grayworld_measure, .colors = true},
};

// ---- clahe: equalizes the histograms of tiles, with limited contrast ----

enum { CLAHE_CLIP, CLAHE_TILES };
enum { ONE = 2048 }; // the weight of a tile at its centre (kernels/clahe.cl)

static const struct param clahe_params[] = {
    {"clip", PARAM_REAL, .max = 100, .preset = 2, .step = 0.25f,
     .help = "limit of the contrast: maximum count of a level, as a multiple of the mean count; 0: no limit"},
    {"tiles", PARAM_INT, .min = 1, .max = HISTOGRAM_TILES, .preset = 8, .step = 1,
     .help = "tiles in each row and column; more tiles adapt to smaller parts of the image"},
    {0},
};

static bool clahe_prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->tiles = arguments->value[CLAHE_TILES_AT] = (int32_t)values->value[CLAHE_TILES];
    arguments->value[CLAHE_CLIP_AT] = (int32_t)floor(values->value[CLAHE_CLIP] * 100 + 0.5);
    arguments->count = CLAHE_TABLES_AT;
    return true;
}

static void clahe_fit(const struct filter_values *values, const struct stage_size *size,
                      struct filter_arguments *arguments)
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

static bool clahe_fill(const struct stage *stage, const struct stage_size *size, int32_t *numbers, char why[FILTER_WHY])
{
    const int levels = stage->arguments.tiles * stage->arguments.tiles * FILTER_LEVELS;
    for (int i = 0; i < levels; i++)
        numbers[CLAHE_TABLES_AT + i] = i % FILTER_LEVELS; // until a picture has been measured
    const struct histogram_parts tiles = histogram_parts_of(false, stage->arguments.tiles, size->width, size->height);
    find_tiles(numbers + numbers[CLAHE_COLUMNS_AT], size->width, tiles.width, tiles.tiles);
    find_tiles(numbers + numbers[CLAHE_ROWS_AT], size->height, tiles.height, tiles.tiles);
    return true;
}

const struct filter filter_clahe = {
    .name = "clahe",
    .summary = "equalize the histogram of each part of the image, with limited contrast",
    .example = "clahe",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .params = clahe_params,
    .placed = true,
    .prepare = clahe_prepare,
    .measured = &(const struct filter_measured){.measure = clahe_measure},
    .fit = clahe_fit,
    .fill = clahe_fill,
};
