// variants.c: the table of kernel variants, and the function that chooses one
#include "path/variants.h"

#include "path/pass_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPUS (DEVICE_GPU | DEVICE_ACCELERATOR)

// The kernel files use the same numbers.
enum { BLOCK_WIDTH = 4, WORD_BYTES = 4 };

static int radius_of(const struct variant_pass *of)
{
    return of->pass->stencil ? of->pass->stencil->arguments.radius : 0;
}

static bool is_cpu(const struct variant_pass *of)
{
    return of->device->type & DEVICE_CPU;
}

static size_t round_up(size_t value, size_t step)
{
    return (value + step - 1) / step * step;
}

// Returns the launch of work-items that make blocks of pixels. Work-groups are at most as large as wanted and allowed.
static struct variant_launch blocks(int kernel, size_t width, size_t height, size_t block_width, size_t block_rows,
                                    size_t group_width, size_t group_height, size_t most)
{
    const size_t across = most < group_width ? most : group_width;
    const size_t down = most / across < group_height ? most / across : group_height;
    return (struct variant_launch){
        .kernel = kernel,
        .size = {round_up(width, across * block_width) / block_width, round_up(height, down * block_rows) / block_rows},
        .local = {across, down},
    };
}

static bool has_second(const struct variant_pass *of)
{
    return of->pass->second.kind != PICTURE_NONE;
}

// Some templates unroll the loops of a stencil, or load a square around each block. Only the generic template has a
// warp, the place of a pixel for a user's stencil, or a second picture.
static bool is_small(const struct variant_pass *of)
{
    const struct stage *stencil = of->pass->stencil;
    return !of->pass->warp && !has_second(of) && radius_of(of) <= WINDOW_RADIUS_MAX &&
           (!stencil ||
            (stencil->arguments.rows == radius_of(of) && !stencil->filter->user && !stencil->filter->separable));
}

// ---- generic: kernels/pass.cl ----

enum { GENERIC_WIDTH, GENERIC_HEIGHT };

static bool generic_fits(const struct variant_pass *of)
{
    return true;
}

// Returns true if the pass rotates by 90 degrees, so that rows of the output are columns of the input.
static bool is_turned(const struct pass *pass)
{
    const double *m = pass->map.matrix;
    return pass->warp && !pass->warp->filter->user && pass->map.taps == TAPS_NONE && fabs(m[0]) < fabs(m[1]) / 4;
}

// A CPU device runs a work-group as a loop. Long loops vectorise well. GPUs read parts of rows at once.
static void generic_preset(const struct variant_pass *of, int *value)
{
    const bool turned = is_turned(of->pass);
    value[GENERIC_WIDTH] = turned ? 8 : 32;
    value[GENERIC_HEIGHT] = turned ? 16 : 4;
    if (is_cpu(of)) {
        value[GENERIC_WIDTH] = 256;
        value[GENERIC_HEIGHT] = 1;
    }
}

static int generic_launches(const struct variant_pass *of, const int *value, size_t width, size_t height, size_t most,
                            struct variant_launch *launch)
{
    launch[0] = blocks(0, width, height, 1, 1, (size_t)value[GENERIC_WIDTH], (size_t)value[GENERIC_HEIGHT], most);
    return 1;
}

static const struct variant generic = {
    .name = "generic",
    .devices = UINT64_MAX,
    .file = "pass.cl",
    .kernel = {"pass"},
    .param = {{"GROUP_WIDTH", .values = {8, 16, 32, 64, 128, 256}}, {"GROUP_HEIGHT", .values = {1, 2, 4, 8, 16}}},
    .fits = generic_fits,
    .preset = generic_preset,
    .launches = generic_launches,
};

// ---- inside: kernels/variants/inside.cl ----

enum { INSIDE_GROUP, INSIDE_ROWS };
enum { KERNEL_INSIDE, KERNEL_SIDES };

static void inside_preset(const struct variant_pass *of, int *value)
{
    value[INSIDE_GROUP] = 256;
    value[INSIDE_ROWS] = 1;
}

// Returns the launch of exactly the columns x to x + width - 1, in work-groups of one row. `height` is in work-items.
static struct variant_launch columns(int kernel, size_t x, size_t width, size_t height, size_t group)
{
    return (struct variant_launch){kernel, {x, 0}, {width, height}, {group, 1}};
}

