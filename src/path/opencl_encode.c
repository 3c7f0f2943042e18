// opencl_encode.c: results as YUV in host memory too: a kernel behind the passes, and its own way down
#include "path/opencl_path.h"

#include "base/resource.h"
#include "compute/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 64 };

// Handed over as the int16 of kernels/encode.cl.
struct encoding {
    cl_int width, height, from_stride;
    struct color_reverse weights;
    cl_int luma_offset, unused[3];
};
_Static_assert(sizeof(struct encoding) == sizeof(cl_int16), "the encoding is an int16 to the kernel");

// Returns the plane of U.
static const struct pixfmt_plane *chroma_of(const struct pixfmt_info *info)
{
    return &info->plane[info->samples[1].plane];
}

// Returns the number of rows of a block.
static size_t block_rows(const struct image_shape *shape)
{
    return (size_t)1 << chroma_of(pixfmt_info(shape->format))->shift_y;
}

static bool build_program(struct opencl_path *cl, char **error)
{
    struct opencl_encoder *encoder = &cl->encoder;
    const struct pixfmt_info *info = pixfmt_info(cl->path.encode.format);
    const struct pixfmt_samples *y = &info->samples[0], *u = &info->samples[1], *v = &info->samples[2];
    const struct pixfmt_plane *chroma = chroma_of(info);
    char options[256], unread[RESOURCE_WHY];
    snprintf(options, sizeof(options),
             "-cl-std=CL1.2 -DY_BYTE=%d -DY_STEP=%d -DU_PLANE=%d -DU_BYTE=%d -DV_PLANE=%d -DV_BYTE=%d -DCHROMA_STEP=%d "
             "-DSHIFT_X=%d -DSHIFT_Y=%d",
             y->first, y->step, u->plane, u->first, v->plane, v->first, u->step, chroma->shift_x, chroma->shift_y);
    char *text = resource_kernel("encode.cl", cl->device->kernel_dir, unread), *why = NULL;
    if (!text) {
        path_fail(error, unread);
        return false;
    }
    cl_int result = CL_BUILD_PROGRAM_FAILURE;
    encoder->program = program_build(cl->device, text, options, &why);
    if (encoder->program)
        encoder->kernel = clCreateKernel(encoder->program, "encode", &result);
    if (result != CL_SUCCESS)
        path_fail(error, why ? why : "cannot compile encode.cl");
    free(text);
    free(why);
    return result == CL_SUCCESS;
}

static cl_int set_arguments(const struct opencl_path *cl, cl_mem from, cl_mem to)
{
    cl_kernel kernel = cl->encoder.kernel;
    const struct image_shape *shape = &cl->path.encode;
    const struct encoding encoding = {
        .width = shape->width,
        .height = shape->height,
        .from_stride = cl->input_layout.to_stride,
        .weights = color_to_yuv(shape->color),
        .luma_offset = shape->color.range == COLOR_RANGE_FULL ? 0 : 16,
    };
    cl_int result = clSetKernelArg(kernel, 0, sizeof(from), &from);
    if (result == CL_SUCCESS)
        result = clSetKernelArg(kernel, 1, sizeof(encoding), &encoding);
    return result == CL_SUCCESS ? clSetKernelArg(kernel, 2, sizeof(to), &to) : result;
}

