// plan.c: cuts a chain into fused passes
#include "filter/plan.h"

#include "base/text.h"
#include "filter/histogram.h"
#include "filter/user_filter.h"
#include "filter/warp.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct filter filter_premultiply, filter_unpremultiply, filter_veil, filter_weigh, filter_unweigh,
    filter_reveal;

const size_t pass_pixel_bytes[] = {[PASS_RGBA] = 4, [PASS_GREY] = 1};

static struct pass *next_pass(struct plan *plan)
{
    struct pass *pass = &plan->pass[plan->count++];
    *pass = (struct pass){0};
    return pass;
}

static void add_name(struct pass *pass, const char *name)
{
    text_append(pass->name, sizeof(pass->name), "%s%s", text_if(pass->name[0], "+"), name);
}

// Names a pass after its filters.
static void name_pass(struct pass *pass)
{
    pass->name[0] = '\0';
    for (int i = 0; i < pass->before_count; i++)
        add_name(pass, pass->before[i]->filter->name);
    if (pass->stencil)
        add_name(pass, pass->stencil->filter->name);
    if (pass->warp)
        add_name(pass, pass->warp->filter->name);
    for (int i = pass->warp && pass->warp->filter->placed; i < pass->after_count; i++) // the warp has the first one
        add_name(pass, pass->after[i]->filter->name);
    if (pass->load_mirror || pass->store_mirror)
        add_name(pass, "mirror");
    if (pass->load_flip || pass->store_flip)
        add_name(pass, "flip");
    if (!pass->name[0])
        add_name(pass, "convert");
}

static bool has_placed(const struct stage *const *stages, int count)
{
    for (int i = 0; i < count; i++) {
        if (filter_is_placed(stages[i]->filter))
            return true;
    }
    return false;
}

bool pass_has_size(const struct pass *pass)
{
    return pass->warp || pass_measures(pass) || has_placed(pass->before, pass->before_count) ||
           has_placed(&pass->stencil, pass->stencil ? 1 : 0) || has_placed(pass->after, pass->after_count);
}

// Returns true if a placed filter is or will be on the wrong side of a change of geometry: the pass changes its load
// before the filters `before`, and its store after the filters `after`.
static bool moves_placed(const struct pass *pass, const struct filter *next)
{
    const bool loads = !pass->stencil && !pass->warp, stores = pass->store_mirror || pass->store_flip;
    return (next->kind == FILTER_GEOMETRY && loads && has_placed(pass->before, pass->before_count)) ||
           (filter_is_placed(next) && next->kind == FILTER_POINT && stores);
}

// Moves a change of geometry across point filters, which do not depend on a pixel's place: to the pass's load before
// the stencil, to its store after it.
static void add_geometry(struct pass *pass, const struct filter *filter)
{
    if (pass->stencil || pass->warp) {
        pass->store_mirror ^= filter->mirror;
        pass->store_flip ^= filter->flip;
    } else {
        pass->load_mirror ^= filter->mirror;
        pass->load_flip ^= filter->flip;
    }
}

const struct stage *const *pass_points(const struct pass *pass, int *count)
{
    const bool behind = pass->stencil || pass->warp;
    *count = behind ? pass->after_count : pass->before_count;
    return behind ? pass->after : pass->before;
}

bool pass_remembers(const struct pass *pass)
{
    int count;
    const struct stage *const *points = pass_points(pass, &count);
    return count > 0 && filter_gets_previous(points[count - 1]->filter);
}

int pass_warp_count(const struct pass *pass)
{
    return pass->map.taps == TAPS_NONE ? warp_count(&pass->map)
                                       : taps_count(&pass->map, pass->from_width, pass->from_height);
}

void pass_warp_fill(const struct pass *pass, int32_t *arguments)
{
    const struct stage *stage = pass->warp;
    if (pass->map.taps == TAPS_NONE)
        warp_fill(&pass->map, arguments);
    else
        taps_fill(&pass->map, pass->from_width, pass->from_height, arguments);
    if (stage->filter->warp->places)
        stage->filter->warp->places(&stage->values, &pass->map, arguments + WARP_GRID_AT);
}

