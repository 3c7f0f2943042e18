// opencl_resident.c: passes on pictures that stay in the device's memory
#include "path/opencl_path.h"
#include "path/resident.h"

#include "base/log.h"

#include <stdlib.h>

enum { OUTPUTS = 2 }; // as a path with one frame in flight has

struct resident {
    struct opencl_path cl; // as much of a path as running passes takes: device, queue, shape, layout
    int pictures, last;    // last: output of the latest run
    cl_mem *picture;
    cl_mem output[OUTPUTS];
};

struct resident_chain {
    struct resident *resident;
    struct opencl_build *build;
    int first; // picture of a call's first run
};

static cl_int make_memory(struct resident *resident)
{
    const struct opencl_path *cl = &resident->cl;
    const cl_mem_flags flags = cl->device->info.host_unified ? CL_MEM_ALLOC_HOST_PTR : 0; // as the path has it
    cl_int result = CL_SUCCESS;
    for (int i = 0; result == CL_SUCCESS && i < resident->pictures; i++)
        resident->picture[i] =
            clCreateBuffer(cl->device->context, CL_MEM_READ_ONLY | flags, cl->input_bytes, NULL, &result);
    for (int i = 0; result == CL_SUCCESS && i < OUTPUTS; i++)
        resident->output[i] = opencl_output_make(cl, flags, &result);
    return result;
}

struct resident *resident_open(const struct path_setup *setup, int pictures, bool to_image)
{
    struct resident *resident = calloc(1, sizeof(*resident));
    cl_mem *picture = calloc((size_t)pictures, sizeof(*picture));
    if (!resident || !picture) {
        log_error("cannot store images on the device: out of memory");
        free(resident);
        free(picture);
        return NULL;
    }
    resident->pictures = pictures;
    resident->picture = picture;
    struct opencl_path *cl = &resident->cl;
    opencl_choose(cl, setup, to_image ? OUTPUT_TEXTURE : OUTPUT_READ);
    cl_int result;
    cl->compute_queue =
        clCreateCommandQueue(cl->device->context, cl->device->info.id, CL_QUEUE_PROFILING_ENABLE, &result);
    if (result == CL_SUCCESS)
        result = make_memory(resident);
    if (!compute_ok(result, "store images on the device")) {
        resident_close(resident);
        return NULL;
    }
    return resident;
}

static void release(cl_mem memory)
{
    if (memory)
        clReleaseMemObject(memory);
}

void resident_close(struct resident *resident)
{
    if (!resident)
        return;
    if (resident->cl.compute_queue)
        clFinish(resident->cl.compute_queue);
    for (int i = 0; i < resident->pictures; i++)
        release(resident->picture[i]);
    for (int i = 0; i < OUTPUTS; i++)
        release(resident->output[i]);
    if (resident->cl.compute_queue)
        clReleaseCommandQueue(resident->cl.compute_queue);
    free(resident->picture);
    free(resident);
}

bool resident_fill(struct resident *resident, int picture, const struct image *frame)
{
    const struct opencl_path *cl = &resident->cl;
    cl_int result;
    uint8_t *to = clEnqueueMapBuffer(cl->compute_queue, resident->picture[picture], CL_TRUE,
                                     CL_MAP_WRITE_INVALIDATE_REGION, 0, cl->input_bytes, 0, NULL, NULL, &result);
    if (result == CL_SUCCESS) {
        opencl_layout_copy(&cl->input_layout, to, frame);
        result = clEnqueueUnmapMemObject(cl->compute_queue, resident->picture[picture], to, 0, NULL, NULL);
    }
    if (result == CL_SUCCESS)
        result = clFinish(cl->compute_queue);
    return compute_ok(result, "copy an image to the device");
}

struct resident_chain *resident_chain_open(struct resident *resident, const struct chain *chain, const char *variant,
                                           char **error)
{
    *error = NULL;
    struct resident_chain *opened = calloc(1, sizeof(*opened));
    if (!opened) {
        path_fail(error, "out of memory");
        return NULL;
    }
    opened->resident = resident;
    opencl_want(&resident->cl, variant);
    opened->build = opencl_build_make(&resident->cl, chain, error);
    if (opened->build)
        return opened;
    resident_chain_close(opened);
    return NULL;
}

void resident_chain_close(struct resident_chain *chain)
{
    if (!chain)
        return;
    opencl_build_free(chain->build);
    free(chain);
}

static cl_int enqueue(void *context, int run, cl_event *first, cl_event *last)
{
    struct resident_chain *chain = context;
    struct resident *resident = chain->resident;
    const int passes = chain->build->plan.count;
    cl_event from[PLAN_PASSES] = {NULL}, to[PLAN_PASSES] = {NULL};
    resident->last = (resident->last + 1) % OUTPUTS;
    const cl_int result = opencl_run(&resident->cl, chain->build, resident->cl.compute_queue,
                                     resident->picture[(chain->first + run) % resident->pictures],
                                     &resident->cl.input_layout, resident->output[resident->last], NULL, from, to);
    *first = from[0];
    *last = to[passes - 1];
    for (int i = 0; i < passes; i++) {
        if (i > 0)
            opencl_release_event(&from[i]);
        if (i < passes - 1)
            opencl_release_event(&to[i]);
    }
    return result;
}

bool resident_run(struct resident_chain *chain, int first, int runs, struct timing *timing)
{
    chain->first = first;
    return timing_run(chain->resident->cl.compute_queue, runs, enqueue, chain, timing);
}

bool resident_read(struct resident *resident, struct image *rgba)
{
    const struct opencl_path *cl = &resident->cl;
    cl_mem output = resident->output[resident->last];
    const size_t origin[3] = {0}, size[3] = {(size_t)cl->path.input.width, (size_t)cl->path.input.height, 1};
    cl_int result;
    if (cl->output == OUTPUT_TEXTURE) {
        result = clEnqueueReadImage(cl->compute_queue, output, CL_TRUE, origin, size, rgba->stride[0], 0,
                                    rgba->plane[0], 0, NULL, NULL);
    } else {
        const size_t region[3] = {4 * size[0], size[1], 1};
        result = clEnqueueReadBufferRect(cl->compute_queue, output, CL_TRUE, origin, origin, region,
                                         4 * (size_t)cl->input_layout.to_stride, 0, rgba->stride[0], 0, rgba->plane[0],
                                         0, NULL, NULL);
    }
    return compute_ok(result, "copy an image from the device");
}