// Enqueues the blocks: whole work-groups, then the columns that are left. *first and *last are the events of the first
// and last launches. If there is one launch, its event is retained twice.
static cl_int launch(const struct opencl_path *cl, cl_mem from, cl_mem to, cl_event after, cl_event *first,
                     cl_event *last)
{
    const struct image_shape *shape = &cl->path.encode;
    const size_t rows = block_rows(shape), width = ((size_t)shape->width + 1) / 2;
    const size_t height = ((size_t)shape->height + rows - 1) / rows;
    const size_t most = opencl_group_limit(&cl->device->info, cl->encoder.kernel), group = most < GROUP ? most : GROUP;
    cl_int result = set_arguments(cl, from, to);
    for (size_t x = 0; result == CL_SUCCESS && x < width;) {
        const size_t local[2] = {width - x < group ? width - x : group, 1}, offset[2] = {x, 0};
        const size_t size[2] = {(width - x) / local[0] * local[0], height};
        opencl_release_event(last);
        result = clEnqueueNDRangeKernel(cl->compute_queue, cl->encoder.kernel, 2, offset, size, local, after ? 1 : 0,
                                        after ? &after : NULL, last);
        if (result == CL_SUCCESS && x == 0)
            clRetainEvent(*first = *last);
        x += size[0];
    }
    return result;
}

// Drivers finish compiling at the first launch, which shall not be on the frame path.
static cl_int warm_up(const struct opencl_path *cl)
{
    cl_int result;
    cl_event first = NULL, last = NULL;
    cl_mem from = opencl_zeros(cl, cl->output_bytes, &result), to = NULL;
    if (result == CL_SUCCESS)
        to = clCreateBuffer(cl->device->context, CL_MEM_READ_WRITE, cl->encoder.bytes, NULL, &result);
    if (result == CL_SUCCESS)
        result = launch(cl, from, to, NULL, &first, &last);
    const cl_int finished = clFinish(cl->compute_queue);
    opencl_release_event(&first);
    opencl_release_event(&last);
    if (from)
        clReleaseMemObject(from);
    if (to)
        clReleaseMemObject(to);
    return result == CL_SUCCESS ? finished : result;
}

bool opencl_encoder_open(struct opencl_path *cl, char **error)
{
    if (cl->path.encode.width == 0)
        return true;
    cl->encoder.bytes = image_bytes(&cl->path.encode);
    if (!build_program(cl, error))
        return false;
    const cl_int result = warm_up(cl);
    char text[160];
    snprintf(text, sizeof(text), "cannot run encode.cl: %s (%d)", compute_result_name(result), (int)result);
    if (result != CL_SUCCESS)
        path_fail(error, text);
    return result == CL_SUCCESS;
}

void opencl_encoder_close(struct opencl_path *cl)
{
    if (cl->encoder.kernel)
        clReleaseKernel(cl->encoder.kernel);
    if (cl->encoder.program)
        clReleaseProgram(cl->encoder.program);
}

cl_int opencl_encode(struct opencl_path *cl, struct opencl_slot *slot, cl_event after)
{
    struct opencl_encoded *encoded = &slot->encoded;
    const size_t bytes = cl->encoder.bytes;
    if (cl->path.encode.width == 0)
        return CL_SUCCESS;
    cl_int result = launch(cl, slot->output, encoded->buffer, after, &encoded->first, &encoded->last);
    if (result == CL_SUCCESS)
        result = clFlush(cl->compute_queue);
    if (result != CL_SUCCESS)
        return result;
    if (encoded->pinned)
        result = clEnqueueReadBuffer(cl->download_queue, encoded->buffer, CL_FALSE, 0, bytes, encoded->at, 1,
                                     &encoded->last, &encoded->fetch);
    else
        encoded->at = clEnqueueMapBuffer(cl->download_queue, encoded->buffer, CL_FALSE, CL_MAP_READ, 0, bytes, 1,
                                         &encoded->last, &encoded->fetch, &result);
    return result == CL_SUCCESS ? clFlush(cl->download_queue) : result;
}

cl_int opencl_encoded_reclaim(struct opencl_path *cl, struct opencl_slot *slot)
{
    struct opencl_encoded *encoded = &slot->encoded;
    if (!encoded->at || encoded->pinned)
        return CL_SUCCESS;
    uint8_t *at = encoded->at;
    encoded->at = NULL;
    return clEnqueueUnmapMemObject(cl->compute_queue, encoded->buffer, at, 0, NULL, NULL);
}
