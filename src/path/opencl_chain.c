// opencl_chain.c: plans, compiles and enqueues a chain on an OpenCL device
#include "path/opencl_chain.h"

#include "base/alloc.h"
#include "base/log.h"
#include "compute/memory.h"
#include "compute/program.h"
#include "path/backend.h"
#include "path/pass_text.h"
#include "path/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- histograms of a pass's input ----

enum { COUNT, COMPUTE };
enum { GROUPS_PER_UNIT = 8, CPU_ITEMS = 64, FILTER_ITEMS = FILTER_LEVELS };

static cl_int open_counting(struct opencl_histogram *histogram, struct device *device, const char *name, char **error)
{
    const char *const names[] = {[COUNT] = "count_levels", [COMPUTE] = name};
    struct composer c;
    char *why = NULL;
    compose_start(&c, false, device->kernel_dir);
    compose_file(&c, "language.cl");
    compose_file(&c, "common.cl");
    compose_file(&c, "histogram.cl");
    char *text = compose_end(&c, error);
    if (!text)
        return CL_OUT_OF_HOST_MEMORY;
    const cl_int result = program_kernels(device, text, "", names, 2, histogram->kernel, &why);
    if (result != CL_SUCCESS)
        path_fail(error, why ? why : "cannot compile histogram.cl");
    free(why);
    free(text);
    return result;
}

// Returns the largest power of two that is at most `most` and that a work-group of the kernel may have.
static size_t group_size(const struct opencl_histogram *histogram, int kernel, size_t most)
{
    const size_t limit = kernel_group_limit(histogram->device, histogram->kernel[kernel]);
    size_t group = 1;
    while (group * 2 <= limit && group * 2 <= most)
        group *= 2;
    return group;
}

// Enqueues the kernel that computes the arguments and clears the counts, with one work-group per tile.
static cl_int run_computing(const struct opencl_histogram *histogram, cl_command_queue queue, cl_mem arguments,
                            size_t tiles, struct device_span *span)
{
    const size_t origin[2] = {0, 0}, group = group_size(histogram, COMPUTE, FILTER_ITEMS);
    const struct kernel_argument computing[] = {{sizeof(histogram->counts), &histogram->counts},
                                                {sizeof(arguments), &arguments}};
    return kernel_run(histogram->kernel[COMPUTE], queue, computing, 2, origin, (size_t[2]){group * tiles, 1},
                      (size_t[2]){group, 1}, NULL, span);
}

// Computes the arguments on the device from known histograms: one tile's, or one per channel.
static cl_int compute_known(const struct opencl_histogram *histogram, struct device *device, const uint32_t *known,
                            int32_t values[FILTER_ARGUMENTS])
{
    const size_t bytes = FILTER_ARGUMENTS * sizeof(*values), parts = histogram->counted.colors ? HISTOGRAM_CHANNELS : 1;
    cl_int result;
    cl_command_queue queue = device_queue(device, false, &result);
    cl_mem buffer = NULL;
    if (result == CL_SUCCESS)
        buffer = clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, values, &result);
    if (result == CL_SUCCESS)
        result = clEnqueueWriteBuffer(queue, histogram->counts, CL_TRUE, 0, parts * FILTER_LEVELS * sizeof(*known),
                                      known, 0, NULL, NULL);
    struct device_span span = {0};
    if (result == CL_SUCCESS)
        result = run_computing(histogram, queue, buffer, 1, &span);
    if (result == CL_SUCCESS)
        result = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, values, 0, NULL, NULL);
    span_release(&span);
    memory_release(buffer);
    if (queue)
        clReleaseCommandQueue(queue);
    return result;
}

