// passes.c: a pass of a chain on a device as a search space: its configurations, their validation and their time
#include "tune/passes.h"

#include "base/log.h"
#include "path/pass_alone.h"
#include "path/pass_text.h"
#include "path/pass_tuned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tune_pass {
    struct opencl_target target; // of the pass
    struct pass_target reads;    // input and output of the pass
    struct plan plan;
    int number;
    struct variant_pass of;
    struct space space;
    bool has_pictures;
    struct pass_alone alone;
};

struct tune_build {
    struct tune_pass *pass;
    struct opencl_pass opened;
};

// ---- the space ----

enum { CHOICES_MAX = 4096, PARAM_VARIANT = 0 };
static const char absent[] = "-"; // the value of a parameter that a variant does not have

struct choices {
    struct variant_choice choice[CHOICES_MAX];
    int count;
};

// Adds all combinations of the values of a variant's parameters that fit the pass.
static void add_choices(struct choices *choices, const struct variant *variant, const struct variant_pass *of)
{
    struct variant_choice choice = {.variant = variant};
    int at[VARIANT_PARAMS] = {0}, k = 0;
    while (k >= 0 && choices->count < CHOICES_MAX) {
        for (int i = 0; variant->param[i].name; i++)
            choice.value[i] = variant->param[i].values[at[i]];
        if (variant_fits(&choice, of))
            choices->choice[choices->count++] = choice;
        for (k = VARIANT_PARAMS - 1; k >= 0; k--) {
            const struct variant_param *param = &variant->param[k];
            if (k < VARIANT_PARAMS && param->name && at[k] + 1 < VARIANT_VALUES && param->values[at[k] + 1] != 0) {
                at[k]++;
                break;
            }
            at[k] = 0;
        }
    }
}

static int add_text(struct space *space, int param, const char *text)
{
    const int found = space_find_value(space, param, text);
    return found >= 0 ? found : space_add_value(space, param, text);
}

static int add_number(struct space *space, int param, int number)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", number);
    return add_text(space, param, text);
}

// Adds the variants of the choices, their parameters, and the values that occur.
static bool add_params(struct space *space, const struct choices *choices)
{
    bool ok = space_add_param(space, "variant", true) == PARAM_VARIANT;
    for (int i = 0; ok && i < choices->count; i++) {
        const struct variant_choice *choice = &choices->choice[i];
        ok = add_text(space, PARAM_VARIANT, choice->variant->name) >= 0;
        for (const struct variant_param *param = choice->variant->param; ok && param->name; param++) {
            int at = space_find_param(space, param->name);
            if (at < 0)
                at = space_add_param(space, param->name, param->build);
            ok = at > 0 && add_number(space, at, choice->value[param - choice->variant->param]) >= 0;
        }
    }
    for (int i = 1; ok && i < space->params; i++) {
        space_sort_values(space, i);
        ok = add_text(space, i, absent) >= 0;
    }
    return ok;
}

// Writes the tuple of a choice. Returns false if the space does not have one of its values.
static bool tuple_of(const struct space *space, const struct variant_choice *choice, uint16_t tuple[SPACE_PARAMS])
{
    char text[16];
    for (int i = 0; i < space->params; i++) {
        int value =
            i == PARAM_VARIANT ? space_find_value(space, i, choice->variant->name) : space_find_value(space, i, absent);
        for (int k = 0; choice->variant->param[k].name; k++) {
            if (strcmp(choice->variant->param[k].name, space->param[i].name) == 0) {
                snprintf(text, sizeof(text), "%d", choice->value[k]);
                value = space_find_value(space, i, text);
            }
        }
        if (value < 0)
            return false;
        tuple[i] = (uint16_t)value;
    }
    return true;
}

// Returns true if the variant is for this device and can run the pass in its plan.
static bool is_candidate(const struct variant *variant, const struct variant_pass *of)
{
    return variant->devices & of->device->type && variant->fits(of) &&
           (variant->tiles || !pass_prepares_input(of->pass, of->target->format));
}

// Fills the space with all choices. False: no memory.
static bool make_space(struct space *space, const struct variant_pass *of)
{
    struct choices *choices = calloc(1, sizeof(*choices));
    uint16_t tuple[SPACE_PARAMS];
    for (int i = 0; choices && variants[i]; i++) {
        if (is_candidate(variants[i], of))
            add_choices(choices, variants[i], of);
    }
    space_init(space);
    bool ok = choices && add_params(space, choices);
    for (int i = 0; ok && i < choices->count; i++)
        ok = tuple_of(space, &choices->choice[i], tuple) && space_add(space, tuple);
    space_sort(space);
    free(choices);
    return ok;
}

