// opencl_histogram.c: computes a filter's arguments from the histogram of its input, on an OpenCL device
#include "path/opencl_histogram.h"

#include "compute/program.h"
#include "path/backend.h"
#include "path/compose.h"
#include "path/opencl_pass.h"

#include <stdlib.h>

enum { COUNT, COMPUTE };
enum { GROUPS_PER_UNIT = 8, CPU_ITEMS = 64, FILTER_ITEMS = FILTER_LEVELS };

static cl_int open_kernels(struct opencl_histogram *histogram, struct device *device, const char *name, char **error)
{
    const char *const names[] = {[COUNT] = "count_luma", [COMPUTE] = name};
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

cl_int opencl_histogram_open(struct opencl_histogram *histogram, struct device *device, const struct filter *filter,
                             bool grey, char **error)
{
    cl_uint zeros[FILTER_LEVELS] = {0};
    *histogram = (struct opencl_histogram){.device = &device->info, .grey = grey};
    cl_int result = open_kernels(histogram, device, filter->name, error);
    if (result != CL_SUCCESS)
        return result;
    histogram->counts =
        clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(zeros), zeros, &result);
    opencl_ok(result, "allocate device memory for a histogram", error);
    return result;
}

void opencl_histogram_close(struct opencl_histogram *histogram)
{
    for (int i = 0; i < 2; i++) {
        if (histogram->kernel[i])
            clReleaseKernel(histogram->kernel[i]);
    }
    memory_release(histogram->counts);
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

cl_int opencl_histogram_run(const struct opencl_histogram *histogram, cl_command_queue queue,
                            const struct opencl_layout *layout, cl_mem from, cl_mem arguments, cl_event after,
                            struct span *span)
{
    const size_t origin[2] = {0, 0}, rows = (size_t)layout->height;
    const bool cpu = histogram->device->type & CL_DEVICE_TYPE_CPU;
    const size_t items = group_size(histogram, COUNT, cpu ? CPU_ITEMS : FILTER_ITEMS);
    const size_t wanted = (size_t)histogram->device->compute_units * GROUPS_PER_UNIT;
    const size_t groups = wanted < rows ? wanted : rows, level = group_size(histogram, COMPUTE, FILTER_ITEMS);
    const struct kernel_argument counting[] = {{sizeof(from), &from},
                                               {sizeof(*layout), layout},
                                               {sizeof(histogram->grey), &histogram->grey},
                                               {sizeof(histogram->counts), &histogram->counts}};
    const struct kernel_argument computing[] = {{sizeof(histogram->counts), &histogram->counts},
                                                {sizeof(arguments), &arguments}};
    cl_int result = kernel_run(histogram->kernel[COUNT], queue, counting, 4, origin, (size_t[2]){groups * items, 1},
                               (size_t[2]){items, 1}, after, span);
    if (result == CL_SUCCESS)
        result = kernel_run(histogram->kernel[COMPUTE], queue, computing, 2, origin, (size_t[2]){level, 1},
                            (size_t[2]){level, 1}, span->last, span);
    return result;
}
