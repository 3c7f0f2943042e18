// opencl_build.c: a chain compiled for a device
#include "base/pages.h"
#include "compute/program.h"
#include "path/opencl_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Floats hold whole numbers, fractions of 255, or are roots of whole numbers: never so small as to be denormal.
#define OPTIONS "-cl-std=CL1.2 -cl-denorms-are-zero"
#define OPTIONS_QUICK OPTIONS " -cl-opt-disable" // blocks on a CPU device, which is asked for them to see their bytes

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

void opencl_choose(struct opencl_path *path, const struct path_setup *setup, enum output output)
{
    path->path.input = setup->input;
    path->device = setup->device;
    path->output = output;
    path->launch = setup->launch;
    if (path->launch == PATH_LAUNCH_AUTO)
        path->launch = setup->device->info.type & CL_DEVICE_TYPE_CPU ? PATH_LAUNCH_LOOP : PATH_LAUNCH_BLOCK;
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

// For work-groups that share local memory.
static bool has_room(const struct device_info *info)
{
    return info->local_bytes >= PASS_TILE_BYTES && info->max_work_group >= PASS_GROUP_WIDTH * PASS_GROUP_HEIGHT;
}

// By measurement. An image's rows are kept until the whole work-group writes them, so that fewer are better.
enum { POINT_ROWS = 4, IMAGE_ROWS = 4 };

// By measurement, at radius 1, 2, 3, 4: pixels loaded for one row serve the next ones too, but registers are few.
static int rows_of(const char *filter, int radius)
{
    static const struct {
        const char *filter;
        int rows[PASS_WINDOW_RADIUS];
    } own[] = {{"blur", {4, 8, 8, 8}}, {"convolve", {4, 6, 3, 2}}, {"sharpen", {8}}};
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
        if (strcmp(own[i].filter, filter) == 0)
            return own[i].rows[radius - 1];
    }
    return 4;
}

// Rows of a block. Chroma halved down the picture serves two rows. CPU devices, which take blocks only where they must,
// compile large ones for seconds.
static int block_rows(const struct device_info *info, const struct stage *stencil, bool to_image)
{
    const int radius = stencil ? stencil->arguments.radius : 0;
    if (info->type & CL_DEVICE_TYPE_CPU)
        return 2;
    const int rows = radius > 0 ? rows_of(stencil->filter->name, radius) : POINT_ROWS;
    return to_image && rows > IMAGE_ROWS ? IMAGE_ROWS : rows;
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

static const char *build_options(const struct opencl_path *path)
{
    const bool cpu = path->device->info.type & CL_DEVICE_TYPE_CPU;
    return cpu && path->launch == PATH_LAUNCH_BLOCK ? OPTIONS_QUICK : OPTIONS;
}

static bool make_pass(const struct opencl_path *path, const struct pass *pass, const struct image_shape *from,
                      bool to_image, struct opencl_pass *built, char **error)
{
    struct device *device = path->device;
    const bool loop = path->launch == PATH_LAUNCH_LOOP;
    const int radius = pass->stencil ? pass->stencil->arguments.radius : 0;
    const bool sums = radius > PASS_WINDOW_RADIUS && (!loop || has_room(&device->info));
    const bool inside = loop && !sums && radius > 0;
    if (sums && !loop && !has_room(&device->info)) {
        path_fail(error, "the device's local memory or work-groups are too small for a radius above 4; use -p cpu");
        return false;
    }
    built->block_rows = loop || sums ? 0 : block_rows(&device->info, pass->stencil, to_image);
    built->sums = sums;
    built->flat = radius == 0 && !to_image;
    snprintf(built->name, sizeof(built->name), "pass %s", pass->name);
    const struct pass_target target = {
        .format = from->format, .to_image = to_image, .block_rows = built->block_rows, .inside = inside, .sums = sums};
    char *text = pass_text(pass, &target, device->kernel_dir, error);
    if (!text)
        return false;
    char *why;
    built->program = program_build(device, text, build_options(path), &why);
    free(text);
    if (!built->program) {
        path_fail(error, why ? why : "cannot compile the kernels");
        free(why);
        return false;
    }
    int32_t arguments[PASS_ARGUMENTS] = {0};
    const int count = pass_arguments(pass, from, arguments);
    built->arguments = make_buffer(device, sizeof(*arguments) * (size_t)(count > 0 ? count : 1), arguments, error);
    built->kernel = make_kernel(built->program, sums ? "pass_sums" : loop ? "pass" : "pass_window", error);
    if (inside)
        built->inside = make_kernel(built->program, "pass_inside", error);
    return built->arguments && built->kernel && (!inside || built->inside);
}

struct opencl_build *opencl_build_make(const struct opencl_path *path, const struct chain *chain, char **error)
{
    const struct image_shape *input = &path->path.input;
    struct opencl_build *build = calloc(1, sizeof(*build));
    if (!build) {
        path_fail(error, "out of memory");
        return NULL;
    }
    plan_make(&build->plan, chain);
    // Blocks convert and filter once what their windows share, in local memory, where there is enough of it.
    const bool tiles = path->launch != PATH_LAUNCH_LOOP && has_room(&path->device->info);
    plan_split(&build->plan, input->format == PIXFMT_RGBA, tiles ? PASS_WINDOW_RADIUS + 1 : 0);
    plan_mark_grey(&build->plan, input->format != PIXFMT_RGBA, input->format == PIXFMT_GREY);
    const struct image_shape rgba = {.format = PIXFMT_RGBA, .width = input->width, .height = input->height};
    const int passes = build->plan.count;
    bool ok = true;
    for (int i = 0; ok && i < passes; i++)
        ok = make_pass(path, &build->plan.pass[i], i == 0 ? input : &rgba,
                       path->output == OUTPUT_TEXTURE && i == passes - 1, &build->pass[i], error);
    struct opencl_layout layout;
    size_t bytes = opencl_layout_make(&layout, &rgba);
    for (int i = 0; i < passes; i++) {
        const size_t own =
            pass_pixel_bytes[build->plan.pass[i].writes] * (size_t)layout.to_stride * (size_t)input->height;
        bytes = own + OPENCL_WIDE_LOAD > bytes ? own + OPENCL_WIDE_LOAD : bytes;
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

void opencl_build_free(void *of)
{
    struct opencl_build *build = of;
    if (!build)
        return;
    for (int i = 0; i < build->plan.count; i++) {
        struct opencl_pass *pass = &build->pass[i];
        if (pass->kernel)
            clReleaseKernel(pass->kernel);
        if (pass->inside)
            clReleaseKernel(pass->inside);
        if (pass->program)
            clReleaseProgram(pass->program);
        release_buffer(pass->arguments);
    }
    release_buffer(build->between[0]);
    release_buffer(build->between[1]);
    free(build);
}