static int configuration_of(const struct tune_pass *pass, const struct variant_choice *choice)
{
    uint16_t tuple[SPACE_PARAMS];
    return tuple_of(&pass->space, choice, tuple) ? space_find(&pass->space, tuple) : -1;
}

struct variant_choice tune_pass_choice(const struct tune_pass *pass, int configuration)
{
    const struct space *space = &pass->space;
    const uint16_t *tuple = space_tuple(space, configuration);
    struct variant_choice choice = {0};
    variant_parse(&choice, space->param[PARAM_VARIANT].value[tuple[PARAM_VARIANT]]);
    for (int k = 0; choice.variant->param[k].name; k++) {
        const int param = space_find_param(space, choice.variant->param[k].name);
        choice.value[k] = atoi(space->param[param].value[tuple[param]]);
    }
    return choice;
}

int tune_pass_presets(const struct tune_pass *pass, int presets[TUNE_PRESETS])
{
    int count = 0;
    for (int i = 0; variants[i] && count < TUNE_PRESETS; i++) {
        const struct variant_choice choice = variant_preset(variants[i], &pass->of);
        if (is_candidate(variants[i], &pass->of) && (presets[count] = configuration_of(pass, &choice)) >= 0)
            count++;
    }
    return count;
}

// ---- the pass ----

static struct opencl_target chain_target(const struct tune_target *target)
{
    return (struct opencl_target){.device = target->device, .input = target->input, .to_image = target->to_image};
}

static bool has_variants(const struct opencl_target *target, const struct plan *plan)
{
    for (int i = 0; i < plan->count; i++) {
        const struct pass_target reads = opencl_pass_target(target, plan, i);
        const struct variant_pass of = {&plan->pass[i], &reads, &target->device->info};
        bool found = false;
        for (int v = 0; variants[v]; v++) {
            const struct variant_choice preset = variant_preset(variants[v], &of);
            found = found || (is_candidate(variants[v], &of) && variant_fits(&preset, &of));
        }
        if (!found)
            return false;
    }
    return true;
}

int tune_passes(const struct tune_target *target, bool tiles)
{
    struct plan fused, split;
    const struct opencl_target opencl = chain_target(target);
    opencl_plan(&fused, &opencl, target->chain, true);
    opencl_plan(&split, &opencl, target->chain, false);
    const bool possible = has_variants(&opencl, &fused);
    if (tiles)
        return possible ? fused.count : 0;
    return possible && split.count == fused.count ? 0 : split.count;
}

// Returns the number of pictures. In real use, a camera's frame is in the caches, and a larger picture is not.
static int picture_count(const struct image_shape *shape)
{
    static const size_t camera_px = 4 << 20, caches_bytes = 256 << 20;
    const size_t pixels = (size_t)shape->width * (size_t)shape->height, bytes = 4 * pixels + image_bytes(shape);
    const size_t count = pixels <= camera_px ? 1 : (caches_bytes + bytes - 1) / bytes;
    return count < 2 ? 2 : count < PASS_ALONE_PICTURES ? (int)count : PASS_ALONE_PICTURES;
}

static bool open_pictures(struct tune_pass *pass)
{
    const struct image_shape shape = pass_alone_shape(&pass->target, &pass->plan, pass->number);
    struct image picture = {0};
    if (!image_alloc(&picture, &shape)) {
        log_error("cannot tune at %dx%d: out of memory", shape.width, shape.height);
        return false;
    }
    pass_alone_fill(&picture, &pass->plan, pass->number);
    int count = picture_count(&shape);
    cl_int result;
    while ((result = pass_alone_open(&pass->alone, &pass->target, &pass->plan, pass->number, &picture, count)) !=
           CL_SUCCESS) {
        pass_alone_close(&pass->alone);
        if (count == 1)
            break;
        count = count > 2 ? 2 : 1; // a device with little memory
    }
    image_free(&picture);
    pass->has_pictures = compute_ok(result, "store images on the device");
    return pass->has_pictures;
}