// Writes the launches of the inner columns (whole work-groups, then the columns that are left), of both sides, and of
// the rows that are left.
static int inside_launches(const struct variant_pass *of, const int *value, size_t width, size_t height, size_t most,
                           struct variant_launch *launch)
{
    const size_t radius = (size_t)radius_of(of), wanted = (size_t)value[INSIDE_GROUP];
    const size_t rows = (size_t)value[INSIDE_ROWS], tall = height / rows * rows;
    const size_t group = most < wanted ? most : wanted;
    const size_t side = radius < most ? radius : 1;
    if (width <= 2 * radius || tall == 0) {
        launch[0] = blocks(KERNEL_SIDES, width, height, 1, 1, group, 1, most);
        return 1;
    }
    const size_t inner = width - 2 * radius, whole = inner / group * group;
    int count = 0;
    if (whole > 0)
        launch[count++] = columns(KERNEL_INSIDE, radius, whole, tall / rows, group);
    if (inner > whole)
        launch[count++] = columns(KERNEL_INSIDE, radius + whole, inner - whole, tall / rows, inner - whole);
    if (radius > 0) {
        launch[count++] = columns(KERNEL_SIDES, 0, radius, tall, side);
        launch[count++] = columns(KERNEL_SIDES, width - radius, radius, tall, side);
    }
    if (tall < height) {
        launch[count] = blocks(KERNEL_SIDES, width, height - tall, 1, 1, group, 1, most);
        launch[count++].offset[1] = tall;
    }
    return count;
}

static const struct variant inside = {
    .name = "inside",
    .devices = DEVICE_CPU,
    .file = "variants/inside.cl",
    .macros = "#define UNROLL_LOOPS\n",
    .kernel = {[KERNEL_INSIDE] = "pass_inside", [KERNEL_SIDES] = "pass"},
    .param = {{"GROUP_WIDTH", .values = {32, 64, 128, 256, 512, 1024}}, {"ROWS", true, {1, 2, 3, 4}}},
    .fits = is_small,
    .preset = inside_preset,
    .launches = inside_launches,
};

// ---- window: kernels/variants/window.cl ----

enum { WINDOW_CPU_ITEMS = 256 };
enum { WINDOW_ROWS, WINDOW_GROUP_WIDTH, WINDOW_GROUP_HEIGHT, WINDOW_TILE, WINDOW_CONSTANT };
enum { TILE_NONE = 1, TILE_PLAIN, TILE_PADDED };
enum { CONSTANT_NONE = 1, CONSTANT_ARGUMENTS, CONSTANT_LOCAL };

// A window is in registers only if all loops over it are unrolled.
static bool window_fits(const struct variant_pass *of)
{
    return is_small(of) && !(of->pass->stencil && of->pass->stencil->arguments.loops);
}

// Returns the rows of a block, as measured on H100 and H200 for radius 1, 2, 3 and 4. More rows share more of the
// loaded pixels, but need more registers.
static int window_rows(const char *filter, int radius)
{
    static const struct {
        const char *filter;
        int rows[WINDOW_RADIUS_MAX];
    } own[] = {{"blur", {4, 8, 8, 8}}, {"convolve", {4, 6, 3, 2}}, {"sharpen", {8}}};
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
        if (strcmp(own[i].filter, filter) == 0)
            return own[i].rows[radius - 1];
    }
    return 4;
}

// Passes without a stencil write whole rows. Rows of an image are kept until the whole work-group writes them, so fewer
// rows are better. CPU devices run blocks only on request; they take seconds to compile large blocks.
static void window_preset(const struct variant_pass *of, int *value)
{
    const int radius = radius_of(of), rows = radius > 0 ? window_rows(of->pass->stencil->filter->name, radius) : 4;
    const bool flat = radius == 0 && !of->target->to_image;
    value[WINDOW_ROWS] = of->target->to_image && rows > 4 ? 4 : rows;
    if (is_cpu(of))
        value[WINDOW_ROWS] = 2;
    value[WINDOW_GROUP_WIDTH] = flat ? 128 : 32;
    value[WINDOW_GROUP_HEIGHT] = flat ? 1 : 4;
    value[WINDOW_TILE] = radius > 0 && pass_prepares_input(of->pass, of->target->format) ? TILE_PLAIN : TILE_NONE;
    value[WINDOW_CONSTANT] = CONSTANT_NONE;
}

