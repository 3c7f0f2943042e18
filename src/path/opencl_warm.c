// opencl_warm.c: a new chain run once, away from the frames
#include "path/opencl_path.h"

#include <stdio.h>

struct scratch {
    cl_command_queue queue;
    cl_mem from, to;
    cl_event first[PLAN_PASSES], last[PLAN_PASSES];
};

cl_mem opencl_scratch_output(const struct opencl_path *path, cl_int *result)
{
    cl_context context = path->device->context;
    if (path->output != OUTPUT_TEXTURE)
        return clCreateBuffer(context, CL_MEM_READ_WRITE, path->output_bytes, NULL, result);
    const cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
    const cl_image_desc size = {
        .image_type = CL_MEM_OBJECT_IMAGE2D,
        .image_width = (size_t)path->path.input.width,
        .image_height = (size_t)path->path.input.height,
    };
    return clCreateImage(context, CL_MEM_READ_WRITE, &format, &size, NULL, result);
}

static cl_int scratch_open(struct scratch *scratch, const struct opencl_path *path)
{
    cl_context context = path->device->context;
    cl_int result;
    scratch->queue = clCreateCommandQueue(context, path->device->info.id, 0, &result);
    if (result == CL_SUCCESS)
        scratch->from = clCreateBuffer(context, CL_MEM_READ_ONLY, path->input_bytes, NULL, &result);
    if (result == CL_SUCCESS)
        scratch->to = opencl_scratch_output(path, &result);
    return result;
}

static void scratch_close(struct scratch *scratch)
{
    for (int i = 0; i < PLAN_PASSES; i++) {
        if (scratch->first[i])
            clReleaseEvent(scratch->first[i]);
        if (scratch->last[i])
            clReleaseEvent(scratch->last[i]);
    }
    if (scratch->from)
        clReleaseMemObject(scratch->from);
    if (scratch->to)
        clReleaseMemObject(scratch->to);
    if (scratch->queue)
        clReleaseCommandQueue(scratch->queue);
}

bool opencl_warm_up(const struct opencl_path *path, struct opencl_build *build, char **error)
{
    struct scratch scratch = {0};
    cl_int result = scratch_open(&scratch, path);
    if (result == CL_SUCCESS)
        result = opencl_run(path, build, scratch.queue, scratch.from, &path->input_layout, scratch.to, NULL,
                            scratch.first, scratch.last);
    if (scratch.queue) {
        const cl_int finished = clFinish(scratch.queue);
        result = result == CL_SUCCESS ? finished : result;
    }
    scratch_close(&scratch);
    if (result == CL_SUCCESS)
        return true;
    char text[160];
    snprintf(text, sizeof(text), "the kernels compile but do not run: %s (%d)", compute_result_name(result),
             (int)result);
    path_fail(error, text);
    return false;
}