bool pass_measures(const struct pass *pass)
{
    return pass->before_count > 0 && pass->before[0]->filter->measured;
}

struct histogram_parts pass_histograms(const struct pass *pass)
{
    const struct stage *stage = pass->before[0];
    return histogram_parts_of(stage->filter->measured->colors, stage->arguments.tiles, pass->from_width,
                              pass->from_height);
}

// Returns true if the pass does nothing yet but load.
static bool is_empty(const struct pass *pass)
{
    return !pass->stencil && !pass->warp && pass->before_count == 0 && !pass->load_mirror && !pass->load_flip;
}

// Sets the arguments of a pass's stage that depend on the sizes.
static void fit(struct plan *plan, const struct stage *stage, const struct pass *pass)
{
    if (filter_returns(stage->filter))
        return;
    const ptrdiff_t number = stage - plan->stage;
    plan->size[number] = (struct stage_size){pass->from_width, pass->from_height, pass->width, pass->height};
    if (stage->filter->fit)
        stage->filter->fit(&stage->values, &plan->size[number], &plan->stage[number].arguments);
}

static void free_numbers(struct plan *plan)
{
    for (int i = 0; i < plan->stages; i++) {
        free(plan->stage[i].arguments.resource);
        plan->stage[i].arguments.resource = NULL;
    }
}

bool plan_fill(struct plan *plan, char error[CHAIN_ERROR])
{
    for (int i = 0; i < plan->stages; i++) {
        struct stage *stage = &plan->stage[i];
        struct filter_arguments *arguments = &stage->arguments;
        const int count = arguments->count, few = count < FILTER_ARGUMENTS ? count : FILTER_ARGUMENTS;
        if (!stage->filter->fill)
            continue;
        arguments->resource = calloc((size_t)count + 1, sizeof(*arguments->resource));
        if (arguments->resource)
            memcpy(arguments->resource, arguments->value, sizeof(*arguments->value) * (size_t)few);
        char why[FILTER_WHY] = "out of memory";
        const struct file_resource *file = stage->values.resource;
        const bool refused = filter_file_wanted(stage->filter, &stage->values) && !(file && file->numbers);
        if (refused && file)
            memcpy(why, file->why, sizeof(why));
        if (!arguments->resource || refused || !stage->filter->fill(stage, &plan->size[i], arguments->resource, why)) {
            snprintf(error, CHAIN_ERROR, "%s: cannot use the file '%.90s': %s", stage->filter->name, stage->values.file,
                     why);
            free_numbers(plan);
            return false;
        }
    }
    return true;
}

void plan_free(struct plan *plan)
{
    free_numbers(plan);
    chain_release(&plan->chain);
}

bool stage_follows(const struct stage *stage)
{
    return stage->filter->follow;
}

void plan_set_frame_time(struct plan *plan, const struct frame_time *frame_time)
{
    struct frame_time seen = *frame_time;
    seen.plan = plan;
    for (int i = 0; i < plan->stages; i++) {
        struct stage *stage = &plan->stage[i];
        struct filter_arguments *arguments = &stage->arguments;
        if (stage->filter->follow)
            arguments->followed = stage->filter->follow(stage, &plan->size[i], &seen, filter_own_numbers(arguments));
    }
}

// Makes two passes of a warp by taps. Returns the first one; the second one, along rows, has the filters after the
// warp.
static struct pass *split_taps(struct plan *plan, int number)
{
    struct pass *columns = &plan->pass[number], *rows = columns + 1;
    memmove(rows, columns, (size_t)(plan->count++ - number) * sizeof(*columns));
    columns->after_count = 0;
    columns->store_mirror = columns->store_flip = false;
    return columns;
}