// Returns true if the pass has arguments, and they fit the device's constant memory.
static bool constant_fits(const struct variant_pass *of)
{
    const size_t bytes = sizeof(int32_t) * (size_t)pass_argument_count(of->pass, of->target);
    return bytes > 0 && bytes <= of->device->constant_bytes;
}

// Without a stencil, the rows of a block must be a power of two. With one, a work-group must have an even number of
// rows. PoCL keeps the registers of a whole work-group on a thread's stack, up to 8 KiB for each work-item.
static bool window_allows(const struct variant_pass *of, const int *value)
{
    const int rows = value[WINDOW_ROWS];
    if (radius_of(of) == 0 ? (rows & (rows - 1)) != 0 || value[WINDOW_TILE] != TILE_NONE
                           : rows * value[WINDOW_GROUP_HEIGHT] % 2 != 0)
        return false;
    const size_t radius = (size_t)radius_of(of), width = (size_t)value[WINDOW_GROUP_WIDTH];
    const size_t height = (size_t)value[WINDOW_GROUP_HEIGHT], padding = value[WINDOW_TILE] == TILE_PADDED;
    const size_t stride = (width + 2 + padding) * BLOCK_WIDTH * WORD_BYTES;
    const size_t tile = value[WINDOW_TILE] == TILE_NONE ? 0 : stride * (height * (size_t)rows + 2 * radius);
    const size_t exchange = of->target->to_image ? 2 * BLOCK_WIDTH * WORD_BYTES * width * height : 0;
    return width * height <= of->device->max_work_group && (!is_cpu(of) || width * height <= WINDOW_CPU_ITEMS) &&
           tile + exchange <= of->device->local_bytes && (value[WINDOW_CONSTANT] == CONSTANT_NONE || constant_fits(of));
}

static int window_launches(const struct variant_pass *of, const int *value, size_t width, size_t height, size_t most,
                           struct variant_launch *launch)
{
    launch[0] = blocks(0, width, height, BLOCK_WIDTH, (size_t)value[WINDOW_ROWS], (size_t)value[WINDOW_GROUP_WIDTH],
                       (size_t)value[WINDOW_GROUP_HEIGHT], most);
    return 1;
}

static const struct variant window = {
    .name = "window",
    .devices = GPUS,
    .file = "variants/window.cl",
    .kernel = {"pass_window"},
    .wide_loads = true,
    .tiles = true,
    .windows = true,
    .param = {{"ROWS", true, {1, 2, 3, 4, 6, 8}},
              {"GROUP_WIDTH", true, {16, 32, 64, 128}},
              {"GROUP_HEIGHT", true, {1, 2, 4, 8}},
              {"TILE", true, {TILE_NONE, TILE_PLAIN, TILE_PADDED}},
              {"CONSTANT", true, {CONSTANT_NONE, CONSTANT_ARGUMENTS}}},
    .fits = window_fits,
    .preset = window_preset,
    .allows = window_allows,
    .launches = window_launches,
};

// ---- sums: kernels/variants/sums.cl ----

enum { SUMS_ITEMS, SUMS_ROWS };

static bool sums_fits(const struct variant_pass *of)
{
    return !has_second(of) && radius_of(of) > WINDOW_RADIUS_MAX && strcmp(of->pass->stencil->filter->name, "blur") == 0;
}

static void sums_preset(const struct variant_pass *of, int *value)
{
    value[SUMS_ITEMS] = 128;
    value[SUMS_ROWS] = 16;
}

// Local memory has two rows of sums: for each work-item two words per column and two words of totals.
static bool sums_allows(const struct variant_pass *of, const int *value)
{
    const size_t items = (size_t)value[SUMS_ITEMS], exchange = of->target->to_image ? BLOCK_WIDTH : 0;
    return items <= of->device->max_work_group &&
           2 * WORD_BYTES * items * (2 * BLOCK_WIDTH + 2 + exchange) <= of->device->local_bytes;
}

// A work-group walks down a strip. The outermost `margin` work-items on each side make no pixels.
static int sums_launches(const struct variant_pass *of, const int *value, size_t width, size_t height, size_t most,
                         struct variant_launch *launch)
{
    const size_t margin = ((size_t)radius_of(of) + BLOCK_WIDTH - 1) / BLOCK_WIDTH, items = (size_t)value[SUMS_ITEMS];
    const size_t wide = (items - 2 * margin) * BLOCK_WIDTH, rows = (size_t)value[SUMS_ROWS];
    launch[0] = (struct variant_launch){.size = {(width + wide - 1) / wide * items, (height + rows - 1) / rows},
                                        .local = {items, 1}};
    return 1;
}

