// passes.c: a pass of a chain on a device as a search space: its configurations, their validation and their time
#include "tune/passes.h"

#include "base/alloc.h"
#include "base/child.h"
#include "base/log.h"
#include "base/process.h"
#include "path/opencl_chain.h"
#include "path/pass_text.h"
#include "path/pass_tuned.h"
#include "path/rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PICTURES_MAX = 16 };

struct tune_pass {
    struct subject subject;
    struct opencl_target target; // of the pass
    struct pass_target reads;    // input and output of the pass
    struct plan plan;
    int number;
    struct variant_pass of;
    struct rig *rig;             // NULL: not prepared
    struct child_pool *children; // that validate
    bool low_priority;           // of the children
};

// A build of a configuration.
struct built {
    struct tune_pass *pass;
    struct opencl_pass opened;
};

// ---- the space ----

enum { CHOICES_MAX = 4096, PARAM_VARIANT = 0 };

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
            if (param->name && at[k] + 1 < VARIANT_VALUES && param->values[at[k] + 1] != 0) {
                at[k]++;
                break;
            }
            at[k] = 0;
        }
    }
}

// Adds the variants of the choices, their parameters, and the values that occur: fewer than the limits of a space.
static void add_params(struct space *space, const struct choices *choices)
{
    space_add_param(space, "variant"); // PARAM_VARIANT
    for (int i = 0; i < choices->count; i++) {
        const struct variant_choice *choice = &choices->choice[i];
        space_add_value(space, PARAM_VARIANT, value_of_text(choice->variant->name));
        for (int k = 0; choice->variant->param[k].name; k++) {
            const int found = space_find_param(space, choice->variant->param[k].name);
            space_add_value(space, found < 0 ? space_add_param(space, choice->variant->param[k].name) : found,
                            value_of_integer(choice->value[k]));
        }
    }
    for (int i = 1; i < space->params; i++) {
        space_add_value(space, i, (struct value){.kind = VALUE_NONE});
        space_sort_values(space, i);
    }
}

// Writes the tuple of a choice. Returns false if the space does not have one of its values.
static bool tuple_of(const struct space *space, const struct variant_choice *choice, uint16_t tuple[SPACE_PARAMS])
{
    for (int i = 0; i < space->params; i++) {
        struct value value = {.kind = VALUE_NONE};
        for (int k = 0; choice->variant->param[k].name; k++) {
            if (strcmp(choice->variant->param[k].name, space->param[i].name) == 0)
                value = value_of_integer(choice->value[k]);
        }
        const int found = space_find_value(space, i, i == PARAM_VARIANT ? value_of_text(choice->variant->name) : value);
        if (found < 0)
            return false;
        tuple[i] = (uint16_t)found;
    }
    return true;
}

// Returns true if the variant is for this device and can run the pass in its plan.
static bool is_candidate(const struct variant *variant, const struct variant_pass *of)
{
    return variant->devices & of->device->type && variant->fits(of) &&
           (variant->tiles || !pass_prepares_input(of->pass, of->target->format));
}

// Fills the space with all choices.
static void make_space(struct space *space, const struct variant_pass *of)
{
    struct choices *choices = xalloc(sizeof(*choices));
    uint16_t tuple[SPACE_PARAMS];
    for (int i = 0; variants[i]; i++) {
        if (is_candidate(variants[i], of))
            add_choices(choices, variants[i], of);
    }
    add_params(space, choices);
    for (int i = 0; i < choices->count; i++) {
        if (tuple_of(space, &choices->choice[i], tuple))
            space_add(space, tuple);
    }
    space_sort(space);
    free(choices);
}

static const struct tune_pass *pass_of(const struct subject *subject)
{
    return (const struct tune_pass *)subject; // its first member
}

struct variant_choice tune_pass_choice(const struct subject *subject, int configuration)
{
    const struct space *space = &subject->space;
    const uint16_t *tuple = space_tuple(space, configuration);
    struct variant_choice choice = {0};
    variant_parse(&choice, space->param[PARAM_VARIANT].value[tuple[PARAM_VARIANT]].text);
    for (int k = 0; choice.variant->param[k].name; k++) {
        const int param = space_find_param(space, choice.variant->param[k].name);
        choice.value[k] = (int)space->param[param].value[tuple[param]].integer;
    }
    return choice;
}

int tune_pass_find(const struct subject *subject, const struct variant_choice *choice)
{
    uint16_t tuple[SPACE_PARAMS];
    return tuple_of(&subject->space, choice, tuple) ? space_find(&subject->space, tuple) : -1;
}