// Sets the map of a warp that returns to the size of the input of the same stage's first pass.
static void return_to(struct plan *plan, int number, int width, int height)
{
    struct pass *pass = &plan->pass[number], *first = pass;
    while (first > plan->pass && first[-1].warp == pass->warp)
        first--;
    warp_scale_map(&pass->map, width, height, first->from_width, first->from_height, TAPS_NEAREST);
}

// Sets the map of a warp for an input of this size. A warp by taps is one pass for each side that changes. Columns are
// first, because that is faster on CPUs for pictures that shrink.
static void set_map(struct plan *plan, int number, int width, int height)
{
    struct pass *pass = &plan->pass[number];
    if (pass->map.part == FILTER_ALONG_ROWS) // split_taps has copied it
        return;
    pass->map = (struct filter_map){0};
    if (pass->returns)
        return_to(plan, number, width, height);
    else
        pass->warp->filter->warp->map(&pass->warp->values, width, height, &pass->map);
    if (pass->map.taps == TAPS_NONE) {
        const bool given = pass->warp->filter->user || pass->warp->filter->warp->places;
        pass->map.shift = given ? 0 : warp_shift(&pass->map, width, height);
        return;
    }
    pass->map.part = FILTER_ALONG_ROWS;
    if (pass->map.width == width) {
        pass->map.part = FILTER_ALONG_COLUMNS;
    } else if (pass->map.height != height) {
        pass = split_taps(plan, number);
        pass->map.part = FILTER_ALONG_COLUMNS;
        pass->map.width = width;
    }
}

// Sets the sizes of the passes, and the maps of the warps.
static void set_sizes(struct plan *plan, int width, int height)
{
    for (int i = 0; i < plan->count; i++) {
        struct pass *pass = &plan->pass[i];
        pass->from_width = width;
        pass->from_height = height;
        if (pass->warp) {
            set_map(plan, i, width, height);
            width = pass->map.width;
            height = pass->map.height;
        }
        pass->width = width;
        pass->height = height;
        for (int k = 0; k < pass->before_count; k++)
            fit(plan, pass->before[k], pass);
        if (pass->stencil)
            fit(plan, pass->stencil, pass);
        for (int k = 0; k < pass->after_count; k++)
            fit(plan, pass->after[k], pass);
        if (pass->warp)
            fit(plan, pass->warp, pass);
    }
}

// Adds a stage, or both parts of a separable one.
static void add_stage(struct plan *plan, const struct stage *stage)
{
    plan->kept[plan->stages] = -1;
    struct stage *rows = &plan->stage[plan->stages++];
    *rows = *stage;
    rows->arguments.resource = NULL; // that of another plan
    rows->arguments.kept = KEPT_PIXEL;
    if (!stage->filter->separable || stage->arguments.whole || stage->arguments.part != FILTER_WHOLE)
        return;
    plan->kept[plan->stages] = -1;
    struct stage *columns = &plan->stage[plan->stages++];
    rows->arguments.part = FILTER_ALONG_ROWS;
    *columns = *rows;
    columns->arguments.part = FILTER_ALONG_COLUMNS;
    columns->arguments.rows = rows->arguments.radius;
    columns->arguments.value[0] = 1;
}

static const struct stage *add_weight(struct plan *plan, const struct filter *filter)
{
    const struct stage stage = {.filter = filter};
    add_stage(plan, &stage);
    return &plan->stage[plan->stages - 1];
}

// Adds the steps of a stage.
static void add_steps(struct plan *plan, const struct stage *stage)
{
    struct filter_step steps[FILTER_STEPS] = {0};
    const int count = stage->filter->steps(&stage->values, steps);
    for (int i = 0; i < count; i++) {
        struct stage step = {.filter = steps[i].filter};
        const char *why;
        memcpy(step.values.value, steps[i].value, sizeof(steps[i].value));
        stage_prepare(&step, &why);
        add_stage(plan, &step);
    }
}

