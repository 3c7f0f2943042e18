// opencl_histogram.h: computes a filter's arguments from histograms of its input, on an OpenCL device
#pragma once

#include "compute/device.h"
#include "compute/timing.h"
#include "filter/plan.h"

struct opencl_layout;

// All zero: no histogram.
struct opencl_histogram {
    const struct device_info *device;
    cl_kernel kernel[2]; // counts the pixels; computes the arguments
    struct counted counted;
    cl_mem counts; // all 0 between runs
    cl_int grey;   // 1: the input has one byte per pixel
};

// Compiles the kernels of a pass that measures its input. After a failure (*error as in path_open), the caller closes
// the histogram too.
cl_int opencl_histogram_open(struct opencl_histogram *histogram, struct device *device, const struct pass *pass,
                             char **error);
void opencl_histogram_close(struct opencl_histogram *histogram);
// Enqueues the kernels for the picture `from` after the event `after` (NULL: at once). They write the arguments of
// the pass's first filter, at the start of `arguments`. Their events are added to the span.
cl_int opencl_histogram_run(const struct opencl_histogram *histogram, cl_command_queue queue,
                            const struct opencl_layout *layout, cl_mem from, cl_mem arguments, cl_event after,
                            struct device_span *span);
