// opencl_chain.c: plans, compiles and enqueues a chain on an OpenCL device
#include "path/opencl_chain.h"

#include "base/alloc.h"
#include "base/log.h"
#include "path/backend.h"
#include "path/probe.h"

#include <stdlib.h>
#include <string.h>

// ---- plan ----

struct opencl_target opencl_target_make(const struct path_setup *setup, bool to_image)
{
    struct opencl_target target = {.device = setup->device, .input = setup->input, .to_image = to_image};
    if (!setup->variant || !variant_parse(&target.wanted, setup->variant))
        target.wanted = (struct variant_choice){0};
    return target;
}

void opencl_plan(struct plan *plan, const struct opencl_target *target, const struct chain *chain, bool tiles)
{
    const enum pixfmt format = target->input.format;
    plan_make(plan, chain, target->input.width, target->input.height);
    plan_split(plan, format == PIXFMT_RGBA, tiles ? WINDOW_RADIUS_MAX + 1 : 0);
    plan_mark_grey(plan, format != PIXFMT_RGBA, format == PIXFMT_GREY);
}

struct pass_target opencl_pass_target(const struct opencl_target *target, const struct plan *plan, int number)
{
    return (struct pass_target){
        .format = number == 0 ? target->input.format : PIXFMT_RGBA,
        .to_image = target->to_image && number == plan->count - 1,
        .color = target->input.color,
    };
}

// A pass whose variant may be probed.
struct candidate {
    const struct opencl_target *target;
    const struct plan *plan;
    int number;
};

static bool is_trusted(void *context, const struct variant_choice *choice)
{
    const struct candidate *of = context;
    const struct pass_target pass_target = opencl_pass_target(of->target, of->plan, of->number);
    return probe_trusts(&(struct probe){
        .device = of->target->device,
        .chain = &of->plan->chain,
        .format = of->target->input.format,
        .number = of->number,
        .pass = &of->plan->pass[of->number],
        .target = &pass_target,
        .choice = choice,
    });
}

// Chooses a variant for each pass of a plan: the one that the setup names, else the tuned one, else the best by
// default. `probed`: only variants that pass their probe. Returns false if a pass converts or filters before its
// stencil and its variant would do that again for each neighbour.
static bool choose(const struct opencl_target *target, const struct plan *plan, bool probed,
                   struct pass_choice *choices)
{
    bool tiled = true;
    for (int i = 0; i < plan->count; i++) {
        const struct pass *pass = &plan->pass[i];
        const struct pass_target pass_target = opencl_pass_target(target, plan, i);
        const struct variant_pass of = {pass, &pass_target, &target->device->info};
        struct candidate candidate = {target, plan, i};
        bool (*trusted)(void *, const struct variant_choice *) = probed ? is_trusted : NULL;
        choices[i] = (struct pass_choice){.tuned = {.entry = NULL}};
        if (target->wanted.variant || !pass_tuned(target->device, &of, target->input.width, target->input.height,
                                                  trusted, &candidate, &choices[i]))
            choices[i].choice = variant_choose(&of, &target->wanted, trusted, &candidate);
        tiled = tiled && (choices[i].choice.variant->tiles || !pass_prepares_input(pass, pass_target.format));
    }
    return tiled;
}

// Plans the chain and chooses the variants of its passes. A variant that the setup names is not probed. Returns true if
// the plan has tiles.
static bool plan_passes(struct plan *plan, struct pass_choice *choices, const struct opencl_target *target,
                        const struct chain *chain)
{
    const bool probed = !target->wanted.variant;
    opencl_plan(plan, target, chain, true);
    if (choose(target, plan, false, choices) && choose(target, plan, probed, choices))
        return true;
    plan_free(plan);
    opencl_plan(plan, target, chain, false);
    choose(target, plan, probed, choices);
    return false;
}