// Returns true if the stage changes nothing in a plan.
static bool is_marker(const struct stage *stage)
{
    return strcmp(stage->filter->name, "none") == 0 || strcmp(stage->filter->name, "keep") == 0;
}

// Returns true if one list of point filters may have the stage in the middle.
static bool is_plain(const struct stage *stage)
{
    return stage->filter->kind == FILTER_POINT && !filter_gets_previous(stage->filter) &&
           !(filter_is_mask(stage->filter) && stage->arguments.kept != KEPT_PIXEL);
}

// Finds where the mask `number` will find its kept picture: none is stored for filters of one list.
static void find_kept(struct plan *plan, int number, int first)
{
    const struct stage *begin = &plan->stage[first];
    plan->kept[number] = first;
    enum kept kept = begin->filter->kind == FILTER_STENCIL ? KEPT_CENTRE : KEPT_PICTURE;
    if (is_plain(begin))
        kept = KEPT_PIXEL;
    for (int i = first + 1; i < number; i++)
        kept = is_plain(&plan->stage[i]) && !plan->stage[i].filter->measured ? kept : KEPT_PICTURE;
    plan->stage[number].arguments.kept = kept;
    plan->stage[number].arguments.back = number - first;
}

// Returns the matte that weighs the colours of filters from stage `first` on, its kept picture; -1: none. Until then,
// no other filter gets a kept picture, and none changes alpha.
static int find_matte(const struct chain *chain, int first)
{
    int matte = -1;
    bool weighs = false;
    for (int i = chain->count - 1; i > first; i--) {
        const struct stage *stage = &chain->stage[i];
        if (filter_sees_frame(stage->filter) && !stage->arguments.weighed && chain_kept(chain, i) == first)
            matte = i;
    }
    for (int i = first; i < matte; i++) {
        const struct filter *filter = chain->stage[i].filter;
        if (filter->alpha == ALPHA_CHANGES || filter_is_mask(filter))
            return -1;
        weighs = weighs || filter->alpha == ALPHA_WEIGHS;
    }
    for (int i = matte + 1; weighs && i < chain->count; i++) {
        const int kept = filter_is_mask(chain->stage[i].filter) ? chain_kept(chain, i) : matte;
        weighs = kept < first || kept >= matte;
    }
    return weighs ? matte : -1;
}

// The matte whose numbers weigh colours, while a plan adds the stages from its kept picture on.
struct matte_weights {
    int matte;    // its number in the chain; -1: none
    int kept;     // the stage whose input is the kept picture, with 255 minus the numbers as alpha
    bool weighed; // the colours are multiplied
};

static void add_kept(struct plan *plan, const struct filter *filter, int kept)
{
    add_weight(plan, filter);
    find_kept(plan, plan->stages - 1, kept);
}

// Begins the weights at stage `first` of the chain, if a matte has them.
static void begin_weights(struct plan *plan, struct matte_weights *weights, int first)
{
    weights->matte = find_matte(&plan->chain, first);
    if (weights->matte < 0)
        return;
    const int veil = plan->stages;
    add_weight(plan, &filter_veil);
    add_stage(plan, &plan->chain.stage[weights->matte]);
    find_kept(plan, plan->stages - 1, veil);
    weights->kept = plan->stages;
}

// Multiplies colours by the weights before stencils that these weigh, and divides colours after them.
static void turn_weights(struct plan *plan, struct matte_weights *weights, bool weighs)
{
    if (weighs != weights->weighed)
        add_kept(plan, weighs ? &filter_weigh : &filter_unweigh, weights->kept);
    weights->weighed = weighs;
}

// Adds a stencil that makes alpha, too.
static void add_with_alpha(struct plan *plan, const struct stage *stage)
{
    struct stage weighed = *stage;
    weighed.arguments.alpha = true;
    add_stage(plan, &weighed);
}

// Adds a stencil whose colours alpha weighs.
static void add_weighed(struct plan *plan, const struct stage *stage)
{
    add_weight(plan, &filter_premultiply);
    add_with_alpha(plan, stage);
    add_weight(plan, &filter_unpremultiply);
}