// Tests the device's integers of 64 bits, which embedded devices emulate or lack. A device passes once.
static cl_int prove(const struct opencl_histogram *histogram, struct device *device, const struct filter *filter,
                    char **error)
{
    if (device->computes_wide)
        return CL_SUCCESS;
    // Their sums need more than 32 bits.
    const uint32_t known[HISTOGRAM_CHANNELS * FILTER_LEVELS] = {
        [10] = 900000000,  [120] = 500000000, [200] = 300000000,
        [250] = 400000000, [400] = 700000000, [600] = 800000000};
    int32_t got[FILTER_ARGUMENTS] = {1}, want[FILTER_ARGUMENTS] = {1}; // of clahe: one tile
    const cl_int result = compute_known(histogram, device, known, got);
    filter->measured->measure(known, want);
    if (!opencl_ok(result, "compute a filter's arguments on the device", error))
        return result;
    device->computes_wide = memcmp(got, want, sizeof(got)) == 0;
    if (device->computes_wide)
        return CL_SUCCESS;
    path_fail(error, "the device computes wrong integers of 64 bits, which this filter needs; use the gl or cpu path");
    return CL_INVALID_OPERATION;
}

// Compiles the kernels of a pass that measures its input. After a failure (*error as in path_open), the caller closes
// the histogram too.
static cl_int histogram_open(struct opencl_histogram *histogram, struct device *device, const struct pass *pass,
                             char **error)
{
    const struct filter *filter = pass->before[0]->filter;
    *histogram = (struct opencl_histogram){
        .device = &device->info, .counted = pass_histograms(pass), .grey = pass->reads == PASS_GREY};
    cl_int result = open_counting(histogram, device, filter->name, error);
    if (result != CL_SUCCESS)
        return result;
    const size_t count = (size_t)histogram->counted.parts * FILTER_LEVELS;
    cl_uint *zeros = xcalloc(count, sizeof(*zeros));
    histogram->counts = clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                       count * sizeof(*zeros), zeros, &result);
    free(zeros);
    if (!opencl_ok(result, "allocate device memory for a histogram", error))
        return result;
    return prove(histogram, device, filter, error);
}

static void histogram_close(struct opencl_histogram *histogram)
{
    for (int i = 0; i < 2; i++) {
        if (histogram->kernel[i])
            clReleaseKernel(histogram->kernel[i]);
    }
    memory_release(histogram->counts);
}

// Enqueues the kernels for the picture `from` after the event `after` (NULL: at once). They write the arguments of
// the pass's first filter, at the start of `arguments`. Their events are added to the span.
static cl_int histogram_run(const struct opencl_histogram *histogram, cl_command_queue queue,
                            const struct opencl_layout *layout, cl_mem from, cl_mem arguments, cl_event after,
                            struct device_span *span)
{
    const struct histogram_parts *counted = &histogram->counted;
    const size_t origin[2] = {0, 0}, rows = (size_t)counted->height, parts = (size_t)counted->parts;
    const bool cpu = histogram->device->type & DEVICE_CPU;
    const size_t items = group_size(histogram, COUNT, cpu ? CPU_ITEMS : FILTER_ITEMS);
    const size_t wanted = (size_t)histogram->device->compute_units * GROUPS_PER_UNIT / parts + 1;
    const size_t groups = wanted < rows ? wanted : rows;
    const cl_int parameters[4] = {counted->colors, counted->tiles, counted->width, counted->height};
    const struct kernel_argument counting[] = {{sizeof(from), &from},
                                               {sizeof(*layout), layout},
                                               {sizeof(histogram->grey), &histogram->grey},
                                               {sizeof(parameters), parameters},
                                               {sizeof(histogram->counts), &histogram->counts}};
    const cl_int result = kernel_run(histogram->kernel[COUNT], queue, counting, 5, origin,
                                     (size_t[2]){groups * items, parts}, (size_t[2]){items, 1}, after, span);
    const size_t tiles = counted->colors ? 1 : parts;
    return result == CL_SUCCESS ? run_computing(histogram, queue, arguments, tiles, span) : result;
}

// ---- a pass ----

enum { ROW_ALIGNMENT = 16 };

// ---- the layout of pictures ----