// Adds the default configuration of each variant.
static void add_presets(struct subject *subject, const struct variant_pass *of)
{
    for (int i = 0; variants[i] && subject->presets < SUBJECT_PRESETS; i++) {
        const struct variant_choice choice = variant_preset(variants[i], of);
        const int configuration = is_candidate(variants[i], of) ? tune_pass_find(subject, &choice) : -1;
        if (configuration >= 0)
            subject->preset[subject->presets++] = configuration;
    }
}

// Sets the configuration in use.
static void set_used(struct subject *subject, const struct variant_pass *of, const struct opencl_target *target)
{
    struct pass_choice found;
    if (!pass_tuned(target->device, of, target->input.width, target->input.height, NULL, NULL, &found))
        return;
    subject->used = tune_pass_find(subject, &found.choice);
    subject->has_used = subject->used >= 0;
    subject->used_exactly = found.tuned.match == TUNED_EXACT;
}

// Adds the results of the database: of this device, of other sizes and of similar devices.
static void add_seeds(struct subject *subject, const struct variant_pass *of, const struct opencl_target *target)
{
    struct variant_choice choices[SUBJECT_SEEDS];
    const int count =
        pass_tuned_choices(target->device, of, target->input.width, target->input.height, choices, SUBJECT_SEEDS);
    for (int i = 0; i < count; i++) {
        const int configuration = tune_pass_find(subject, &choices[i]);
        if (configuration >= 0)
            subject->seed[subject->seeds++] = configuration;
    }
}

// ---- the pass ----

static struct opencl_target chain_target(const struct tune_target *target)
{
    return (struct opencl_target){.device = target->device, .input = target->input, .to_image = target->to_image};
}

// Returns the number of pictures. In real use, a camera's frame is in the caches, and a larger picture is not.
static int picture_count(const struct image_shape *shape)
{
    static const size_t camera_px = 4 << 20, caches_bytes = 256 << 20;
    const size_t pixels = (size_t)shape->width * (size_t)shape->height, bytes = 4 * pixels + image_bytes(shape);
    const size_t count = pixels <= camera_px ? 1 : (caches_bytes + bytes - 1) / bytes;
    if (count < 2)
        return 2;
    return count < PICTURES_MAX ? (int)count : PICTURES_MAX;
}

static bool open_pictures(struct tune_pass *pass)
{
    struct opencl_target target = pass->target;
    target.input.width = pass->of.pass->from_width;
    target.input.height = pass->of.pass->from_height;
    const struct image_shape shape = rig_pass_shape(&target, &pass->plan, pass->number);
    struct image picture = {0};
    if (!image_alloc(&picture, &shape)) {
        log_error("cannot tune at %dx%d: out of memory", shape.width, shape.height);
        return false;
    }
    rig_pass_random(&picture, &pass->plan, pass->number);
    int count = picture_count(&shape);
    cl_int result;
    while (!(pass->rig = rig_pass_open(&target, &pass->plan, pass->number, &picture, count, &result)) && count > 1)
        count = count > 2 ? 2 : 1; // a device with little memory
    image_free(&picture);
    return compute_ok(result, "store images on the device");
}

static bool prepare(struct subject *subject)
{
    struct tune_pass *pass = (struct tune_pass *)subject;
    return pass->rig || open_pictures(pass);
}

static enum probe_status validate(const struct subject *subject, int configuration, char why[VERDICT_TEXT])
{
    const struct tune_pass *pass = pass_of(subject);
    const struct variant_choice choice = tune_pass_choice(subject, configuration);
    return probe_now(
        &(struct probe){
            .device = pass->target.device,
            .chain = &pass->plan.chain,
            .format = pass->target.input.format,
            .number = pass->number,
            .pass = pass->of.pass,
            .target = &pass->reads,
            .choice = &choice,
            .width = pass->target.input.width,
            .height = pass->target.input.height,
            .low_priority = pass->low_priority,
            .children = pass->children,
        },
        why);
}

static void print(const struct subject *subject, int configuration, char text[SUBJECT_TEXT])
{
    const struct variant_choice choice = tune_pass_choice(subject, configuration);
    variant_print(&choice, text);
}

static void close_pass(struct subject *subject)
{
    struct tune_pass *pass = (struct tune_pass *)subject;
    rig_close(pass->rig);
    child_pool_close(pass->children);
    plan_free(&pass->plan);
    free(pass);
}