// Adds a stage of the chain. `opaque`: the stage's input is.
static void add_any(struct plan *plan, const struct stage *stage, bool matte_weighs, bool opaque)
{
    if (stage->filter->steps)
        add_steps(plan, stage);
    else if (matte_weighs)
        add_with_alpha(plan, stage);
    else if (stage->filter->alpha == ALPHA_WEIGHS && !stage->arguments.weighed && !opaque)
        add_weighed(plan, stage);
    else
        add_stage(plan, stage);
}

// Makes the stages of the plan from those of the chain. `opaque`: as in plan_make.
static void add_stages(struct plan *plan, bool opaque)
{
    int first[CHAIN_MAX]; // the plan's number of each stage of the chain
    struct matte_weights weights = {-1, 0, false};
    for (int i = 0; i < plan->chain.count; i++) {
        const struct stage *stage = &plan->chain.stage[i];
        first[i] = plan->stages;
        if (weights.matte < 0 && opaque)
            begin_weights(plan, &weights, i);
        if (is_marker(stage))
            continue;
        if (weights.matte >= 0)
            turn_weights(plan, &weights, stage->filter->alpha == ALPHA_WEIGHS);
        if (weights.matte == i) {
            add_kept(plan, &filter_reveal, weights.kept);
            weights.matte = -1;
            continue;
        }
        add_any(plan, stage, weights.weighed, opaque);
        if (weights.matte >= 0) // alpha is the veil's, and weighs nothing
            plan->stage[plan->stages - 1].arguments.weighed = true;
        opaque = opaque && stage->filter->alpha != ALPHA_CHANGES;
        if (filter_is_mask(stage->filter))
            find_kept(plan, plan->stages - 1, first[chain_kept(&plan->chain, i)]);
    }
}

// Returns true if the output of point filters is opaque, given whether their input is.
static bool leave_opaque(const struct stage *const *stages, int count, bool opaque)
{
    for (int i = 0; i < count; i++)
        opaque = stages[i]->filter == &filter_reveal || (opaque && stages[i]->filter->alpha != ALPHA_CHANGES);
    return opaque;
}

// Returns true if the pass mixes pixels. A map of whole numbers only moves them.
static bool mixes_pixels(const struct pass *pass)
{
    const struct filter_map *map = &pass->map;
    if (!pass->warp || pass->warp->arguments.weighed || map->taps == TAPS_NEAREST)
        return false;
    bool whole = map->taps == TAPS_NONE && map->lens.model == LENS_NONE && !pass->warp->filter->user &&
                 map->matrix[6] == 0 && map->matrix[7] == 0;
    for (int i = 0; i < 6; i++)
        whole = whole && map->matrix[i] == floor(map->matrix[i]);
    return !whole;
}

// Inserts a pass without filters before pass `number`.
static void insert_pass(struct plan *plan, int number)
{
    struct pass *pass = &plan->pass[number];
    memmove(pass + 1, pass, (size_t)(plan->count++ - number) * sizeof(*pass));
    *pass = (struct pass){.from_width = pass->from_width,
                          .from_height = pass->from_height,
                          .width = pass->from_width,
                          .height = pass->from_height};
    name_pass(pass);
}

// Multiplies colours by alpha at the end of the pass before pass `number`, which may be a new one. Returns the place
// of pass `number`.
static struct pass *premultiply_before(struct plan *plan, int number)
{
    struct pass *pass = &plan->pass[number];
    bool kept = false;
    for (int i = 0; i < plan->stages; i++)
        kept = kept || (plan->kept[i] >= 0 && &plan->stage[plan->kept[i]] == pass->warp);
    if (number == 0 || kept || pass_remembers(&pass[-1])) {
        insert_pass(plan, number);
        pass++;
    }
    struct pass *before = pass - 1;
    const struct stage *stage = add_weight(plan, &filter_premultiply);
    for (int i = 0; i < plan->stages; i++) { // a kept picture has colours that are not multiplied
        if (plan->kept[i] >= 0 && &plan->stage[plan->kept[i]] == pass->warp)
            plan->kept[i] = (int)(stage - plan->stage);
    }
    if (before->stencil || before->warp)
        before->after[before->after_count++] = stage;
    else
        before->before[before->before_count++] = stage;
    return pass;
}