static size_t aligned_stride(enum pixfmt format, int plane, int width)
{
    return (pixfmt_row_bytes(format, plane, width) + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
}

size_t opencl_layout_make(struct opencl_layout *layout, const struct image_shape *shape)
{
    *layout = (struct opencl_layout){.width = shape->width, .height = shape->height};
    size_t bytes = 0;
    for (int i = 0; i < pixfmt_info(shape->format)->planes; i++) {
        const size_t stride = aligned_stride(shape->format, i, shape->width);
        layout->stride[i] = (cl_int)stride;
        if (i > 0)
            layout->offset[i - 1] = (cl_int)bytes;
        bytes += stride * (size_t)pixfmt_rows(shape->format, i, shape->height);
    }
    layout->to_stride = (cl_int)(aligned_stride(PIXFMT_RGBA, 0, shape->width) / 4);
    return bytes + OPENCL_WIDE_LOAD;
}

size_t opencl_layout_in_place(struct opencl_layout *layout, const struct image *frame)
{
    size_t end = 0;
    if ((uintptr_t)frame->plane[0] % PAGE_BYTES != 0)
        return 0;
    for (int i = 0; i < pixfmt_info(frame->shape.format)->planes; i++) {
        const size_t offset = (size_t)(frame->plane[i] - frame->plane[0]), stride = frame->stride[i];
        const size_t rows = (size_t)pixfmt_rows(frame->shape.format, i, frame->shape.height);
        if (offset % ROW_ALIGNMENT != 0 || stride % ROW_ALIGNMENT != 0 || offset > INT32_MAX || stride > INT32_MAX)
            return 0; // the offset is huge if the plane lies before the first one
        layout->stride[i] = (cl_int)stride;
        if (i > 0)
            layout->offset[i - 1] = (cl_int)offset;
        const size_t plane_end =
            offset + stride * (rows - 1) + pixfmt_row_bytes(frame->shape.format, i, frame->shape.width);
        end = plane_end > end ? plane_end : end;
    }
    return end <= frame->reach_bytes ? end : 0;
}

void opencl_layout_copy(const struct opencl_layout *layout, uint8_t *to, const struct image *frame,
                        struct copier *copier)
{
    struct image laid_out = {.shape = frame->shape};
    for (int i = 0; i < pixfmt_info(frame->shape.format)->planes; i++) {
        laid_out.plane[i] = to + (i > 0 ? layout->offset[i - 1] : 0);
        laid_out.stride[i] = (size_t)layout->stride[i];
    }
    copier_run(copier, &laid_out, frame);
}

// ---- the pass ----

bool opencl_ok(cl_int result, const char *doing, char **error)
{
    char text[256];
    if (result == CL_SUCCESS)
        return true;
    compute_describe(text, sizeof(text), result, doing);
    path_fail(error, text);
    return false;
}

static cl_int open_kernels(struct opencl_pass *opened, struct device *device, const struct pass_target *target,
                           char **error)
{
    const struct variant *variant = opened->choice.variant;
    char *why, *text = pass_text(opened->pass, target, &opened->choice, device->kernel_dir, error);
    if (!text)
        return CL_OUT_OF_HOST_MEMORY;
    const cl_int result = program_kernels(device, text, pass_options(&opened->choice, opened->device), variant->kernel,
                                          VARIANT_KERNELS, opened->kernel, &why);
    if (result != CL_SUCCESS)
        path_fail(error, why ? why : "cannot compile the kernels");
    free(why);
    free(text);
    return result;
}

static cl_int open_arguments(struct opencl_pass *opened, cl_context context, const struct pass_target *target)
{
    const size_t count = (size_t)pass_argument_count(opened->pass, target) + 1; // a buffer has at least one number
    int32_t *arguments = calloc(count, sizeof(*arguments));
    cl_int result = CL_OUT_OF_HOST_MEMORY;
    if (!arguments)
        return result;
    pass_arguments(opened->pass, target, arguments);
    opened->followers = pass_followers(opened->pass, target, opened->follower);
    opened->arguments = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(*arguments) * count,
                                       arguments, &result);
    free(arguments);
    return result;
}

