// opencl_build.c: a chain compiled for a device
#include "base/log.h"
#include "base/pages.h"
#include "compute/program.h"
#include "path/opencl_path.h"
#include "path/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Floats are whole numbers, fractions of 255 or roots of whole numbers, so none is denormal. There is no -cl-std,
// because PoCL 7.1 has no write_imagef with it.
#define OPTIONS "-cl-denorms-are-zero"
#define OPTIONS_QUICK OPTIONS " -cl-opt-disable" // for variants on types of device that they are not meant for

enum { ROW_ALIGNMENT = 16 };

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
            return 0; // a plane ahead of the first one has a huge offset
        layout->stride[i] = (cl_int)stride;
        if (i > 0)
            layout->offset[i - 1] = (cl_int)offset;
        const size_t plane_end =
            offset + stride * (rows - 1) + pixfmt_row_bytes(frame->shape.format, i, frame->shape.width);
        end = plane_end > end ? plane_end : end;
    }
    return end <= frame->reach_bytes ? end : 0;
}

void opencl_layout_copy(const struct opencl_layout *layout, uint8_t *to, const struct image *frame)
{
    struct image laid_out = {.shape = frame->shape};
    for (int i = 0; i < pixfmt_info(frame->shape.format)->planes; i++) {
        laid_out.plane[i] = to + (i > 0 ? layout->offset[i - 1] : 0);
        laid_out.stride[i] = (size_t)layout->stride[i];
    }
    image_copy(&laid_out, frame);
}

void opencl_want(struct opencl_path *path, const char *variant)
{
    if (!variant || !variant_parse(&path->wanted, variant))
        path->wanted = (struct variant_choice){0};
}

void opencl_choose(struct opencl_path *path, const struct path_setup *setup, enum output output)
{
    path->path.input = setup->input;
    path->device = setup->device;
    path->output = output;
    opencl_want(path, setup->variant);
    const struct image_shape rgba = {.width = setup->input.width, .height = setup->input.height};
    struct opencl_layout layout;
    path->output_bytes = opencl_layout_make(&layout, &rgba);
    path->input_bytes = opencl_layout_make(&path->input_layout, &setup->input);
}

cl_mem opencl_output_make(const struct opencl_path *path, cl_mem_flags flags, cl_int *result)
{
    cl_context context = path->device->context;
    if (path->output != OUTPUT_TEXTURE)
        return clCreateBuffer(context, CL_MEM_READ_WRITE | flags, path->output_bytes, NULL, result);
    const cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
    const cl_image_desc size = {
        .image_type = CL_MEM_OBJECT_IMAGE2D,
        .image_width = (size_t)path->path.input.width,
        .image_height = (size_t)path->path.input.height,
    };
    return clCreateImage(context, CL_MEM_WRITE_ONLY, &format, &size, NULL, result);
}

static cl_kernel make_kernel(cl_program program, const char *name, char **error)
{
    cl_int result;
    cl_kernel kernel = clCreateKernel(program, name, &result);
    if (!kernel) {
        char doing[64], text[256];
        snprintf(doing, sizeof(doing), "create kernel %s", name);
        compute_describe(text, sizeof(text), result, doing);
        path_fail(error, text);
    }
    return kernel;
}

static cl_mem make_buffer(struct device *device, size_t bytes, const void *data, char **error)
{
    cl_int result;
    cl_mem buffer = clCreateBuffer(device->context, data ? CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR : CL_MEM_READ_WRITE,
                                   bytes, (void *)data, &result);
    if (!buffer) {
        char text[160];
        snprintf(text, sizeof(text), "cannot allocate %zu bytes of device memory: %s (%d)", bytes,
                 compute_result_name(result), (int)result);
        path_fail(error, text);
    }
    return buffer;
}

const char *opencl_pass_options(const struct opencl_path *path, const struct variant_choice *choice)
{
    return choice->variant->devices & path->device->info.type ? OPTIONS : OPTIONS_QUICK;
}

char *opencl_pass_text(const struct opencl_path *path, const struct pass *pass, const struct image_shape *from,
                       bool to_image, const struct variant_choice *choice, char **error)
{
    const struct pass_target target = {from->format, to_image};
    return pass_text(pass, &target, choice, path->device->kernel_dir, error);
}

bool opencl_pass_make(const struct opencl_path *path, const struct pass *pass, const struct image_shape *from,
                      bool to_image, const struct variant_choice *choice, struct opencl_pass *built, char **error)
{
    struct device *device = path->device;
    built->choice = *choice;
    snprintf(built->name, sizeof(built->name), "pass %s", pass->name);
    char *text = opencl_pass_text(path, pass, from, to_image, choice, error), *why;
    if (!text)
        return false;
    built->program = program_build(device, text, opencl_pass_options(path, choice), &why);
    free(text);
    if (!built->program) {
        path_fail(error, why ? why : "cannot compile the kernels");
        free(why);
        return false;
    }
    int32_t arguments[PASS_ARGUMENTS] = {0};
    const int count = pass_arguments(pass, from, arguments);
    built->arguments = make_buffer(device, sizeof(*arguments) * (size_t)(count > 0 ? count : 1), arguments, error);
    bool ok = built->arguments != NULL;
    for (int i = 0; ok && i < VARIANT_KERNELS && choice->variant->kernel[i]; i++)
        ok = (built->kernel[i] = make_kernel(built->program, choice->variant->kernel[i], error)) != NULL;
    return ok;
}

void opencl_plan_make(struct plan *plan, const struct opencl_path *path, const struct chain *chain, bool tiles)
{
    const enum pixfmt format = path->path.input.format;
    plan_make(plan, chain);
    plan_split(plan, format == PIXFMT_RGBA, tiles ? WINDOW_RADIUS_MAX + 1 : 0);
    plan_mark_grey(plan, format != PIXFMT_RGBA, format == PIXFMT_GREY);
}

