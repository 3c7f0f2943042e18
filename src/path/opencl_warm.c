// opencl_warm.c: a new chain run once, away from the frames
#include "path/opencl_path.h"

#include <stdio.h>
#include <stdlib.h>

cl_mem opencl_zeros(const struct opencl_path *path, size_t bytes, cl_int *result)
{
    void *zeros = calloc(1, bytes);
    cl_mem memory = NULL;
    *result = CL_OUT_OF_HOST_MEMORY;
    if (zeros)
        memory = clCreateBuffer(path->device->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, zeros, result);
    free(zeros);
    return memory;
}

struct scratch {
    cl_command_queue queue;
    cl_mem from, to;
    cl_event first[PLAN_PASSES], last[PLAN_PASSES];
};

static cl_int scratch_open(struct scratch *scratch, const struct opencl_path *path)
{
    cl_int result;
    scratch->queue = clCreateCommandQueue(path->device->context, path->device->info.id, 0, &result);
    if (result == CL_SUCCESS)
        scratch->from = opencl_zeros(path, path->input_bytes, &result);
    if (result == CL_SUCCESS)
        scratch->to = opencl_output_make(path, 0, &result);
    return result;
}

static void scratch_close(struct scratch *scratch)
{
    for (int i = 0; i < PLAN_PASSES; i++) {
        opencl_release_event(&scratch->first[i]);
        opencl_release_event(&scratch->last[i]);
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
    snprintf(text, sizeof(text), "cannot run the kernels: %s (%d)", compute_result_name(result), (int)result);
    path_fail(error, text);
    return false;
}