// Divides colours by alpha after the warp of a pass.
static void unpremultiply_after(struct plan *plan, struct pass *pass)
{
    const int at = pass->warp->filter->placed; // the warp has the first one
    memmove(&pass->after[at + 1], &pass->after[at], (size_t)(pass->after_count++ - at) * sizeof(*pass->after));
    pass->after[at] = add_weight(plan, &filter_unpremultiply);
}

// Lets alpha weigh the colours that a warp mixes: transparent pixels have no colour.
static void weigh_colors(struct plan *plan, bool opaque)
{
    for (int i = 0; i < plan->count; i++) {
        struct pass *pass = &plan->pass[i];
        opaque = leave_opaque(pass->before, pass->before_count, opaque);
        if (!opaque && mixes_pixels(pass)) {
            const bool begun = i > 0 && pass[-1].warp == pass->warp; // columns, then rows
            pass = begun ? pass : premultiply_before(plan, i);
            i = (int)(pass - plan->pass);
            if (i + 1 == plan->count || pass[1].warp != pass->warp || !mixes_pixels(pass + 1))
                unpremultiply_after(plan, pass);
        }
        opaque = leave_opaque(pass->after, pass->after_count, opaque);
    }
    for (int i = 0; i < plan->stages; i++)
        plan->stage[i].arguments.weighed = true;
}

// Returns the stage whose input is the kept picture that a pass gets as a picture. -1: it gets none.
static int kept_by(const struct plan *plan, const struct pass *pass)
{
    int count;
    const struct stage *const *points = pass_points(pass, &count);
    for (int i = 0; i < count; i++) {
        if (filter_is_mask(points[i]->filter) && points[i]->arguments.kept != KEPT_PIXEL)
            return plan->kept[points[i] - plan->stage];
    }
    return -1;
}

// Returns true if a new pass begins before a stage: a kept picture is its input, or the pass cannot have the stage.
static bool begins_pass(const struct plan *plan, const struct pass *pass, int number)
{
    const struct filter *filter = plan->stage[number].filter;
    const bool reads = filter_is_mask(filter) && plan->stage[number].arguments.kept != KEPT_PIXEL;
    const int kept = kept_by(plan, pass); // a stencil would read the mask's picture for each neighbour
    bool begins = pass_remembers(pass) || moves_placed(pass, filter);
    if (kept >= 0)
        begins = begins || filter->kind == FILTER_STENCIL || filter_gets_previous(filter) ||
                 (reads && plan->kept[number] != kept);
    for (int i = number; i < plan->stages; i++) {
        const enum kept of = plan->stage[i].arguments.kept;
        if (plan->kept[i] == number)
            begins = begins || (of == KEPT_PICTURE && !is_empty(pass)) ||
                     (of == KEPT_PIXEL && (pass->store_mirror || pass->store_flip));
    }
    return begins;
}

// Makes a separate pass of the stencil of a pass.
static void split_stencil(struct plan *plan, int number)
{
    struct pass *first = &plan->pass[number], *rest = first + 1;
    memmove(rest, first, (size_t)(plan->count++ - number) * sizeof(*first));
    first->stencil = NULL;
    first->after_count = 0;
    first->store_mirror = first->store_flip = false;
    rest->before_count = 0;
    rest->load_mirror = rest->load_flip = false;
    name_pass(first);
    name_pass(rest);
}