// Adds a result to this run's results and, unless the user has kernels of their own, to the user's database.
static bool store(const struct subject *subject, int configuration, double ms, double default_ms)
{
    const struct tune_pass *pass = pass_of(subject);
    const struct device *device = pass->target.device;
    const struct image_shape *input = &pass->target.input;
    const struct variant_choice choice = tune_pass_choice(subject, configuration);
    struct pass_key key;
    char text[VARIANT_TEXT], source[HASH_TEXT], date[TUNED_DATE];
    pass_key_make(&key, &pass->of, input->width, input->height);
    variant_print(&choice, text);
    tuned_date(date);
    const bool has_source = pass_source(&pass->of, &choice, device->kernel_dir, source);
    const struct tuned_entry entry = {key.key, text, has_source ? source : "", date, ms, default_ms, ""};
    tuned_add(device->tuned, &entry);
    return (device->kernel_dir && device->kernel_dir[0]) || tuned_store(&entry);
}

// ---- time ----

static bool time_runs(const struct built *build, int first, int runs, struct timing *timing)
{
    return rig_pass_run(build->pass->rig, &build->opened, first, runs, timing);
}

static void release(void *built)
{
    struct built *build = built;
    opencl_pass_close(&build->opened);
    free(build);
}

static void *build(struct subject *subject, int configuration, char why[VERDICT_TEXT])
{
    struct tune_pass *pass = (struct tune_pass *)subject;
    struct built *build = xalloc(sizeof(*build));
    const struct variant_choice choice = tune_pass_choice(subject, configuration);
    struct timing timing;
    char *error = NULL;
    build->pass = pass;
    if (opencl_pass_open(&build->opened, pass->target.device, pass->of.pass, &pass->reads, &choice, &error) ==
            CL_SUCCESS &&
        time_runs(build, 0, 1, &timing))
        return build;
    snprintf(why, VERDICT_TEXT, "%.*s", VERDICT_TEXT - 1, error ? error : "its first run fails");
    free(error);
    release(build);
    return NULL;
}

static bool time_build(void *built, double for_ms, double *ms)
{
    const struct built *build = built;
    struct timing timing;
    if (!time_runs(build, 0, 1, &timing)) // also restores caches and clock rates
        return false;
    const double runs = for_ms / fmax(timing.device_ms, 1e-3);
    if (!time_runs(build, 1, (int)fmin(fmax(runs, 2), TIMING_RUNS), &timing))
        return false;
    *ms = timing.device_ms;
    return true;
}

static bool run_build(void *built, int runs)
{
    struct timing timing;
    return time_runs(built, 0, runs, &timing);
}

// ---- opening ----

struct subject *tune_pass_open(const struct tune_target *target, bool tiles, int number)
{
    static const struct subject_type type = {.prepare = prepare,
                                             .validate = validate,
                                             .build = build,
                                             .time = time_build,
                                             .release = release,
                                             .print = print,
                                             .store = store,
                                             .close = close_pass,
                                             .run = run_build};
    struct tune_pass *pass = xalloc(sizeof(*pass));
    char why[CHAIN_ERROR];
    pass->target = chain_target(target);
    opencl_plan(&pass->plan, &pass->target, target->chain, tiles);
    plan_fill(&pass->plan, why); // without its files, the numbers are 0
    pass->reads = opencl_pass_target(&pass->target, &pass->plan, number);
    pass->target.to_image = pass->reads.to_image;
    pass->number = number;
    pass->low_priority = target->low_priority;
    pass->children = child_pool_open();
    pass->of = (struct variant_pass){&pass->plan.pass[number], &pass->reads, &target->device->info};
    pass->subject.type = &type;
    pass->subject.name = pass->of.pass->name;
    make_space(&pass->subject.space, &pass->of);
    add_presets(&pass->subject, &pass->of);
    set_used(&pass->subject, &pass->of, &pass->target);
    add_seeds(&pass->subject, &pass->of, &pass->target);
    return &pass->subject;
}

// ---- the chain ----

bool tune_chain(const struct tune_target *target, tune_pass_hook *tune, void *context)
{
    const struct opencl_target opencl = chain_target(target);
    struct plan *plan = xmalloc(sizeof(*plan)); // too large for the stack
    struct pass_choice choices[PLAN_PASSES];
    const bool tiles = opencl_plan_passes(plan, choices, &opencl, target->chain);
    const int passes = plan->count;
    bool ok = true;
    plan_free(plan);
    free(plan);
    for (int i = 0; i < passes && !process_interrupted(); i++)
        ok = tune(context, tune_pass_open(target, tiles, i)) && ok;
    return ok;
}
