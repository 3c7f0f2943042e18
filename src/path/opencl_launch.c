// opencl_launch.c: the NDRanges of a pass
#include "path/opencl_path.h"

// A launch of a kernel.
struct range {
    cl_kernel kernel;
    size_t offset[2], size[2], local[2];
};

enum { RANGES_MAX = 4 };

size_t opencl_row_group(size_t width, size_t most)
{
    for (size_t group = width < most ? width : most; group > 1; group--) {
        if (width % group == 0)
            return group;
    }
    return 1;
}

// Work-items that make blocks of pixels, rounded up to whole work-groups.
static struct range blocks(cl_kernel kernel, size_t width, size_t height, size_t block_width, size_t block_rows,
                           size_t most, size_t widest, size_t highest)
{
    const size_t across = most < widest ? most : widest;
    const size_t down = most / across < highest ? most / across : highest;
    const size_t wide = across * block_width, high = down * block_rows;
    return (struct range){
        kernel, {0}, {(width + wide - 1) / wide * across, (height + high - 1) / high * down}, {across, down}};
}

// Work-groups that walk down strips. Of their work-items the outermost make nothing, as many as the radius takes.
static struct range strips(cl_kernel kernel, size_t width, size_t height, size_t radius)
{
    const size_t margin = (radius + PASS_BLOCK_WIDTH - 1) / PASS_BLOCK_WIDTH;
    const size_t wide = (PASS_SUMS_ITEMS - 2 * margin) * PASS_BLOCK_WIDTH;
    const size_t across = (width + wide - 1) / wide, down = (height + PASS_SUMS_ROWS - 1) / PASS_SUMS_ROWS;
    return (struct range){kernel, {0}, {across * PASS_SUMS_ITEMS, down}, {PASS_SUMS_ITEMS, 1}};
}

size_t opencl_group_limit(const struct device_info *info, cl_kernel kernel)
{
    const size_t most = info->max_work_group > 0 ? info->max_work_group : 1;
    size_t own;
    const cl_int result =
        clGetKernelWorkGroupInfo(kernel, info->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof(own), &own, NULL);
    return result == CL_SUCCESS && own > 0 && own < most ? own : most;
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

// CPU devices run a work-group as a loop: the longer a row of it, the better.
enum { ROW_GROUP = 256 };

// Columns x to x + width - 1, none else, in work-groups of one row.
static struct range columns(cl_kernel kernel, size_t x, size_t width, size_t height, size_t group)
{
    return (struct range){kernel, {x, 0}, {width, height}, {group, 1}};
}

// The columns away from the sides in whole work-groups and a rest, then both sides.
static int inside_ranges(const struct opencl_pass *pass, size_t radius, size_t width, size_t height, size_t most,
                         struct range *ranges)
{
    if (width <= 2 * radius) {
        ranges[0] = blocks(pass->kernel, width, height, 1, 1, most, ROW_GROUP, 1);
        return 1;
    }
    const size_t group = most < ROW_GROUP ? most : ROW_GROUP, inner = width - 2 * radius;
    const size_t whole = inner / group * group, side = radius < most ? radius : 1;
    int count = 0;
    if (whole > 0)
        ranges[count++] = columns(pass->inside, radius, whole, height, group);
    if (inner > whole)
        ranges[count++] = columns(pass->inside, radius + whole, inner - whole, height, inner - whole);
    ranges[count++] = columns(pass->kernel, 0, radius, height, side);
    ranges[count++] = columns(pass->kernel, width - radius, radius, height, side);
    return count;
}

static int pass_ranges(const struct device_info *info, const struct opencl_pass *pass, int radius,
                       const struct opencl_layout *layout, struct range *ranges)
{
    const size_t width = (size_t)layout->width, height = (size_t)layout->height;
    size_t most = opencl_group_limit(info, pass->kernel);
    if (pass->inside) {
        const size_t own = opencl_group_limit(info, pass->inside);
        most = own < most ? own : most;
        return inside_ranges(pass, (size_t)radius, width, height, most, ranges);
    }
    if (pass->sums)
        ranges[0] = strips(pass->kernel, width, height, (size_t)radius);
    else if (pass->block_rows == 0 && info->type & CL_DEVICE_TYPE_CPU)
        ranges[0] = blocks(pass->kernel, width, height, 1, 1, most, ROW_GROUP, 1);
    else
        ranges[0] = blocks(pass->kernel, width, height, pass->block_rows > 0 ? PASS_BLOCK_WIDTH : 1,
                           pass->block_rows > 0 ? (size_t)pass->block_rows : 1, most,
                           pass->flat ? PASS_GROUP_WIDTH * PASS_GROUP_HEIGHT : PASS_GROUP_WIDTH,
                           pass->flat ? 1 : PASS_GROUP_HEIGHT);
    return 1;
}

// Enqueues a pass; *first and *last are the events of its first and last launch, two references where that is one.
static cl_int launch(cl_command_queue queue, const struct opencl_pass *pass, const struct range *ranges, int count,
                     const struct opencl_layout *layout, cl_mem from, cl_mem to, cl_event after, cl_event *first,
                     cl_event *last)
{
    for (int i = 0; i < count; i++) {
        const struct range *r = &ranges[i];
        cl_event event = NULL;
        cl_int result = set_arguments(r->kernel, pass, layout, from, to);
        if (result == CL_SUCCESS)
            result = clEnqueueNDRangeKernel(queue, r->kernel, 2, r->offset, r->size, r->local, after ? 1 : 0,
                                            after ? &after : NULL, &event);
        if (result != CL_SUCCESS)
            return result;
        if (i == 0) {
            *first = *last = event;
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
        const struct opencl_pass *built = &build->pass[i];
        between.stride[0] = between.to_stride * (pass->reads == PASS_GREY ? 1 : 4);
        if (i > 0)
            layout = &between;
        cl_mem pass_to = i == passes - 1 ? to : build->between[i % 2];
        struct range ranges[RANGES_MAX];
        const int count = pass_ranges(&path->device->info, built, pass->stencil ? pass->stencil->arguments.radius : 0,
                                      layout, ranges);
        const cl_int result = launch(queue, built, ranges, count, layout, from, pass_to, after, &first[i], &last[i]);
        if (result != CL_SUCCESS)
            return result;
        after = last[i];
        from = pass_to;
    }
    return CL_SUCCESS;
}
