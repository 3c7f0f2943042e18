// opencl_launch.c: the NDRanges of a pass
#include "path/opencl_path.h"

enum {
    EDGE_GROUP = 64,
    // CPU devices run a work-group as one loop: the longer the better, but a width with no large divisor is better cut
    // into whole groups of this size and a rest than into tiny groups.
    ROW_GROUP = 256,
    ROW_GROUP_MIN = 64,
};

struct range {
    cl_kernel kernel;
    cl_uint dimensions;
    size_t offset[2], size[2], local[2];
};

enum { RANGES_MAX = 3 };

size_t opencl_row_group(size_t width, size_t most)
{
    for (size_t group = width < most ? width : most; group > 1; group--) {
        if (width % group == 0)
            return group;
    }
    return 1;
}

static struct range rows(cl_kernel kernel, size_t x, size_t y, size_t width, size_t height, size_t group)
{
    return (struct range){kernel, 2, {x, y}, {width, height}, {group, 1}};
}

// Interior by exact ranges, edges by one more launch.
static int exact_ranges(const struct opencl_pass *pass, size_t radius, size_t width, size_t height, size_t most,
                        struct range *ranges)
{
    int count = 0;
    if (width > 2 * radius) {
        const size_t inner = width - 2 * radius;
        const cl_kernel kernel = pass->kernel[KERNEL_INTERIOR];
        const size_t group = opencl_row_group(inner, most);
        if (group >= ROW_GROUP_MIN || inner < ROW_GROUP || most < ROW_GROUP) {
            ranges[count++] = rows(kernel, radius, 0, inner, height, group);
        } else {
            const size_t whole = inner / ROW_GROUP * ROW_GROUP, rest = inner - whole;
            ranges[count++] = rows(kernel, radius, 0, whole, height, ROW_GROUP);
            if (rest > 0)
                ranges[count++] = rows(kernel, radius + whole, 0, rest, height, rest);
        }
    }
    if (radius > 0) {
        const size_t sides = 2 * radius < width ? 2 * radius : width;
        const size_t group = most < EDGE_GROUP ? most : EDGE_GROUP;
        ranges[count++] = (struct range){
            pass->kernel[KERNEL_EDGES], 2, {0}, {sides, (height + group - 1) / group * group}, {1, group}};
    }
    return count;
}

// Work-items that make blocks of pixels, rounded up to whole work-groups.
static struct range blocks(cl_kernel kernel, size_t width, size_t height, size_t block_width, size_t block_rows,
                           size_t most, bool flat)
{
    const size_t widest = flat ? PASS_GROUP_WIDTH * PASS_GROUP_HEIGHT : PASS_GROUP_WIDTH;
    const size_t highest = flat ? 1 : PASS_GROUP_HEIGHT;
    const size_t across = most < widest ? most : widest;
    const size_t down = most / across < highest ? most / across : highest;
    const size_t wide = across * block_width, high = down * block_rows;
    return (struct range){
        kernel, 2, {0}, {(width + wide - 1) / wide * across, (height + high - 1) / high * down}, {across, down}};
}

// Work-groups that walk down strips. Of their work-items the outermost make nothing, as many as the radius takes.
static struct range strips(cl_kernel kernel, size_t width, size_t height, size_t radius)
{
    const size_t margin = (radius + PASS_BLOCK_WIDTH - 1) / PASS_BLOCK_WIDTH;
    const size_t wide = (PASS_SUMS_ITEMS - 2 * margin) * PASS_BLOCK_WIDTH;
    const size_t across = (width + wide - 1) / wide, down = (height + PASS_SUMS_ROWS - 1) / PASS_SUMS_ROWS;
    return (struct range){kernel, 2, {0}, {across * PASS_SUMS_ITEMS, down}, {PASS_SUMS_ITEMS, 1}};
}

// Parts of some rows, evenly.
static struct range parts(const struct device_info *info, cl_kernel kernel, size_t width, size_t height)
{
    const size_t across = (width + PASS_LINES_WIDTH - 1) / PASS_LINES_WIDTH;
    const size_t wanted = PASS_LINES_PARTS * (size_t)(info->compute_units > 0 ? info->compute_units : 1);
    const size_t down = (wanted + across - 1) / across, share = (height + down - 1) / down;
    const size_t high = share > PASS_LINES_ROWS_MIN ? share : PASS_LINES_ROWS_MIN;
    return rows(kernel, 0, 0, across, (height + high - 1) / high, 1);
}