// Lets each stencil whose input a mask of another pass needs begin its pass.
static void split_kept(struct plan *plan)
{
    for (int i = plan->count - 1; i > 0; i--) {
        const int kept = kept_by(plan, &plan->pass[i]);
        for (int k = 0; kept >= 0 && k < i; k++) {
            const struct pass *pass = &plan->pass[k];
            if (pass->stencil == &plan->stage[kept] &&
                (pass->before_count > 0 || pass->load_mirror || pass->load_flip)) {
                split_stencil(plan, k);
                i++;
                break;
            }
        }
    }
}

void plan_make(struct plan *plan, const struct chain *chain, int width, int height, bool opaque)
{
    plan->chain = *chain;
    chain_hold(&plan->chain);
    plan->count = plan->stages = 0;
    add_stages(plan, opaque);
    struct pass *pass = next_pass(plan);
    for (int i = 0; i < plan->stages; i++) {
        const struct stage *stage = &plan->stage[i];
        if (begins_pass(plan, pass, i))
            pass = next_pass(plan);
        switch (stage->filter->kind) {
        case FILTER_GEOMETRY:
            add_geometry(pass, stage->filter);
            break;
        case FILTER_POINT:
            if (stage->filter->measured)
                pass = next_pass(plan);
            if (pass->stencil || pass->warp)
                pass->after[pass->after_count++] = stage;
            else
                pass->before[pass->before_count++] = stage;
            break;
        case FILTER_STENCIL:
            if (pass->stencil || pass->warp)
                pass = next_pass(plan);
            pass->stencil = stage;
            break;
        case FILTER_WARP:
            if (!is_empty(pass))
                pass = next_pass(plan);
            pass->warp = stage;
            if (stage->filter->placed) // after[0] changes the pixels of the result
                pass->after[pass->after_count++] = stage;
            if (filter_returns(stage->filter)) {
                pass = next_pass(plan);
                pass->warp = stage;
                pass->returns = true;
            }
            break;
        case FILTER_SEVERAL: // no stage of a plan
            break;
        }
    }
    split_kept(plan);
    set_sizes(plan, width, height);
    weigh_colors(plan, opaque);
    for (int i = 0; i < plan->count; i++)
        name_pass(&plan->pass[i]);
}

void plan_split_warp(struct plan *plan, bool input_rgba)
{
    if (plan->pass->warp && !input_rgba)
        insert_pass(plan, 0);
}

void plan_split(struct plan *plan, bool input_rgba, int radius)
{
    for (int i = plan->count - 1; i >= 0; i--) {
        const struct pass *pass = &plan->pass[i];
        const bool plain = (i > 0 || input_rgba) && pass->before_count == 0;
        if (pass->stencil && pass->stencil->arguments.radius >= radius && !plain)
            split_stencil(plan, i);
    }
}

// Makes a separate pass of the point filters after the stencil or warp of a pass.
static void split_after(struct plan *plan, int number)
{
    struct pass *first = &plan->pass[number], *rest = first + 1;
    const int begin = first->warp && first->warp->filter->placed; // the warp has the first one
    memmove(rest, first, (size_t)(plan->count++ - number) * sizeof(*first));
    *rest = (struct pass){.before_count = first->after_count - begin,
                          .store_mirror = first->store_mirror,
                          .store_flip = first->store_flip,
                          .from_width = first->width,
                          .from_height = first->height,
                          .width = first->width,
                          .height = first->height};
    memcpy(rest->before, first->after + begin, sizeof(*rest->before) * (size_t)rest->before_count);
    first->after_count = begin;
    first->store_mirror = first->store_flip = false;
    name_pass(first);
    name_pass(rest);
}

void plan_split_masks(struct plan *plan)
{
    for (int i = plan->count - 1; i >= 0; i--) {
        const struct pass *pass = &plan->pass[i];
        if (kept_by(plan, pass) >= 0 && (pass->stencil || pass->warp))
            split_after(plan, i);
    }
    split_kept(plan);
}

// ---- pictures ----

