// opencl_histogram.c: computes a filter's arguments from histograms of its input, on an OpenCL device
#include "path/opencl_histogram.h"

#include "compute/program.h"
#include "path/backend.h"
#include "path/compose.h"
#include "path/opencl_pass.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT, COMPUTE };
enum { GROUPS_PER_UNIT = 8, CPU_ITEMS = 64, FILTER_ITEMS = FILTER_LEVELS };

static cl_int open_kernels(struct opencl_histogram *histogram, struct device *device, const char *name, char **error)
{
    const char *const names[] = {[COUNT] = "count_levels", [COMPUTE] = name};
    struct composer c;
    char *text = NULL, *why = NULL;
    if (compose_start(&c, false, device->kernel_dir, error)) {
        compose_file(&c, "language.cl");
        compose_file(&c, "common.cl");
        compose_file(&c, "histogram.cl");
        text = compose_end(&c, error);
    }
    if (!text)
        return CL_OUT_OF_HOST_MEMORY;
    const cl_int result = program_kernels(device, text, "", names, 2, histogram->kernel, &why);
    if (result != CL_SUCCESS)
        path_fail(error, why ? why : "cannot compile histogram.cl");
    free(why);
    free(text);
    return result;
}

// Returns the largest power of two that is at most `most` and that a work-group of the kernel may have.
static size_t group_size(const struct opencl_histogram *histogram, int kernel, size_t most)
{
    const size_t limit = kernel_group_limit(histogram->device, histogram->kernel[kernel]);
    size_t group = 1;
    while (group * 2 <= limit && group * 2 <= most)
        group *= 2;
    return group;
}

// Enqueues the kernel that computes the arguments and clears the counts, with one work-group per tile.
static cl_int run_computing(const struct opencl_histogram *histogram, cl_command_queue queue, cl_mem arguments,
                            size_t tiles, struct device_span *span)
{
    const size_t origin[2] = {0, 0}, group = group_size(histogram, COMPUTE, FILTER_ITEMS);
    const struct kernel_argument computing[] = {{sizeof(histogram->counts), &histogram->counts},
                                                {sizeof(arguments), &arguments}};
    return kernel_run(histogram->kernel[COMPUTE], queue, computing, 2, origin, (size_t[2]){group * tiles, 1},
                      (size_t[2]){group, 1}, NULL, span);
}

// Computes the arguments on the device from known histograms: one tile's, or one per channel.
static cl_int compute_known(const struct opencl_histogram *histogram, struct device *device, const uint32_t *known,
                            int32_t values[FILTER_ARGUMENTS])
{
    const size_t bytes = FILTER_ARGUMENTS * sizeof(*values), parts = histogram->counted.colors ? COUNTED_CHANNELS : 1;
    cl_int result;
    cl_command_queue queue = device_queue(device, false, &result);
    cl_mem buffer = NULL;
    if (result == CL_SUCCESS)
        buffer = clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, values, &result);
    if (result == CL_SUCCESS)
        result = clEnqueueWriteBuffer(queue, histogram->counts, CL_TRUE, 0, parts * FILTER_LEVELS * sizeof(*known),
                                      known, 0, NULL, NULL);
    struct device_span span = {0};
    if (result == CL_SUCCESS)
        result = run_computing(histogram, queue, buffer, 1, &span);
    if (result == CL_SUCCESS)
        result = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, values, 0, NULL, NULL);
    span_release(&span);
    memory_release(buffer);
    if (queue)
        clReleaseCommandQueue(queue);
    return result;
}

// Tests the device's integers of 64 bits, which embedded devices emulate or lack. A device passes once.
static cl_int prove(const struct opencl_histogram *histogram, struct device *device, const struct filter *filter,
                    char **error)
{
    if (device->computes_wide)
        return CL_SUCCESS;
    // Their sums need more than 32 bits.
    const uint32_t known[COUNTED_CHANNELS * FILTER_LEVELS] = {[10] = 900000000,  [120] = 500000000, [200] = 300000000,
                                                              [250] = 400000000, [400] = 700000000, [600] = 800000000};
    int32_t got[FILTER_ARGUMENTS] = {1}, want[FILTER_ARGUMENTS] = {1}; // of clahe: one tile
    const cl_int result = compute_known(histogram, device, known, got);
    filter->measure(known, want);
    if (!opencl_ok(result, "compute a filter's arguments on the device", error))
        return result;
    device->computes_wide = memcmp(got, want, sizeof(got)) == 0;
    if (device->computes_wide)
        return CL_SUCCESS;
    path_fail(error, "the device computes wrong integers of 64 bits, which this filter needs; use the gl or cpu path");
    return CL_INVALID_OPERATION;
}

cl_int opencl_histogram_open(struct opencl_histogram *histogram, struct device *device, const struct pass *pass,
                             char **error)
{
    const struct filter *filter = pass->before[0]->filter;
    *histogram = (struct opencl_histogram){
        .device = &device->info, .counted = pass_counted(pass), .grey = pass->reads == PASS_GREY};
    cl_int result = open_kernels(histogram, device, filter->name, error);
    if (result != CL_SUCCESS)
        return result;
    const size_t count = (size_t)histogram->counted.parts * FILTER_LEVELS;
    cl_uint *zeros = calloc(count, sizeof(*zeros));
    if (zeros)
        histogram->counts = clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                           count * sizeof(*zeros), zeros, &result);
    else
        result = CL_OUT_OF_HOST_MEMORY;
    free(zeros);
    if (!opencl_ok(result, "allocate device memory for a histogram", error))
        return result;
    return prove(histogram, device, filter, error);
}

void opencl_histogram_close(struct opencl_histogram *histogram)
{
    for (int i = 0; i < 2; i++) {
        if (histogram->kernel[i])
            clReleaseKernel(histogram->kernel[i]);
    }
    memory_release(histogram->counts);
}

cl_int opencl_histogram_run(const struct opencl_histogram *histogram, cl_command_queue queue,
                            const struct opencl_layout *layout, cl_mem from, cl_mem arguments, cl_event after,
                            struct device_span *span)
{
    const struct counted *counted = &histogram->counted;
    const size_t origin[2] = {0, 0}, rows = (size_t)counted->height, parts = (size_t)counted->parts;
    const bool cpu = histogram->device->type & CL_DEVICE_TYPE_CPU;
    const size_t items = group_size(histogram, COUNT, cpu ? CPU_ITEMS : FILTER_ITEMS);
    const size_t wanted = (size_t)histogram->device->compute_units * GROUPS_PER_UNIT / parts + 1;
    const size_t groups = wanted < rows ? wanted : rows;
    const cl_int parameters[4] = {counted->colors, counted->tiles, counted->width, counted->height};
    const struct kernel_argument counting[] = {{sizeof(from), &from},
                                               {sizeof(*layout), layout},
                                               {sizeof(histogram->grey), &histogram->grey},
                                               {sizeof(parameters), parameters},
                                               {sizeof(histogram->counts), &histogram->counts}};
    const cl_int result = kernel_run(histogram->kernel[COUNT], queue, counting, 5, origin,
                                     (size_t[2]){groups * items, parts}, (size_t[2]){items, 1}, after, span);
    const size_t tiles = counted->colors ? 1 : parts;
    return result == CL_SUCCESS ? run_computing(histogram, queue, arguments, tiles, span) : result;
}