// Makes the picture of the frame before. On failure: *error as in path_open.
static cl_int open_second(struct opencl_pass *opened, cl_context context, char **error)
{
    const struct image_shape rgba = {.width = opened->pass->width, .height = opened->pass->height};
    struct opencl_layout layout;
    const size_t bytes = opencl_layout_make(&layout, &rgba);
    cl_int result;
    opened->second = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &result);
    opencl_ok(result, "allocate device memory for the second picture of a filter", error);
    return result;
}

cl_int opencl_pass_open(struct opencl_pass *opened, struct device *device, const struct pass *pass,
                        const struct pass_target *target, const struct variant_choice *choice, char **error)
{
    *opened = (struct opencl_pass){.pass = pass, .device = &device->info, .choice = *choice, .group_limit = SIZE_MAX};
    snprintf(opened->name, sizeof(opened->name), "pass %s", pass->name);
    cl_int result = open_kernels(opened, device, target, error);
    if (result != CL_SUCCESS)
        return result;
    for (int i = 0; i < VARIANT_KERNELS && opened->kernel[i]; i++) {
        const size_t limit = kernel_group_limit(opened->device, opened->kernel[i]);
        opened->group_limit = limit < opened->group_limit ? limit : opened->group_limit;
    }
    result = open_arguments(opened, device->context, target);
    if (!opencl_ok(result, "allocate device memory for arguments", error))
        return result;
    if (pass_remembers(pass))
        result = open_second(opened, device->context, error);
    if (result == CL_SUCCESS && pass_measures(pass))
        result = histogram_open(&opened->histogram, device, pass, error);
    return result;
}

void opencl_pass_close(struct opencl_pass *opened)
{
    for (int i = 0; i < VARIANT_KERNELS; i++) {
        if (opened->kernel[i])
            clReleaseKernel(opened->kernel[i]);
    }
    memory_release(opened->arguments);
    memory_release(opened->second);
    histogram_close(&opened->histogram);
}

// Writes numbers to the arguments. Filling copies a number at once; a write of many waits for the frames before.
static cl_int write_numbers(const struct opencl_pass *opened, cl_command_queue queue, int at, const int32_t *numbers,
                            int count)
{
    enum { FEW = 4 };
    const size_t bytes = sizeof(*numbers);
    cl_int result = CL_SUCCESS;
    if (count > FEW)
        return clEnqueueWriteBuffer(queue, opened->arguments, CL_TRUE, bytes * (size_t)at, bytes * (size_t)count,
                                    numbers, 0, NULL, NULL);
    for (int i = 0; result == CL_SUCCESS && i < count; i++)
        result = clEnqueueFillBuffer(queue, opened->arguments, &numbers[i], bytes, bytes * (size_t)(at + i), bytes, 0,
                                     NULL, NULL);
    return result;
}

cl_int opencl_pass_follow(const struct opencl_pass *opened, cl_command_queue queue)
{
    cl_int result = CL_SUCCESS;
    for (int i = 0; result == CL_SUCCESS && i < opened->followers; i++) {
        const struct filter_arguments *arguments = &opened->follower[i].stage->arguments;
        result = write_numbers(opened, queue, opened->follower[i].at, filter_numbers(arguments), arguments->followed);
    }
    return result;
}

struct image_shape opencl_pass_output(const struct pass *pass, const struct opencl_layout *layout)
{
    if (pass->warp)
        return (struct image_shape){.width = pass->map.width, .height = pass->map.height};
    return (struct image_shape){.width = layout->width, .height = layout->height};
}