int opencl_variants(const struct path_setup *setup, const char *names[PATH_VARIANTS])
{
    struct opencl_target target = opencl_target_make(setup, false);
    struct pass_choice choices[PLAN_PASSES];
    struct plan plan;
    int count = 0;
    names[count++] = "generic";
    for (int v = 0; variants[v] && count < PATH_VARIANTS; v++) {
        bool used = false;
        target.wanted = (struct variant_choice){.variant = variants[v]};
        plan_passes(&plan, choices, &target, setup->chain);
        for (int i = 0; i < plan.count; i++)
            used = used || choices[i].choice.variant == variants[v];
        if (used && variants[v]->devices & setup->device->info.type && strcmp(variants[v]->name, names[0]) != 0)
            names[count++] = variants[v]->name;
        plan_free(&plan);
    }
    return count;
}

// ---- outputs ----

cl_mem opencl_output_open(const struct opencl_target *target, int width, int height, cl_mem_flags flags, cl_int *result)
{
    const struct image_shape rgba = {.width = width, .height = height};
    struct opencl_layout layout;
    if (!target->to_image)
        return clCreateBuffer(target->device->context, CL_MEM_READ_WRITE | flags, opencl_layout_make(&layout, &rgba),
                              NULL, result);
    const cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
    const cl_image_desc size = {
        .image_type = CL_MEM_OBJECT_IMAGE2D,
        .image_width = (size_t)rgba.width,
        .image_height = (size_t)rgba.height,
    };
    return clCreateImage(target->device->context, CL_MEM_WRITE_ONLY, &format, &size, NULL, result);
}

cl_int opencl_output_read(const struct opencl_target *target, cl_command_queue queue, cl_mem output,
                          const struct image *to, size_t pixel_bytes)
{
    const size_t origin[3] = {0}, size[3] = {(size_t)to->shape.width, (size_t)to->shape.height, 1};
    const size_t region[3] = {pixel_bytes * size[0], size[1], 1};
    struct opencl_layout layout;
    if (target->to_image)
        return clEnqueueReadImage(queue, output, CL_TRUE, origin, size, to->stride[0], 0, to->plane[0], 0, NULL, NULL);
    opencl_layout_make(&layout, &(struct image_shape){.width = to->shape.width, .height = to->shape.height});
    return clEnqueueReadBufferRect(queue, output, CL_TRUE, origin, origin, region,
                                   pixel_bytes * (size_t)layout.to_stride, 0, to->stride[0], 0, to->plane[0], 0, NULL,
                                   NULL);
}

// ---- the chain ----

static bool open_pass(struct opencl_pass *opened, const struct opencl_target *target, const struct plan *plan,
                      int number, const struct pass_choice *choice, char **error)
{
    const struct pass_target pass_target = opencl_pass_target(target, plan, number);
    const struct pass *pass = &plan->pass[number];
    if (pass_has_users(pass) && !probe_builds(&(struct probe){.device = target->device,
                                                              .chain = &plan->chain,
                                                              .format = target->input.format,
                                                              .number = number,
                                                              .pass = pass,
                                                              .target = &pass_target,
                                                              .choice = &choice->choice},
                                              error))
        return false;
    if (opencl_pass_open(opened, target->device, pass, &pass_target, &choice->choice, error) != CL_SUCCESS)
        return false;
    opened->tuned = choice->tuned;
    return true;
}

// Replaces the second picture of a pass by that of its keeper, if it has one.
static void share_second(struct opencl_chain *chain, int number)
{
    const struct pass *keeper = plan_keeper(&chain->plan, &chain->plan.pass[number]);
    struct opencl_pass *pass = &chain->pass[number];
    if (!keeper)
        return;
    memory_release(pass->second);
    pass->second = chain->pass[keeper - chain->plan.pass].second;
    clRetainMemObject(pass->second);
}

static void log_tuned(const struct opencl_chain *chain)
{
    char text[VARIANT_TEXT];
    for (int i = 0; i < chain->plan.count; i++) {
        const struct opencl_pass *pass = &chain->pass[i];
        variant_print(&pass->choice, text);
        if (pass->tuned.entry)
            log_info("pass %s on '%s' runs the tuned variant %s (%s, %s)", pass->pass->name, pass->device->name, text,
                     tuned_match_name(pass->tuned.match), tuned_level_name(pass->tuned.level));
    }
}

static struct image_shape output_of(const struct pass *pass)
{
    return (struct image_shape){.width = pass->width, .height = pass->height};
}

