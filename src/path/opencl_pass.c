// opencl_pass.c: a pass on an OpenCL device: the layout of its pictures, its kernels and their launches
#include "path/opencl_pass.h"

#include "base/pages.h"
#include "compute/program.h"
#include "path/backend.h"

#include <stdio.h>
#include <stdlib.h>

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

// Makes the second picture of the last filter. On failure: *error as in path_open.
static cl_int open_second(struct opencl_pass *opened, cl_context context, char **error)
{
    const struct pass *pass = opened->pass;
    const size_t bytes = sizeof(cl_uint) * (size_t)pass->width * (size_t)pass->height;
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
    if (pass->last)
        result = open_second(opened, device->context, error);
    if (result == CL_SUCCESS && pass_measures(pass))
        result = opencl_histogram_open(&opened->histogram, device, pass, error);
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
    opencl_histogram_close(&opened->histogram);
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
    return (struct image_shape){.width = pass->warp ? pass->map.width : layout->width,
                                .height = pass->warp ? pass->map.height : layout->height};
}

cl_int opencl_pass_run(const struct opencl_pass *opened, cl_command_queue queue, const struct opencl_layout *layout,
                       cl_mem from, cl_mem to, cl_event after, struct device_span *span)
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
    if (pass_measures(opened->pass)) {
        result = opencl_histogram_run(&opened->histogram, queue, layout, from, opened->arguments, after, span);
        after = NULL; // the queue keeps the order
    }
    for (int i = 0; result == CL_SUCCESS && i < count; i++) {
        const struct variant_launch *launch = &launches[i];
        const struct kernel_argument arguments[] = {{sizeof(from), &from},
                                                    {sizeof(laid_out), &laid_out},
                                                    {sizeof(opened->arguments), &opened->arguments},
                                                    {sizeof(to), &to},
                                                    {sizeof(opened->second), &opened->second}};
        result = kernel_run(opened->kernel[launch->kernel], queue, arguments, opened->second ? 5 : 4, launch->offset,
                            launch->size, launch->local, i == 0 ? after : NULL, span);
    }
    return result;
}
