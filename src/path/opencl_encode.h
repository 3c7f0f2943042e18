// opencl_encode.h: converts results to a YUV format on an OpenCL device
#pragma once

#include "compute/timing.h"
#include "path/path.h"

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