// Returns the bytes of the largest picture between passes.
static size_t between_bytes(const struct plan *plan)
{
    size_t most = 0;
    for (int i = 0; i < plan->count - 1; i++) {
        const struct image_shape rgba = output_of(&plan->pass[i]);
        struct opencl_layout layout;
        const size_t bytes = opencl_layout_make(&layout, &rgba);
        most = bytes > most ? bytes : most;
    }
    return most;
}

// Compiles the plan of a chain. On failure, closes the chain and returns NULL.
static struct opencl_chain *open_passes(struct opencl_chain *opened, const struct opencl_target *target,
                                        const struct pass_choice *choices, char **error)
{
    const int passes = opened->plan.count;
    const size_t bytes = between_bytes(&opened->plan);
    opened->rgba = output_of(&opened->plan.pass[passes - 1]);
    cl_int result = CL_SUCCESS;
    char why[CHAIN_ERROR];
    bool ok = plan_fill(&opened->plan, why);
    if (!ok)
        path_fail(error, why);
    for (int i = 0; ok && i < passes; i++)
        ok = open_pass(&opened->pass[i], target, &opened->plan, i, &choices[i], error);
    for (int i = 0; ok && i < passes; i++)
        share_second(opened, i);
    for (int i = 0; ok && result == CL_SUCCESS && i < passes - 1 && i < 2; i++)
        opened->between[i] = clCreateBuffer(target->device->context, CL_MEM_READ_WRITE, bytes, NULL, &result);
    if (ok && opencl_ok(result, "allocate device memory between passes", error))
        return opened;
    opencl_chain_close(opened);
    return NULL;
}

struct opencl_chain *opencl_chain_open(const struct opencl_target *target, const struct chain *chain, char **error)
{
    struct opencl_chain *opened = xalloc(sizeof(*opened));
    struct pass_choice choices[PLAN_PASSES];
    opened->tiles = plan_passes(&opened->plan, choices, target, chain);
    opened = open_passes(opened, target, choices, error);
    if (opened)
        log_tuned(opened);
    return opened;
}

struct opencl_chain *opencl_chain_with(const struct opencl_target *target, const struct chain *chain, bool tiles,
                                       const struct pass_choice *choices, char **error)
{
    struct opencl_chain *opened = xalloc(sizeof(*opened));
    opencl_plan(&opened->plan, target, chain, tiles);
    opened->tiles = tiles;
    return open_passes(opened, target, choices, error);
}

void opencl_chain_close(void *of)
{
    struct opencl_chain *opened = of;
    if (!opened)
        return;
    for (int i = 0; i < opened->plan.count; i++)
        opencl_pass_close(&opened->pass[i]);
    plan_free(&opened->plan);
    memory_release(opened->between[0]);
    memory_release(opened->between[1]);
    free(opened);
}

cl_int opencl_chain_set_moment(struct opencl_chain *chain, cl_command_queue queue, struct moment moment)
{
    cl_int result = CL_SUCCESS;
    plan_set_moment(&chain->plan, &moment);
    for (int i = 0; result == CL_SUCCESS && i < chain->plan.count; i++)
        result = opencl_pass_follow(&chain->pass[i], queue);
    return result;
}

cl_int opencl_chain_run(const struct opencl_chain *chain, cl_command_queue queue, cl_mem from,
                        const struct opencl_layout *layout, cl_mem to, cl_event after,
                        struct device_span spans[PLAN_PASSES])
{
    const int passes = chain->plan.count;
    struct opencl_layout current = *layout;
    for (int i = 0; i < passes; i++) {
        const struct pass *pass = &chain->plan.pass[i];
        const struct image_shape rgba = opencl_pass_output(pass, &current);
        cl_mem pass_to = i == passes - 1 ? to : chain->between[i % 2];
        const cl_int result = opencl_pass_run(&chain->pass[i], queue, &current, from, pass_to, after, &spans[i]);
        if (result != CL_SUCCESS)
            return result;
        after = NULL; // the queue keeps the order
        from = pass_to;
        opencl_layout_make(&current, &rgba);
        if (pass->writes == PASS_GREY) // one byte per pixel, rows as far apart as the pixels of RGBA
            current.stride[0] = current.to_stride;
    }
    return CL_SUCCESS;
}