size_t opencl_group_limit(const struct device_info *info, cl_kernel kernel)
{
    const size_t most = info->max_work_group > 0 ? info->max_work_group : 1;
    size_t own;
    const cl_int result =
        clGetKernelWorkGroupInfo(kernel, info->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof(own), &own, NULL);
    return result == CL_SUCCESS && own > 0 && own < most ? own : most;
}

static size_t pass_group_limit(const struct device_info *info, const struct opencl_pass *pass)
{
    size_t most = SIZE_MAX;
    for (int i = 0; i < KERNELS; i++) {
        const size_t own = pass->kernel[i] ? opencl_group_limit(info, pass->kernel[i]) : most;
        most = own < most ? own : most;
    }
    return most;
}

static cl_int set_arguments(cl_kernel kernel, const struct opencl_pass *pass, const struct opencl_layout *layout,
                            cl_mem from, cl_mem to)
{
    cl_int result = clSetKernelArg(kernel, 0, sizeof(from), &from);
    if (result == CL_SUCCESS)
        result = clSetKernelArg(kernel, 1, sizeof(*layout), layout);
    if (result == CL_SUCCESS)
        result = clSetKernelArg(kernel, 2, sizeof(pass->arguments), &pass->arguments);
    return result == CL_SUCCESS ? clSetKernelArg(kernel, 3, sizeof(to), &to) : result;
}

// Enqueues a pass. *first and *last are the events of its first and last launch (one event, retained twice, where there
// is one launch).
static cl_int launch(const struct device_info *info, cl_command_queue queue, const struct opencl_pass *pass, int radius,
                     const struct opencl_layout *layout, cl_mem from, cl_mem to, cl_event after, cl_event *first,
                     cl_event *last)
{
    struct range ranges[RANGES_MAX];
    const size_t width = (size_t)layout->width, height = (size_t)layout->height;
    const size_t most = pass_group_limit(info, pass);
    int count = 1;
    if (pass->kernel[KERNEL_BLOCK])
        ranges[0] = blocks(pass->kernel[KERNEL_BLOCK], width, height, PASS_BLOCK_WIDTH, (size_t)pass->block_rows, most,
                           pass->flat);
    else if (pass->kernel[KERNEL_ROWS])
        ranges[0] = rows(pass->kernel[KERNEL_ROWS], 0, 0, 1, height, 1);
    else if (pass->kernel[KERNEL_LINES])
        ranges[0] = parts(info, pass->kernel[KERNEL_LINES], width, height);
    else if (pass->kernel[KERNEL_SUMS])
        ranges[0] = strips(pass->kernel[KERNEL_SUMS], width, height, (size_t)radius);
    else
        count = exact_ranges(pass, (size_t)radius, width, height, most, ranges);
    *first = *last = NULL;
    for (int i = 0; i < count; i++) {
        const struct range *r = &ranges[i];
        cl_event event = NULL;
        cl_int result = set_arguments(r->kernel, pass, layout, from, to);
        if (result == CL_SUCCESS)
            result = clEnqueueNDRangeKernel(queue, r->kernel, r->dimensions, r->offset, r->size, r->local,
                                            after ? 1 : 0, after ? &after : NULL, &event);
        if (result != CL_SUCCESS)
            return result;
        if (i == 0) {
            *first = event;
            *last = event;
            clRetainEvent(event);
        } else {
            clReleaseEvent(*last);
            *last = event;
        }
    }
    return CL_SUCCESS;
}

cl_int opencl_run(const struct opencl_path *path, struct opencl_build *build, cl_command_queue queue, cl_mem from,
                  const struct opencl_layout *layout, cl_mem to, cl_event after, cl_event *first, cl_event *last)
{
    const int passes = build->plan.count;
    const struct image_shape rgba = {.width = path->path.input.width, .height = path->path.input.height};
    struct opencl_layout between;
    opencl_layout_make(&between, &rgba);
    for (int i = 0; i < passes; i++) {
        const struct pass *pass = &build->plan.pass[i];
        between.stride[0] = between.to_stride * (pass->reads == PASS_GREY ? 1 : 4);
        cl_mem pass_to = i == passes - 1 ? to : build->between[i % 2];
        const cl_int result =
            launch(&path->device->info, queue, &build->pass[i], pass->stencil ? pass->stencil->arguments.radius : 0,
                   i == 0 ? layout : &between, from, pass_to, after, &first[i], &last[i]);
        if (result != CL_SUCCESS)
            return result;
        after = last[i];
        from = pass_to;
    }
    return CL_SUCCESS;
}
