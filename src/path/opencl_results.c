// opencl_results.c: computes what a result has besides RGBA on an OpenCL device: measures, YUV
#include "path/opencl_results.h"

#include "compute/program.h"
#include "path/backend.h"
#include "path/opencl_chain.h"

#include <stdio.h>
#include <stdlib.h>

enum { HISTOGRAM, COLUMNS, ROWS };
enum { GROUPS_PER_UNIT = 8, CPU_ITEMS = 64, ITEMS = 256, PART_ROWS = 32 };

static const struct {
    const char *name;
    enum path_measure measure;
} kernels[OPENCL_MEASURES] = {
    [HISTOGRAM] = {"count_channels", MEASURE_HISTOGRAM},
    [COLUMNS] = {"sum_columns", MEASURE_COLUMNS},
    [ROWS] = {"sum_rows", MEASURE_ROWS},
};

bool opencl_measures_open(struct opencl_measures *measures, struct device *device, const struct measuring *measuring,
                          int from_stride, char **error)
{
    *measures = (struct opencl_measures){.device = &device->info,
                                         .measuring = measuring,
                                         .from_stride = from_stride,
                                         .bytes = sizeof(cl_uint) * measuring_values(measuring)};
    for (int i = 0; i < OPENCL_MEASURES; i++) {
        char *why;
        if (!(measuring->wanted & kernels[i].measure))
            continue;
        measures->kernel[i] = program_file_kernel(device, "measures.cl", "-cl-std=CL1.2", kernels[i].name, &why);
        if (!measures->kernel[i]) {
            path_fail(error, why ? why : "cannot compile measures.cl");
            free(why);
            return false;
        }
    }
    return true;
}

void opencl_measures_close(struct opencl_measures *measures)
{
    for (int i = 0; i < OPENCL_MEASURES; i++) {
        if (measures->kernel[i])
            clReleaseKernel(measures->kernel[i]);
    }
}

// Returns the work-groups of a kernel, which has `items` work-items in each: across and down.
static void count_groups(const struct opencl_measures *measures, int kernel, size_t items, size_t groups[2])
{
    const size_t width = (size_t)measures->measuring->width, height = (size_t)measures->measuring->height;
    const size_t wanted = (size_t)measures->device->compute_units * GROUPS_PER_UNIT;
    groups[0] = kernel == ROWS || height < wanted ? height : wanted;
    groups[1] = 1;
    if (kernel == COLUMNS) {
        groups[0] = (width + items - 1) / items;
        groups[1] = (height + PART_ROWS - 1) / PART_ROWS;
    }
}

cl_int opencl_measures_run(const struct opencl_measures *measures, cl_command_queue queue, cl_mem from, cl_mem to,
                           struct device_span *span)
{
    const struct measuring *m = measures->measuring;
    const cl_int size[4] = {m->width, m->height, measures->from_stride, m->strips};
    const cl_uint zero = 0;
    const size_t cpu_items = measures->device->type & DEVICE_CPU ? CPU_ITEMS : ITEMS;
    cl_event event;
    cl_int result = clEnqueueFillBuffer(queue, to, &zero, sizeof(zero), 0, measures->bytes, 0, NULL, &event);
    if (result == CL_SUCCESS)
        span_add(span, event);
    for (int i = 0; result == CL_SUCCESS && i < OPENCL_MEASURES; i++) {
        if (!measures->kernel[i])
            continue;
        const size_t limit = kernel_group_limit(measures->device, measures->kernel[i]);
        const size_t items = limit < cpu_items ? limit : cpu_items;
        size_t groups[2];
        count_groups(measures, i, items, groups);
        const cl_int first = (cl_int)measuring_at(m, kernels[i].measure);
        const struct kernel_argument arguments[] = {
            {sizeof(from), &from}, {sizeof(size), size}, {sizeof(to), &to}, {sizeof(first), &first}};
        result = kernel_run(measures->kernel[i], queue, arguments, 4, (size_t[2]){0, 0},
                            (size_t[2]){groups[0] * items, groups[1]}, (size_t[2]){items, 1}, NULL, span);
    }
    return result;
}