static const struct variant sums = {
    .name = "sums",
    .devices = UINT64_MAX,
    .file = "variants/sums.cl",
    .kernel = {"pass_sums"},
    .wide_loads = true,
    .computes = true,
    .param = {{"ITEMS", true, {32, 64, 128, 256}}, {"ROWS", true, {8, 16, 32, 64, 128, 256}}},
    .fits = sums_fits,
    .preset = sums_preset,
    .allows = sums_allows,
    .launches = sums_launches,
};

// ---- local: kernels/variants/local.cl ----

enum { LOCAL_ROWS, LOCAL_GROUP_WIDTH, LOCAL_GROUP_HEIGHT, LOCAL_CONSTANT };
enum { LOCAL_ARGUMENTS = 1 << 10 }; // the most that local memory holds
enum { LOCAL_ITEMS = 256 };         // of a work-group, at most: with more, NVIDIA's driver has too few registers

static bool local_fits(const struct variant_pass *of)
{
    return of->pass->stencil && !of->pass->stencil->filter->user && !of->pass->warp && !has_second(of);
}

// Along columns, tall blocks share more of the rows above and below. All work-items of a group read the same weight at
// once, as constant memory needs it. Tables are read at different places.
static void local_preset(const struct variant_pass *of, int *value)
{
    const enum filter_part part = of->pass->stencil->arguments.part;
    const int count = pass_argument_count(of->pass, of->target);
    value[LOCAL_ROWS] = part == FILTER_WHOLE ? 2 : 4;
    if (part == FILTER_ALONG_COLUMNS)
        value[LOCAL_ROWS] = 8;
    value[LOCAL_GROUP_WIDTH] = part == FILTER_ALONG_ROWS ? 128 : 32;
    value[LOCAL_GROUP_HEIGHT] = part == FILTER_ALONG_ROWS ? 2 : 8;
    value[LOCAL_CONSTANT] = count < FILTER_LEVELS ? CONSTANT_ARGUMENTS : CONSTANT_LOCAL;
    if (count == 0 || count > LOCAL_ARGUMENTS)
        value[LOCAL_CONSTANT] = CONSTANT_NONE;
}

static bool local_allows(const struct variant_pass *of, const int *value)
{
    const struct filter_arguments *stencil = &of->pass->stencil->arguments;
    const size_t across = stencil->part == FILTER_ALONG_COLUMNS ? 0 : (size_t)stencil->radius;
    const size_t width = (size_t)value[LOCAL_GROUP_WIDTH], height = (size_t)value[LOCAL_GROUP_HEIGHT];
    const size_t pixels =
        (width + 2 * round_up(across, BLOCK_WIDTH)) * (height * (size_t)value[LOCAL_ROWS] + 2 * (size_t)stencil->rows);
    const size_t count = (size_t)pass_argument_count(of->pass, of->target);
    const bool local = value[LOCAL_CONSTANT] == CONSTANT_LOCAL;
    return width * height <= of->device->max_work_group && width * height <= LOCAL_ITEMS &&
           (value[LOCAL_CONSTANT] != CONSTANT_ARGUMENTS || constant_fits(of)) && (!local || count > 0) &&
           WORD_BYTES * (pixels + (local ? count : 0)) <= of->device->local_bytes;
}

static int local_launches(const struct variant_pass *of, const int *value, size_t width, size_t height, size_t most,
                          struct variant_launch *launch)
{
    launch[0] = blocks(0, width, height, 1, (size_t)value[LOCAL_ROWS], (size_t)value[LOCAL_GROUP_WIDTH],
                       (size_t)value[LOCAL_GROUP_HEIGHT], most);
    return 1;
}

static const struct variant local = {
    .name = "local",
    .devices = GPUS,
    .file = "variants/local.cl",
    .macros = "#define UNROLL_LOOPS\n",
    .kernel = {"pass_local"},
    .wide_loads = true,
    .tiles = true,
    .sizes = true,
    .param = {{"ROWS", true, {1, 2, 4, 8, 16}},
              {"GROUP_WIDTH", true, {16, 32, 64, 128, 256}},
              {"GROUP_HEIGHT", true, {1, 2, 4, 8, 16}},
              {"CONSTANT", true, {CONSTANT_NONE, CONSTANT_ARGUMENTS, CONSTANT_LOCAL}}},
    .fits = local_fits,
    .preset = local_preset,
    .allows = local_allows,
    .launches = local_launches,
};