// Returns the pass that begins with a stage.
static int pass_from(const struct plan *plan, int stage)
{
    int number = 0;
    for (; number < plan->count - 1; number++) {
        const struct pass *pass = &plan->pass[number];
        if (&plan->stage[stage] == (pass->before_count > 0 ? pass->before[0]
                                    : pass->stencil        ? pass->stencil
                                                           : pass->warp))
            break;
    }
    return number;
}

// Sets the second picture of a pass. Returns false if it is the chain's input.
static bool set_second(struct plan *plan, struct pass *pass)
{
    int count;
    const struct stage *const *points = pass_points(pass, &count);
    const int kept = kept_by(plan, pass);
    pass->second = (struct plan_picture){PICTURE_NONE, 0};
    if (pass_remembers(pass))
        pass->second.kind =
            points[count - 1]->filter->second == SECOND_INPUT ? PICTURE_LAST_INPUT : PICTURE_LAST_OUTPUT;
    const bool centre = kept >= 0 && &plan->stage[kept] == pass->stencil;
    for (int i = 0; i < count; i++) {
        enum kept *of = &plan->stage[points[i] - plan->stage].arguments.kept;
        if (*of != KEPT_PIXEL)
            *of = centre ? KEPT_CENTRE : KEPT_PICTURE;
    }
    if (kept < 0 || centre)
        return true;
    const int from = pass_from(plan, kept);
    pass->second =
        from > 0 ? (struct plan_picture){PICTURE_OUTPUT, from - 1} : (struct plan_picture){PICTURE_SOURCE, 0};
    return from > 0;
}

void plan_pictures(struct plan *plan, bool in_place)
{
    bool ok = true;
    for (int i = 0; i < plan->count; i++)
        ok = set_second(plan, &plan->pass[i]) && ok;
    if (!ok && !in_place) {
        insert_pass(plan, 0);
        plan_pictures(plan, false);
        return;
    }
    for (int i = 0; i < plan->count; i++) {
        plan->pass[i].until = i + 1;
        if (plan->pass[i].second.kind != PICTURE_OUTPUT)
            continue;
        struct pass *from = &plan->pass[plan->pass[i].second.pass];
        from->kept = true;
        from->until = i > from->until ? i : from->until;
    }
    for (int i = 0; i < plan->count; i++)
        plan_place(plan, i, i);
}

int plan_place(struct plan *plan, int first, int number)
{
    bool used[PLAN_PASSES + 1] = {false};
    int buffer = 0;
    for (int i = 0; i < first; i++) {
        if (plan->pass[i].until >= first && plan->pass[i].buffer >= 0)
            used[plan->pass[i].buffer] = true;
    }
    while (used[buffer])
        buffer++;
    for (int i = first; i < number; i++)
        plan->pass[i].buffer = -1; // it is not stored
    return plan->pass[number].buffer = buffer;
}

static bool grey_behind(const struct stage *const *stages, int count, bool grey)
{
    for (int i = 0; i < count; i++)
        grey = filter_leaves_grey(stages[i]->filter, grey);
    return grey;
}

void plan_mark_grey(struct plan *plan, bool opaque, bool grey)
{
    for (int i = 0; i < plan->count; i++) {
        struct pass *pass = &plan->pass[i];
        grey = grey_behind(pass->before, pass->before_count, grey);
        opaque = leave_opaque(pass->before, pass->before_count, opaque);
        pass->equal_channels = grey;
        pass->grey = grey && opaque;
        grey = grey_behind(&pass->stencil, pass->stencil ? 1 : 0, grey); // a warp of grey is grey
        grey = grey_behind(pass->after, pass->after_count, grey) && !pass_remembers(pass);
        opaque = leave_opaque(pass->after, pass->after_count, opaque);
        if (grey && opaque && i < plan->count - 1 && !pass->kept && pass[1].second.kind == PICTURE_NONE)
            pass->writes = plan->pass[i + 1].reads = PASS_GREY;
    }
}