cl_int opencl_pass_run(const struct opencl_pass *opened, cl_command_queue queue, const struct opencl_layout *layout,
                       cl_mem from, cl_mem second, cl_mem to, cl_event after, struct device_span *span)
{
    const struct variant_choice *choice = &opened->choice;
    const struct variant_pass of = {.pass = opened->pass, .device = opened->device};
    const struct image_shape rgba = opencl_pass_output(opened->pass, layout);
    struct opencl_layout laid_out = *layout;
    struct variant_launch launches[VARIANT_LAUNCHES];
    laid_out.to_stride = (cl_int)(aligned_stride(PIXFMT_RGBA, 0, rgba.width) / 4);
    const int count = choice->variant->launches(&of, choice->value, (size_t)rgba.width, (size_t)rgba.height,
                                                opened->group_limit, launches);
    cl_int result = CL_SUCCESS;
    if (opened->second)
        second = opened->second;
    if (pass_measures(opened->pass)) {
        result = histogram_run(&opened->histogram, queue, layout, from, opened->arguments, after, span);
        after = NULL; // the queue keeps the order
    }
    for (int i = 0; result == CL_SUCCESS && i < count; i++) {
        const struct variant_launch *launch = &launches[i];
        const struct kernel_argument arguments[] = {{sizeof(from), &from},
                                                    {sizeof(laid_out), &laid_out},
                                                    {sizeof(opened->arguments), &opened->arguments},
                                                    {sizeof(to), &to},
                                                    {sizeof(second), &second}};
        result = kernel_run(opened->kernel[launch->kernel], queue, arguments,
                            opened->pass->second.kind == PICTURE_NONE ? 4 : 5, launch->offset, launch->size,
                            launch->local, after, span);
        after = NULL; // the queue keeps the order
    }
    return result;
}

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
    const bool opaque = image_shape_opaque(&target->input);
    plan_make(plan, chain, target->input.width, target->input.height, opaque);
    plan_split_masks(plan);
    plan_split(plan, format == PIXFMT_RGBA, tiles ? WINDOW_RADIUS_MAX + 1 : 0);
    plan_pictures(plan, false);
    plan_mark_grey(plan, opaque, format == PIXFMT_GREY);
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

bool opencl_plan_passes(struct plan *plan, struct pass_choice choices[PLAN_PASSES], const struct opencl_target *target,
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
    struct plan *plan = xmalloc(sizeof(*plan)); // too large for the stack
    int count = 0;
    names[count++] = "generic";
    for (int v = 0; variants[v] && count < PATH_VARIANTS; v++) {
        bool used = false;
        target.wanted = (struct variant_choice){.variant = variants[v]};
        opencl_plan_passes(plan, choices, &target, setup->chain);
        for (int i = 0; i < plan->count; i++)
            used = used || choices[i].choice.variant == variants[v];
        if (used && variants[v]->devices & setup->device->info.type && strcmp(variants[v]->name, names[0]) != 0)
            names[count++] = variants[v]->name;
        plan_free(plan);
    }
    free(plan);
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
    for (int i = 0; ok && result == CL_SUCCESS && i < passes - 1; i++) {
        cl_mem *buffer = &opened->between[opened->plan.pass[i].buffer];
        if (!*buffer)
            *buffer = clCreateBuffer(target->device->context, CL_MEM_READ_WRITE, bytes, NULL, &result);
    }
    if (ok && opencl_ok(result, "allocate device memory between passes", error))
        return opened;
    opencl_chain_close(opened);
    return NULL;
}

struct opencl_chain *opencl_chain_open(const struct opencl_target *target, const struct chain *chain, char **error)
{
    struct opencl_chain *opened = xalloc(sizeof(*opened));
    struct pass_choice choices[PLAN_PASSES];
    opened->tiles = opencl_plan_passes(&opened->plan, choices, target, chain);
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
    for (int i = 0; i < PLAN_PASSES; i++)
        memory_release(opened->between[i]);
    plan_free(&opened->plan);
    free(opened);
}

cl_int opencl_chain_set_frame_time(struct opencl_chain *chain, cl_command_queue queue, struct frame_time frame_time)
{
    cl_int result = CL_SUCCESS;
    plan_set_frame_time(&chain->plan, &frame_time);
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
        cl_mem pass_to = i == passes - 1 ? to : chain->between[pass->buffer];
        cl_mem second = NULL;
        if (pass->second.kind == PICTURE_OUTPUT)
            second = chain->between[chain->plan.pass[pass->second.pass].buffer];
        const cl_int result =
            opencl_pass_run(&chain->pass[i], queue, &current, from, second, pass_to, after, &spans[i]);
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