struct tune_pass *tune_pass_open(const struct tune_target *target, bool tiles, int number)
{
    struct tune_pass *pass = calloc(1, sizeof(*pass));
    if (!pass) {
        log_error("cannot tune: out of memory");
        return NULL;
    }
    pass->target = chain_target(target);
    opencl_plan(&pass->plan, &pass->target, target->chain, tiles);
    pass->reads = opencl_pass_target(&pass->target, &pass->plan, number);
    pass->target.to_image = pass->reads.to_image;
    pass->number = number;
    pass->of = (struct variant_pass){&pass->plan.pass[number], &pass->reads, &target->device->info};
    if (make_space(&pass->space, &pass->of))
        return pass;
    log_error("cannot tune: out of memory");
    tune_pass_close(pass);
    return NULL;
}

void tune_pass_close(struct tune_pass *pass)
{
    if (!pass)
        return;
    pass_alone_close(&pass->alone);
    space_finish(&pass->space);
    free(pass);
}

const char *tune_pass_name(const struct tune_pass *pass)
{
    return pass->of.pass->name;
}

const struct space *tune_pass_space(const struct tune_pass *pass)
{
    return &pass->space;
}

enum probe_status tune_pass_validate(const struct tune_pass *pass, int configuration, char why[VERDICT_TEXT])
{
    const struct variant_choice choice = tune_pass_choice(pass, configuration);
    return probe_now(
        &(struct probe){
            .device = pass->target.device,
            .chain = &pass->plan.chain,
            .format = pass->target.input.format,
            .number = pass->number,
            .pass = pass->of.pass,
            .target = &pass->reads,
            .choice = &choice,
        },
        why);
}

bool tune_pass_is_fused(const struct tune_pass *pass)
{
    return pass_prepares_input(pass->of.pass, pass->reads.format);
}

bool tune_pass_store(const struct tune_pass *pass, const struct variant_choice *choice, double ms, double default_ms)
{
    const struct image_shape *input = &pass->target.input;
    struct pass_key key;
    char text[VARIANT_TEXT], source[HASH_TEXT], date[TUNED_DATE];
    struct tuned_list list = {0};
    struct tuned_counts counts;
    pass_key_make(&key, &pass->of, input->width, input->height);
    variant_print(choice, text);
    tuned_date(date);
    const bool has_source = pass_source(&pass->of, choice, pass->target.device->kernel_dir, source);
    const struct tuned_entry entry = {key.key, text, has_source ? source : "", date, ms, default_ms};
    bool ok = tuned_list_add(&list, &entry);
    if (!ok)
        log_error("cannot store the result of pass %s: out of memory", pass->of.pass->name);
    ok = ok && tuned_merge(&list, false, &counts);
    tuned_list_free(&list);
    return ok;
}

// ---- time ----

bool tune_pass_prepare(struct tune_pass *pass)
{
    return pass->has_pictures || open_pictures(pass);
}

// The runs of one measurement.
struct series {
    const struct tune_build *build;
    int first; // picture
};

static cl_int enqueue(void *context, int run, struct span *span)
{
    const struct series *series = context;
    const struct pass_alone *alone = &series->build->pass->alone;
    return pass_alone_run(alone, &series->build->opened, (series->first + run) % alone->pictures, span);
}

static bool time_runs(const struct tune_build *build, int first, int runs, struct timing *timing)
{
    return timing_run(build->pass->alone.queue, runs, enqueue, &(struct series){build, first}, timing);
}

struct tune_build *tune_build_open(struct tune_pass *pass, int configuration, char why[VERDICT_TEXT])
{
    struct tune_build *build = calloc(1, sizeof(*build));
    const struct variant_choice choice = tune_pass_choice(pass, configuration);
    struct timing timing;
    char *error = NULL;
    if (!build) {
        snprintf(why, VERDICT_TEXT, "out of memory");
        return NULL;
    }
    build->pass = pass;
    if (opencl_pass_open(&build->opened, pass->target.device, pass->of.pass, &pass->reads, &choice, &error) ==
            CL_SUCCESS &&
        time_runs(build, 0, 1, &timing))
        return build;
    snprintf(why, VERDICT_TEXT, "%.*s", VERDICT_TEXT - 1, error ? error : "its first run fails");
    free(error);
    tune_build_close(build);
    return NULL;
}

void tune_build_close(struct tune_build *build)
{
    if (!build)
        return;
    opencl_pass_close(&build->opened);
    free(build);
}

bool tune_build_time(struct tune_build *build, double for_ms, double *ms)
{
    struct timing timing;
    if (!time_runs(build, 0, 1, &timing)) // also restores caches and clock rates
        return false;
    const double runs = for_ms / fmax(timing.device_ms, 1e-3);
    if (!time_runs(build, 1, (int)fmin(fmax(runs, 2), TIMING_RUNS), &timing))
        return false;
    *ms = timing.device_ms;
    return true;
}
