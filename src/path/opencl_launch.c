// opencl_launch.c: enqueues the passes of a chain
#include "path/opencl_path.h"

size_t opencl_group_limit(const struct device_info *info, cl_kernel kernel)
{
    const size_t most = info->max_work_group > 0 ? info->max_work_group : 1;
    size_t own;
    const cl_int result =
        clGetKernelWorkGroupInfo(kernel, info->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof(own), &own, NULL);
    return result == CL_SUCCESS && own > 0 && own < most ? own : most;
}

static size_t pass_group_limit(const struct device_info *info, const struct opencl_pass *built)
{
    size_t most = SIZE_MAX;
    for (int i = 0; i < VARIANT_KERNELS && built->kernel[i]; i++) {
        const size_t own = opencl_group_limit(info, built->kernel[i]);
        most = own < most ? own : most;
    }
    return most;
}

static cl_int set_arguments(cl_kernel kernel, const struct opencl_pass *built, const struct opencl_layout *layout,
                            cl_mem from, cl_mem to)
{
    cl_int result = clSetKernelArg(kernel, 0, sizeof(from), &from);
    if (result == CL_SUCCESS)
        result = clSetKernelArg(kernel, 1, sizeof(*layout), layout);
    if (result == CL_SUCCESS)
        result = clSetKernelArg(kernel, 2, sizeof(built->arguments), &built->arguments);
    return result == CL_SUCCESS ? clSetKernelArg(kernel, 3, sizeof(to), &to) : result;
}

cl_int opencl_pass_run(const struct opencl_path *path, const struct opencl_pass *built, const struct pass *pass,
                       cl_command_queue queue, const struct opencl_layout *layout, cl_mem from, cl_mem to,
                       cl_event after, cl_event *first, cl_event *last)
{
    const struct device_info *info = &path->device->info;
    const struct variant_choice *choice = &built->choice;
    const struct variant_pass of = {.pass = pass, .device = info};
    struct variant_launch launches[VARIANT_LAUNCHES];
    const int count = choice->variant->launches(&of, choice->value, (size_t)layout->width, (size_t)layout->height,
                                                pass_group_limit(info, built), launches);
    for (int i = 0; i < count; i++) {
        const struct variant_launch *launch = &launches[i];
        cl_kernel kernel = built->kernel[launch->kernel];
        cl_event event = NULL;
        cl_int result = set_arguments(kernel, built, layout, from, to);
        if (result == CL_SUCCESS)
            result = clEnqueueNDRangeKernel(queue, kernel, 2, launch->offset, launch->size, launch->local,
                                            after ? 1 : 0, after ? &after : NULL, &event);
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
        between.stride[0] = between.to_stride * (pass->reads == PASS_GREY ? 1 : 4);
        cl_mem pass_to = i == passes - 1 ? to : build->between[i % 2];
        const cl_int result = opencl_pass_run(path, &build->pass[i], pass, queue, i == 0 ? layout : &between, from,
                                              pass_to, after, &first[i], &last[i]);
        if (result != CL_SUCCESS)
            return result;
        after = last[i];
        from = pass_to;
    }
    return CL_SUCCESS;
}