// ---- YUV ----

enum { GROUP = 64 };

// The int16 of kernels/encode.cl.
struct encoding {
    cl_int width, height, from_stride;
    struct color_reverse weights;
    cl_int luma_offset, unused[3];
};
_Static_assert(sizeof(struct encoding) == sizeof(cl_int16), "the encoding is an int16 to the kernel");

// Returns the plane of U.
static const struct pixfmt_plane *chroma_of(const struct pixfmt_info *info)
{
    return &info->plane[info->samples[1].plane];
}

bool opencl_encoder_open(struct opencl_encoder *encoder, struct device *device, const struct image_shape *shape,
                         int from_stride, char **error)
{
    const struct pixfmt_info *info = pixfmt_info(shape->format);
    const struct pixfmt_samples *y = &info->samples[0], *u = &info->samples[1], *v = &info->samples[2];
    const struct pixfmt_plane *chroma = chroma_of(info);
    char options[256], *why;
    *encoder = (struct opencl_encoder){
        .device = &device->info, .shape = *shape, .from_stride = from_stride, .bytes = image_bytes(shape)};
    snprintf(options, sizeof(options),
             "-cl-std=CL1.2 -DY_BYTE=%d -DY_STEP=%d -DU_PLANE=%d -DU_BYTE=%d -DV_PLANE=%d -DV_BYTE=%d -DCHROMA_STEP=%d "
             "-DSHIFT_X=%d -DSHIFT_Y=%d",
             y->first, y->step, u->plane, u->first, v->plane, v->first, u->step, chroma->shift_x, chroma->shift_y);
    encoder->kernel = program_file_kernel(device, "encode.cl", options, "encode", &why);
    if (!encoder->kernel)
        path_fail(error, why ? why : "cannot compile encode.cl");
    free(why);
    return encoder->kernel != NULL;
}

void opencl_encoder_close(struct opencl_encoder *encoder)
{
    if (encoder->kernel)
        clReleaseKernel(encoder->kernel);
}

cl_int opencl_encode(const struct opencl_encoder *encoder, cl_command_queue queue, cl_mem from, cl_mem to,
                     struct device_span *span)
{
    const struct image_shape *shape = &encoder->shape;
    const struct encoding encoding = {
        .width = shape->width,
        .height = shape->height,
        .from_stride = encoder->from_stride,
        .weights = color_to_yuv(shape->color),
        .luma_offset = shape->color.range == COLOR_RANGE_FULL ? 0 : 16,
    };
    const struct kernel_argument arguments[] = {
        {sizeof(from), &from}, {sizeof(encoding), &encoding}, {sizeof(to), &to}};
    const size_t block_rows = (size_t)1 << chroma_of(pixfmt_info(shape->format))->shift_y;
    const size_t width = ((size_t)shape->width + 1) / 2, height = ((size_t)shape->height + block_rows - 1) / block_rows;
    const size_t most = kernel_group_limit(encoder->device, encoder->kernel);
    size_t group = most < GROUP ? most : GROUP;
    while (group > width)
        group /= 2;
    // Whole work-groups of blocks. The last one overlaps with the one before and writes the same bytes again: PoCL
    // compiles the kernel for each size of a work-group, which takes 0.3 s.
    const size_t whole = width / group * group, local[2] = {group, 1};
    cl_int result = kernel_run(encoder->kernel, queue, arguments, 3, (size_t[2]){0, 0}, (size_t[2]){whole, height},
                               local, NULL, span);
    if (result == CL_SUCCESS && whole < width)
        result = kernel_run(encoder->kernel, queue, arguments, 3, (size_t[2]){width - group, 0},
                            (size_t[2]){group, height}, local, NULL, span);
    return result;
}
