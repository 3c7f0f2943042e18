// resident.c: runs chains and measures on pictures in a device's memory, to time only the kernels
#include "path/resident.h"

#include "base/alloc.h"
#include "base/log.h"
#include "path/backend.h"
#include "path/opencl_chain.h"
#include "path/opencl_measures.h"

#include <stdlib.h>

enum { OUTPUTS = 2 }; // as many as a path with one frame in flight has

struct resident {
    struct opencl_target target;
    cl_command_queue queue;
    struct opencl_layout layout; // of each picture
    size_t bytes;                // of each picture
    int pictures, last;          // last: output of the latest run
    cl_mem *picture;
    cl_mem output[OUTPUTS];
    int width, height; // of each output, at least
};

// Makes the outputs, or larger ones.
static cl_int make_outputs(struct resident *resident, int width, int height)
{
    const cl_mem_flags flags = resident->target.device->info.host_unified ? CL_MEM_ALLOC_HOST_PTR : 0; // as the path
    cl_int result = CL_SUCCESS;
    if (width <= resident->width && height <= resident->height)
        return result;
    resident->width = width > resident->width ? width : resident->width;
    resident->height = height > resident->height ? height : resident->height;
    for (int i = 0; result == CL_SUCCESS && i < OUTPUTS; i++) {
        memory_release(resident->output[i]);
        resident->output[i] = opencl_output_open(&resident->target, resident->width, resident->height, flags, &result);
    }
    return result;
}

struct resident *resident_open(const struct path_setup *setup, int pictures, bool to_image)
{
    struct resident *resident = xalloc(sizeof(*resident));
    cl_mem *picture = xcalloc((size_t)pictures, sizeof(*picture));
    *resident =
        (struct resident){.target = opencl_target_make(setup, to_image), .pictures = pictures, .picture = picture};
    resident->bytes = opencl_layout_make(&resident->layout, &setup->input);
    const cl_mem_flags flags = setup->device->info.host_unified ? CL_MEM_ALLOC_HOST_PTR : 0; // as the path
    cl_int result;
    resident->queue = device_queue(setup->device, true, &result);
    for (int i = 0; result == CL_SUCCESS && i < pictures; i++)
        picture[i] = clCreateBuffer(setup->device->context, CL_MEM_READ_ONLY | flags, resident->bytes, NULL, &result);
    if (result == CL_SUCCESS)
        result = make_outputs(resident, setup->input.width, setup->input.height);
    if (compute_ok(result, "store images on the device"))
        return resident;
    resident_close(resident);
    return NULL;
}

void resident_close(struct resident *resident)
{
    if (!resident)
        return;
    if (resident->queue)
        compute_finish(resident->queue);
    for (int i = 0; i < resident->pictures; i++)
        memory_release(resident->picture[i]);
    for (int i = 0; i < OUTPUTS; i++)
        memory_release(resident->output[i]);
    if (resident->queue)
        clReleaseCommandQueue(resident->queue);
    free(resident->picture);
    free(resident);
}

bool resident_fill(struct resident *resident, int picture, const struct image *frame)
{
    cl_mem memory = resident->picture[picture];
    cl_int result;
    uint8_t *to = clEnqueueMapBuffer(resident->queue, memory, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
                                     resident->bytes, 0, NULL, NULL, &result);
    if (result == CL_SUCCESS) {
        opencl_layout_copy(&resident->layout, to, frame, NULL);
        result = clEnqueueUnmapMemObject(resident->queue, memory, to, 0, NULL, NULL);
    }
    if (result == CL_SUCCESS)
        result = compute_finish(resident->queue);
    return compute_ok(result, "copy an image to the device");
}

struct opencl_chain *resident_chain_open(struct resident *resident, const struct chain *chain, const char *variant,
                                         char **error)
{
    const struct path_setup setup = {
        .device = resident->target.device, .input = resident->target.input, .variant = variant};
    const struct opencl_target target = opencl_target_make(&setup, resident->target.to_image);
    *error = NULL;
    struct opencl_chain *opened = opencl_chain_open(&target, chain, error);
    if (!opened)
        return NULL;
    cl_int result = make_outputs(resident, opened->rgba.width, opened->rgba.height);
    if (result == CL_SUCCESS) // all runs are the first frame
        result = opencl_chain_set_moment(opened, resident->queue, (struct moment){0});
    if (opencl_ok(result, "store images on the device", error))
        return opened;
    opencl_chain_close(opened);
    return NULL;
}

void resident_chain_close(struct opencl_chain *chain)
{
    opencl_chain_close(chain);
}

// The runs of one call.
struct series {
    struct resident *resident;
    const struct opencl_chain *chain;
    int first; // picture
};

static cl_int enqueue(void *context, int run, struct device_span *span)
{
    const struct series *series = context;
    struct resident *resident = series->resident;
    struct device_span passes[PLAN_PASSES] = {0};
    cl_mem from = resident->picture[(series->first + run) % resident->pictures];
    resident->last = (resident->last + 1) % OUTPUTS;
    const cl_int result = opencl_chain_run(series->chain, resident->queue, from, &resident->layout,
                                           resident->output[resident->last], NULL, passes);
    for (int i = 0; i < series->chain->plan.count; i++)
        span_join(span, &passes[i]);
    return result;
}

bool resident_run(struct resident *resident, const struct opencl_chain *chain, int first, int runs,
                  struct timing *timing)
{
    return timing_run(resident->queue, runs, enqueue, &(struct series){resident, chain, first}, timing);
}

bool resident_read(struct resident *resident, struct image *rgba)
{
    return compute_ok(opencl_output_read(&resident->target, resident->queue, resident->output[resident->last], rgba, 4),
                      "copy an image from the device");
}

// ---- measures ----

struct resident_measures {
    struct resident *resident;
    struct opencl_measures measures;
    cl_mem values;
    int first; // picture of the first run of a call
};

struct resident_measures *resident_measures_open(struct resident *resident, const struct measuring *measuring,
                                                 char **error)
{
    struct resident_measures *m = xalloc(sizeof(*m));
    struct device *device = resident->target.device;
    *error = NULL;
    m->resident = resident;
    if (opencl_measures_open(&m->measures, device, measuring, resident->layout.stride[0] / 4, error)) {
        cl_int result;
        m->values = clCreateBuffer(device->context, CL_MEM_READ_WRITE, m->measures.bytes, NULL, &result);
        if (opencl_ok(result, "store measures on the device", error))
            return m;
    }
    resident_measures_close(m);
    return NULL;
}

void resident_measures_close(struct resident_measures *measures)
{
    if (!measures)
        return;
    opencl_measures_close(&measures->measures);
    memory_release(measures->values);
    free(measures);
}

static cl_int enqueue_measures(void *context, int run, struct device_span *span)
{
    const struct resident_measures *m = context;
    cl_mem from = m->resident->picture[(m->first + run) % m->resident->pictures];
    return opencl_measures_run(&m->measures, m->resident->queue, from, m->values, span);
}

bool resident_measures_run(struct resident_measures *measures, int first, int runs, struct timing *timing)
{
    measures->first = first;
    return timing_run(measures->resident->queue, runs, enqueue_measures, measures, timing);
}

bool resident_measures_read(const struct resident_measures *measures, uint32_t *values)
{
    return compute_ok(clEnqueueReadBuffer(measures->resident->queue, measures->values, CL_TRUE, 0,
                                          measures->measures.bytes, values, 0, NULL, NULL),
                      "copy measures from the device");
}