bool variant_keeps_arguments(const struct variant_choice *choice)
{
    return choice->variant == &local && choice->value[LOCAL_CONSTANT] == CONSTANT_LOCAL;
}

const struct variant *const variants[] = {&window, &sums, &local, &inside, &generic, NULL};

// ---- choosing ----

static bool is_legal(const struct variant_param *param, int value)
{
    for (int i = 0; i < VARIANT_VALUES && param->values[i] != 0; i++) {
        if (param->values[i] == value)
            return true;
    }
    return false;
}

bool variant_fits(const struct variant_choice *choice, const struct variant_pass *of)
{
    const struct variant *variant = choice->variant;
    for (int i = 0; variant->param[i].name; i++) {
        if (!is_legal(&variant->param[i], choice->value[i]))
            return false;
    }
    return variant->fits(of) && (!variant->allows || variant->allows(of, choice->value));
}

struct variant_choice variant_preset(const struct variant *variant, const struct variant_pass *of)
{
    struct variant_choice choice = {.variant = variant};
    if (variant->fits(of))
        variant->preset(of, choice.value);
    return choice;
}

bool variant_accept(struct variant_choice *choice, const struct variant_pass *of,
                    bool (*trusted)(void *context, const struct variant_choice *choice), void *context)
{
    const struct variant_choice preset = variant_preset(choice->variant, of);
    for (int k = 0; k < VARIANT_PARAMS; k++)
        choice->value[k] = choice->value[k] != 0 ? choice->value[k] : preset.value[k];
    return variant_fits(choice, of) && (!trusted || choice->variant == &generic || trusted(context, choice));
}

struct variant_choice variant_choose(const struct variant_pass *of, const struct variant_choice *wanted,
                                     bool (*trusted)(void *context, const struct variant_choice *choice), void *context)
{
    for (int i = 0; variants[i] != &generic; i++) {
        const bool candidate =
            wanted->variant ? wanted->variant == variants[i] : (variants[i]->devices & of->device->type) != 0;
        if (!candidate)
            continue;
        struct variant_choice choice = *wanted;
        choice.variant = variants[i];
        if (variant_accept(&choice, of, trusted, context))
            return choice;
    }
    struct variant_choice choice = variant_preset(&generic, of);
    for (int k = 0; wanted->variant == &generic && k < VARIANT_PARAMS; k++) {
        if (is_legal(&generic.param[k], wanted->value[k]))
            choice.value[k] = wanted->value[k];
    }
    return choice;
}

// ---- text ----

bool variant_parse(struct variant_choice *choice, const char *text)
{
    *choice = (struct variant_choice){0};
    size_t length = strcspn(text, ":");
    for (int i = 0; variants[i] && !choice->variant; i++) {
        if (strlen(variants[i]->name) == length && memcmp(variants[i]->name, text, length) == 0)
            choice->variant = variants[i];
    }
    while (choice->variant && text[length] == ':') {
        text += length + 1;
        length = strcspn(text, ":");
        const size_t name = strcspn(text, "=");
        int i = 0;
        while (choice->variant->param[i].name && (strlen(choice->variant->param[i].name) != name ||
                                                  memcmp(choice->variant->param[i].name, text, name) != 0))
            i++;
        const size_t digits = name < length ? strspn(text + name + 1, "0123456789") : 0;
        const int value = digits > 0 && digits < 6 && name + 1 + digits == length ? atoi(text + name + 1) : 0;
        if (!choice->variant->param[i].name || !is_legal(&choice->variant->param[i], value))
            return false;
        choice->value[i] = value;
    }
    return choice->variant != NULL;
}

void variant_print(const struct variant_choice *choice, char text[VARIANT_TEXT])
{
    int used = snprintf(text, VARIANT_TEXT, "%s", choice->variant->name);
    for (int i = 0; choice->variant->param[i].name; i++) {
        if (choice->value[i] != 0)
            used += snprintf(text + used, VARIANT_TEXT - (size_t)used, ":%s=%d", choice->variant->param[i].name,
                             choice->value[i]);
    }
}
