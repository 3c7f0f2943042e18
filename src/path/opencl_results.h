// opencl_results.h: computes what a result has besides RGBA on an OpenCL device: measures, YUV
#pragma once

#include "compute/timing.h"
#include "path/measures.h"
#include "path/path.h"

enum { OPENCL_MEASURES = 3 };

// All zero: no measures.
struct opencl_measures {
    const struct device_info *device;
    const struct measuring *measuring; // borrowed
    int from_stride;                   // of the RGBA picture, in pixels
    cl_kernel kernel[OPENCL_MEASURES]; // NULL: not wanted
    size_t bytes;                      // of a result's values
};

// Compiles the kernels. After a failure (*error as in path_open), the caller closes the measures too.
bool opencl_measures_open(struct opencl_measures *measures, struct device *device, const struct measuring *measuring,
                          int from_stride, char **error);
void opencl_measures_close(struct opencl_measures *measures);
// Enqueues the kernels for the picture `from`; they write `to`. The caller releases the span, even after a failure.
cl_int opencl_measures_run(const struct opencl_measures *measures, cl_command_queue queue, cl_mem from, cl_mem to,
                           struct device_span *span);

// ---- YUV ----

// All zero: no result is converted.
struct opencl_encoder {
    const struct device_info *device;
    struct image_shape shape;
    int from_stride; // of the RGBA picture, in pixels
    cl_kernel kernel;
    size_t bytes; // of a converted picture, without padding
};

// Compiles the kernel for results of this shape. False on failure: *error as in path_open.
bool opencl_encoder_open(struct opencl_encoder *encoder, struct device *device, const struct image_shape *shape,
                         int from_stride, char **error);
void opencl_encoder_close(struct opencl_encoder *encoder);
// Enqueues the conversion of `from`. The caller releases the span, even after a failure.
cl_int opencl_encode(const struct opencl_encoder *encoder, cl_command_queue queue, cl_mem from, cl_mem to,
                     struct device_span *span);
