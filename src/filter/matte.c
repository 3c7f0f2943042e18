// matte.c: earlier filters only where a program sees a person or a face, or only elsewhere
#include "matte/matte.h"
#include "filter/plan.h"
#include "filter/rows.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { MATTE_OF, MATTE_WHERE, MATTE_GROW, MATTE_FEATHER, MATTE_EDGE, MATTE_HOLD, MATTE_FILTERS };
enum {
    ARGUMENT_MIXES,
    ARGUMENT_BEHIND,
    ARGUMENT_STEP_X,
    ARGUMENT_STEP_Y,
    ARGUMENT_WIDTH,
    ARGUMENT_HEIGHT,
    ARGUMENT_NUMBERS
};
#define NONE "none"

static const struct param params[] = {
    {"name", PARAM_TEXT, .max = 1, .step = 1, .choices = NONE,
     .help = "person, faces (see `monocle matte`), or a program in ~/.config/monocle/mattes; with none, the filters "
             "apply everywhere"},
    {"where", PARAM_CHOICE, .max = 1, .step = 1, .choices = "front|behind",
     .help = "front: the filters apply to the people or faces; behind: to the rest; without a matte: everywhere"},
    {"grow", PARAM_REAL, .max = 10, .step = 0.5f, .help = "enlargement of the matte, in % of the image's width"},
    {"feather", PARAM_REAL, .max = 10, .step = 0.5f, .help = "width of the soft edge, in % of the image's width"},
    {"edge", PARAM_CHOICE, .max = 1, .step = 1, .choices = "image|plain",
     .help = "image: the matte's edge follows edges of the image; plain: it does not"},
    {"hold", PARAM_INT, .max = 5000, .step = 100,
     .help =
         "time in which a part of the matte disappears, in ms; a new part appears at once; 0: both change smoothly"},
    MASK_FILTERS,
    {0},
};

static const char *name_of(const struct filter_values *values)
{
    return values->value[MATTE_OF] > 0 ? values->file : NONE;
}

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    *why = "the name of a program has 1 to 32 letters, digits, '-' and '_'";
    arguments->spans = (int)values->value[MATTE_FILTERS];
    arguments->value[ARGUMENT_BEHIND] = values->value[MATTE_WHERE] > 0;
    arguments->count = ARGUMENT_NUMBERS + 1; // NVIDIA's compiler of GLSL refuses an index beyond the arguments
    return matte_name_ok(name_of(values));
}

static void fit(const struct filter_values *values, const struct stage_size *size, struct filter_arguments *arguments)
{
    const struct matte_size matte = matte_size(name_of(values), size->width, size->height);
    arguments->value[ARGUMENT_STEP_X] = (matte.width << 16) / size->width;
    arguments->value[ARGUMENT_STEP_Y] = (matte.height << 16) / size->height;
    arguments->value[ARGUMENT_WIDTH] = matte.width;
    arguments->value[ARGUMENT_HEIGHT] = matte.height;
    arguments->count = ARGUMENT_NUMBERS + 2 * matte.width * matte.height;
}

static bool fill(const struct stage *stage, const struct stage_size *size, int32_t *numbers, char why[FILTER_WHY])
{
    const char *name = name_of(&stage->values);
    return strcmp(name, NONE) == 0 || matte_ready(name, why);
}

// The stages before a kept picture.
struct before {
    const struct stage *stage;
    int count;
};

// Makes the luma of the kept picture from the small frame. Returns false if that is not enough, because a filter needs
// more than the colour of each pixel.
static bool make_luma(const void *context, const uint8_t *rgb, int count, uint8_t *luma)
{
    const struct before *before = context;
    uint8_t *rgba = xmalloc(4 * (size_t)count);
    bool ok = true;
    for (int i = 0; i < count; i++)
        memcpy(rgba + 4 * i, (const uint8_t[]){rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2], 255}, 4);
    for (int i = 0; i < before->count && ok; i++) {
        const struct stage *stage = &before->stage[i];
        const struct filter *filter = stage->filter;
        const struct row_variant *row = row_variant_choose(filter, &stage->arguments, count, 4, NULL);
        int angle;
        ok = filter->kind == FILTER_GEOMETRY || stage_turns(stage, &angle) ||
             (row && row->point && !filter->user && !filter->measured);
        if (ok && filter->kind == FILTER_POINT)
            row->point(&stage->arguments, rgba, rgba, count, false);
    }
    for (int i = 0; i < count; i++)
        luma[i] = (uint8_t)((77 * rgba[4 * i] + 150 * rgba[4 * i + 1] + 29 * rgba[4 * i + 2] + 128) >> 8);
    free(rgba);
    return ok;
}

static void turn_request(const struct before *before, struct matte_request *request)
{
    for (int i = 0, angle; i < before->count; i++) {
        stage_turns(&before->stage[i], &angle);
        for (; angle > 0; angle -= 90) { // exchanges rows and columns, then left and right
            const bool mirror = request->mirror;
            request->mirror = !request->flip;
            request->flip = mirror;
            request->transpose = !request->transpose;
        }
        request->mirror ^= before->stage[i].filter->mirror;
        request->flip ^= before->stage[i].filter->flip;
    }
}

static int follow(const struct stage *stage, const struct stage_size *size, const struct frame_time *frame_time,
                  int32_t *arguments)
{
    const struct filter_values *values = &stage->values;
    const char *name = name_of(values);
    const int width = stage->arguments.value[ARGUMENT_WIDTH];
    const struct plan *plan = frame_time->plan;
    const int number = (int)(stage - plan->stage), kept = plan->kept[number];
    const struct before before = {plan->stage, kept < number ? kept : number};
    struct matte_request request = {
        .name = name,
        .size = {width, stage->arguments.value[ARGUMENT_HEIGHT]},
        .frame = frame_time->picture,
        .source = frame_time->source,
        .number = frame_time->number,
        .time_ns = frame_time->time_ns,
        .wait_ms = frame_time->wait_ms,
        .luma = make_luma,
        .context = &before,
        .hold_ms = (int)values->value[MATTE_HOLD],
    };
    turn_request(&before, &request);
    const struct matte_edge edge = {
        .grow = (int)(values->value[MATTE_GROW] * width / 100 + 0.5f),
        .feather = (int)(values->value[MATTE_FEATHER] * width / 100 + 0.5f),
        .follows = values->value[MATTE_EDGE] == 0,
    };
    arguments[ARGUMENT_MIXES] = strcmp(name, NONE) != 0 && matte_numbers(&request, &edge, arguments + ARGUMENT_NUMBERS);
    return arguments[ARGUMENT_MIXES] ? stage->arguments.count : ARGUMENT_MIXES + 1;
}

extern const struct filter filter_matte;
const struct filter filter_matte = {
    .name = "matte",
    .summary = "limit the filters since `keep` to the people or faces of the picture, or to the rest",
    .example = "keep,blur=8,matte",
    .kind = FILTER_POINT,
    .second = SECOND_KEPT,
    .params = params,
    .prepare = prepare,
    .fit = fit,
    .fill = fill,
    .follow = follow,
};
