// opencl_measures.c: computes the measures of results on an OpenCL device
#include "path/opencl_measures.h"

#include "compute/program.h"
#include "path/backend.h"

#include <stdlib.h>

enum { HISTOGRAM, COLUMNS, ROWS };
enum { GROUPS_PER_UNIT = 8, CPU_ITEMS = 64, ITEMS = 256, PART_ROWS = 32 };

static const struct {
    const char *name;
    enum path_measure measure;
} kernels[OPENCL_MEASURES] = {
    [HISTOGRAM] = {"count_channels", MEASURE_HISTOGRAM},
    [COLUMNS] = {"sum_columns", MEASURE_COLUMNS},
    [ROWS] = {"sum_rows", MEASURE_ROWS},
};

bool opencl_measures_open(struct opencl_measures *measures, struct device *device, const struct measuring *measuring,
                          int from_stride, char **error)
{
    *measures = (struct opencl_measures){.device = &device->info,
                                         .measuring = measuring,
                                         .from_stride = from_stride,
                                         .bytes = sizeof(cl_uint) * measuring_values(measuring)};
    for (int i = 0; i < OPENCL_MEASURES; i++) {
        char *why;
        if (!(measuring->wanted & kernels[i].measure))
            continue;
        measures->kernel[i] = program_file_kernel(device, "measures.cl", "-cl-std=CL1.2", kernels[i].name, &why);
        if (!measures->kernel[i]) {
            path_fail(error, why ? why : "cannot compile measures.cl");
            free(why);
            return false;
        }
    }
    return true;
}

void opencl_measures_close(struct opencl_measures *measures)
{
    for (int i = 0; i < OPENCL_MEASURES; i++) {
        if (measures->kernel[i])
            clReleaseKernel(measures->kernel[i]);
    }
}

// Returns the work-groups of a kernel, which has `items` work-items in each: across and down.
static void count_groups(const struct opencl_measures *measures, int kernel, size_t items, size_t groups[2])
{
    const size_t width = (size_t)measures->measuring->width, height = (size_t)measures->measuring->height;
    const size_t wanted = (size_t)measures->device->compute_units * GROUPS_PER_UNIT;
    groups[0] = kernel == COLUMNS ? (width + items - 1) / items : kernel == ROWS || height < wanted ? height : wanted;
    groups[1] = kernel == COLUMNS ? (height + PART_ROWS - 1) / PART_ROWS : 1;
}

cl_int opencl_measures_run(const struct opencl_measures *measures, cl_command_queue queue, cl_mem from, cl_mem to,
                           struct device_span *span)
{
    const struct measuring *m = measures->measuring;
    const cl_int size[4] = {m->width, m->height, measures->from_stride, m->strips};
    const cl_uint zero = 0;
    const size_t cpu_items = measures->device->type & CL_DEVICE_TYPE_CPU ? CPU_ITEMS : ITEMS;
    cl_event event;
    cl_int result = clEnqueueFillBuffer(queue, to, &zero, sizeof(zero), 0, measures->bytes, 0, NULL, &event);
    if (result == CL_SUCCESS)
        span_add(span, event);
    for (int i = 0; result == CL_SUCCESS && i < OPENCL_MEASURES; i++) {
        if (!measures->kernel[i])
            continue;
        const size_t limit = kernel_group_limit(measures->device, measures->kernel[i]);
        const size_t items = limit < cpu_items ? limit : cpu_items;
        size_t groups[2];
        count_groups(measures, i, items, groups);
        const cl_int first = (cl_int)measuring_at(m, kernels[i].measure);
        const struct kernel_argument arguments[] = {
            {sizeof(from), &from}, {sizeof(size), size}, {sizeof(to), &to}, {sizeof(first), &first}};
        result = kernel_run(measures->kernel[i], queue, arguments, 4, (size_t[2]){0, 0},
                            (size_t[2]){groups[0] * items, groups[1]}, (size_t[2]){items, 1}, NULL, span);
    }
    return result;
}