static struct image_shape pass_input(const struct opencl_path *path, int number)
{
    const struct image_shape *input = &path->path.input;
    return number == 0 ? *input : (struct image_shape){PIXFMT_RGBA, input->width, input->height, {0}};
}

// A pass whose variant may be probed.
struct candidate {
    const struct opencl_path *path;
    const struct plan *plan;
    int number;
};

static bool trusted(void *context, const struct variant_choice *choice)
{
    const struct candidate *of = context;
    const struct pass *pass = &of->plan->pass[of->number];
    const struct image_shape from = pass_input(of->path, of->number);
    const bool to_image = of->path->output == OUTPUT_TEXTURE;
    char *error = NULL;
    char *text = opencl_pass_text(of->path, pass, &from, to_image && of->number == of->plan->count - 1, choice, &error);
    const struct probe probe = {
        .device = of->path->device,
        .chain = &of->plan->chain,
        .format = of->path->path.input.format,
        .to_image = to_image,
        .number = of->number,
        .name = pass->name,
        .choice = choice,
        .text = text,
        .options = opencl_pass_options(of->path, choice),
    };
    if (!text)
        log_info("pass %s on '%s' runs the generic kernel instead of variant %s: %s", pass->name,
                 of->path->device->info.name, choice->variant->name, error ? error : "out of memory");
    const bool trusts = text && probe_trusts(&probe);
    free(text);
    free(error);
    return trusts;
}

// Chooses a variant for each pass of a plan. `probed`: only variants that pass their probe. Returns false if a pass
// converts or filters before its stencil and its variant would do that again for each neighbour.
static bool choose(const struct opencl_path *path, const struct plan *plan, bool probed, struct variant_choice *choices)
{
    bool tiled = true;
    for (int i = 0; i < plan->count; i++) {
        const struct pass *pass = &plan->pass[i];
        const struct pass_target target = {pass_input(path, i).format,
                                           path->output == OUTPUT_TEXTURE && i == plan->count - 1};
        const struct variant_pass of = {pass, &target, &path->device->info};
        struct candidate candidate = {path, plan, i};
        choices[i] = variant_choose(&of, &path->wanted, probed ? trusted : NULL, &candidate);
        tiled = tiled && (choices[i].variant->tiles || !pass_works_ahead(pass, target.format));
    }
    return tiled;
}

// Plans the chain and chooses the variants of its passes. A variant that the setup names is not probed.
static void plan_passes(struct plan *plan, struct variant_choice *choices, const struct opencl_path *path,
                        const struct chain *chain)
{
    const bool probed = !path->wanted.variant;
    opencl_plan_make(plan, path, chain, true);
    if (choose(path, plan, false, choices) && choose(path, plan, probed, choices))
        return;
    opencl_plan_make(plan, path, chain, false);
    choose(path, plan, probed, choices);
}

int opencl_variants(const struct path_setup *setup, const char *names[PATH_VARIANTS])
{
    struct opencl_path path;
    struct variant_choice choices[PLAN_PASSES];
    struct plan plan;
    int count = 0;
    names[count++] = "generic";
    for (int v = 0; variants[v] && count < PATH_VARIANTS; v++) {
        bool used = false;
        opencl_choose(&path, setup, OUTPUT_READ);
        opencl_want(&path, variants[v]->name);
        plan_passes(&plan, choices, &path, setup->chain);
        for (int i = 0; i < plan.count; i++)
            used = used || choices[i].variant == variants[v];
        if (used && variants[v]->devices & setup->device->info.type && strcmp(variants[v]->name, names[0]) != 0)
            names[count++] = variants[v]->name;
    }
    return count;
}

struct opencl_build *opencl_build_make(const struct opencl_path *path, const struct chain *chain, char **error)
{
    struct opencl_build *build = calloc(1, sizeof(*build));
    if (!build) {
        path_fail(error, "out of memory");
        return NULL;
    }
    struct variant_choice choices[PLAN_PASSES];
    plan_passes(&build->plan, choices, path, chain);
    const int passes = build->plan.count;
    const struct image_shape rgba = pass_input(path, 1);
    struct opencl_layout layout;
    size_t bytes = opencl_layout_make(&layout, &rgba);
    bool ok = true;
    for (int i = 0; ok && i < passes; i++) {
        const struct image_shape from = pass_input(path, i);
        ok = opencl_pass_make(path, &build->plan.pass[i], &from, path->output == OUTPUT_TEXTURE && i == passes - 1,
                              &choices[i], &build->pass[i], error);
    }
    for (int i = 0; ok && i < passes - 1 && i < 2; i++)
        ok = (build->between[i] = make_buffer(path->device, bytes, NULL, error)) != NULL;
    if (!ok) {
        opencl_build_free(build);
        return NULL;
    }
    return build;
}

static void release_buffer(cl_mem buffer)
{
    if (buffer)
        clReleaseMemObject(buffer);
}

void opencl_pass_free(struct opencl_pass *built)
{
    for (int i = 0; i < VARIANT_KERNELS; i++) {
        if (built->kernel[i])
            clReleaseKernel(built->kernel[i]);
    }
    if (built->program)
        clReleaseProgram(built->program);
    release_buffer(built->arguments);
}

void opencl_build_free(void *of)
{
    struct opencl_build *build = of;
    if (!build)
        return;
    for (int i = 0; i < build->plan.count; i++)
        opencl_pass_free(&build->pass[i]);
    release_buffer(build->between[0]);
    release_buffer(build->between[1]);
    free(build);
}
