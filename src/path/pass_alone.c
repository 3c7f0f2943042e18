// pass_alone.c: runs one pass of a chain on pictures of its own, for probes and for tuning
#include "path/pass_alone.h"

#include "base/log.h"
#include "base/random.h"
#include "filter/warp.h"

#include <stdlib.h>

enum { GUARD_BYTES = 4096, GUARD_VALUE = 0xA5 }; // a multiple of every device's alignment of sub-buffers

// ---- pictures ----

static bool reads_grey(const struct plan *plan, int number)
{
    return number > 0 && plan->pass[number].reads == PASS_GREY;
}

struct image_shape pass_alone_shape(const struct opencl_target *target, const struct plan *plan, int number)
{
    const int width = target->input.width, height = target->input.height;
    if (number == 0)
        return target->input;
    if (reads_grey(plan, number))
        return (struct image_shape){PIXFMT_GREY, width, height, {COLOR_MATRIX_601, COLOR_RANGE_FULL}};
    return (struct image_shape){.width = width, .height = height};
}

struct image_shape pass_alone_output(const struct opencl_target *target, const struct plan *plan, int number)
{
    const struct image_shape from = pass_alone_shape(target, plan, number);
    return opencl_pass_output(&plan->pass[number], &(struct opencl_layout){.width = from.width, .height = from.height});
}

void pass_alone_fill(const struct image *picture, const struct plan *plan, int number)
{
    const bool grey = number > 0 && plan->pass[number].equal_channels && picture->shape.format == PIXFMT_RGBA;
    uint8_t *bytes = picture->memory;
    random_fill(bytes, image_bytes(&picture->shape), 1);
    for (size_t i = 0; grey && i < image_bytes(&picture->shape); i += 4)
        bytes[i + 1] = bytes[i + 2] = bytes[i];
}

static void add_geometry(struct chain *chain, bool mirror, bool flip)
{
    if (mirror)
        chain_append(chain, filter_find("mirror"));
    if (flip)
        chain_append(chain, filter_find("flip"));
}

static void add_stage(struct chain *chain, const struct stage *stage)
{
    if (stage && chain->count < CHAIN_MAX)
        chain->stage[chain->count++] = *stage;
}

// Adds a warp. A part of a warp by taps becomes a warp to the size of its output.
static void add_warp(struct chain *chain, const struct pass *pass)
{
    const char *why;
    add_stage(chain, pass->warp);
    if (pass->map.taps == TAPS_NONE)
        return;
    struct stage *stage = &chain->stage[chain->count - 1];
    warp_scale_to(&stage->values, &pass->map);
    stage->filter = filter_find("scale"); // of any warp by taps
    stage_prepare(stage, &why);
}

// Fills in the pass as a chain of its own.
static void chain_of(const struct pass *pass, struct chain *chain)
{
    chain->count = 0;
    add_geometry(chain, pass->load_mirror, pass->load_flip);
    for (int i = 0; i < pass->before_count; i++)
        add_stage(chain, pass->before[i]);
    add_stage(chain, pass->stencil);
    if (pass->warp)
        add_warp(chain, pass);
    for (int i = pass->warp && pass->warp->filter->placed; i < pass->after_count; i++) // the warp has the first one
        add_stage(chain, pass->after[i]);
    add_stage(chain, pass->last);
    if (pass->last)
        chain->stage[chain->count - 1].arguments.spans = 0; // `within` changes nothing
    add_geometry(chain, pass->store_mirror, pass->store_flip);
}

bool pass_alone_expect(const struct pass *pass, const struct image *picture, struct image *rgba)
{
    struct chain chain;
    struct path_result result;
    chain_of(pass, &chain);
    const struct path_setup setup = {.kind = PATH_CPU, .input = picture->shape, .chain = &chain, .threads = 1};
    struct path *path = path_open(&setup, NULL);
    const bool ok =
        path && path_submit(path, picture, NULL) && path_collect(path, &result) && path_read(path, &result, rgba);
    path_close(path);
    return ok;
}

// Copies a result of the cpu path to a picture, which may be grey.
static void copy_result(const struct image *picture, const struct image *rgba)
{
    struct image to = *picture;
    if (picture->shape.format == PIXFMT_RGBA) {
        image_copy(&to, rgba);
        return;
    }
    for (int y = 0; y < picture->shape.height; y++) {
        for (int x = 0; x < picture->shape.width; x++)
            image_row(picture, 0, y)[x] = image_row(rgba, 0, y)[4 * (size_t)x];
    }
}

bool pass_alone_input(const struct image *picture, const struct plan *plan, int number, const struct image *frame)
{
    struct image rgba[2] = {{.memory = NULL}, {.memory = NULL}}, to = *picture;
    bool ok = true;
    for (int i = 0; ok && i < number; i++) {
        const struct pass *pass = &plan->pass[i];
        const struct image_shape shape = {.width = pass->width, .height = pass->height};
        image_free(&rgba[i % 2]);
        if (!image_alloc(&rgba[i % 2], &shape)) {
            log_error("cannot filter a frame of %dx%d: out of memory", shape.width, shape.height);
            ok = false;
        }
        ok = ok && pass_alone_expect(pass, i == 0 ? frame : &rgba[(i + 1) % 2], &rgba[i % 2]);
    }
    if (ok && number == 0)
        image_copy(&to, frame);
    else if (ok)
        copy_result(picture, &rgba[(number + 1) % 2]);
    image_free(&rgba[0]);
    image_free(&rgba[1]);
    return ok;
}

// ---- the device ----

// A grey picture between passes has the layout of RGBA, with 1 byte per pixel instead of 4.
static void lay_out(struct pass_alone *alone)
{
    struct image_shape shape = pass_alone_shape(&alone->target, alone->plan, alone->number);
    const bool grey = reads_grey(alone->plan, alone->number);
    if (grey)
        shape.format = PIXFMT_RGBA;
    alone->bytes = opencl_layout_make(&alone->layout, &shape);
    if (grey)
        alone->layout.stride[0] = alone->layout.to_stride;
}

// Opens an output: an OpenCL image, or a buffer between guard bytes.
static cl_int open_output(struct pass_alone *alone, int picture)
{
    const struct image_shape rgba = pass_alone_output(&alone->target, alone->plan, alone->number);
    cl_int result;
    if (alone->target.to_image) {
        alone->output[picture] = opencl_output_open(&alone->target, rgba.width, rgba.height, 0, &result);
        return result;
    }
    const cl_uchar value = GUARD_VALUE;
    struct opencl_layout layout;
    const cl_buffer_region inner = {GUARD_BYTES, opencl_layout_make(&layout, &rgba)};
    const size_t bytes = inner.size + 2 * (size_t)GUARD_BYTES;
    cl_mem guarded = clCreateBuffer(alone->target.device->context, CL_MEM_READ_WRITE, bytes, NULL, &result);
    alone->guarded[picture] = guarded;
    if (result == CL_SUCCESS)
        result = clEnqueueFillBuffer(alone->queue, guarded, &value, sizeof(value), 0, bytes, 0, NULL, NULL);
    if (result == CL_SUCCESS)
        alone->output[picture] = clCreateSubBuffer(guarded, 0, CL_BUFFER_CREATE_TYPE_REGION, &inner, &result);
    return result;
}

cl_int pass_alone_open(struct pass_alone *alone, const struct opencl_target *target, const struct plan *plan,
                       int number, const struct image *picture, int pictures)
{
    *alone = (struct pass_alone){.target = *target, .plan = plan, .number = number, .pictures = pictures};
    lay_out(alone);
    cl_context context = target->device->context;
    uint8_t *host = calloc(1, alone->bytes);
    cl_int result = CL_OUT_OF_HOST_MEMORY;
    if (host) {
        opencl_layout_copy(&alone->layout, host, picture, NULL);
        alone->queue = device_queue(target->device, true, &result);
    }
    for (int i = 0; result == CL_SUCCESS && i < pictures; i++) {
        alone->input[i] = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, alone->bytes, host, &result);
        if (result == CL_SUCCESS)
            result = open_output(alone, i);
    }
    free(host);
    return result;
}

void pass_alone_close(struct pass_alone *alone)
{
    if (alone->queue)
        compute_finish(alone->queue);
    for (int i = 0; i < alone->pictures; i++) {
        memory_release(alone->input[i]);
        memory_release(alone->output[i]);
        memory_release(alone->guarded[i]);
    }
    if (alone->queue)
        clReleaseCommandQueue(alone->queue);
    *alone = (struct pass_alone){0};
}

cl_int pass_alone_run(const struct pass_alone *alone, const struct opencl_pass *opened, int picture,
                      struct device_span *span)
{
    return opencl_pass_run(opened, alone->queue, &alone->layout, alone->input[picture], alone->output[picture], NULL,
                           span);
}

cl_int pass_alone_read(const struct pass_alone *alone, int picture, const struct image *to)
{
    const size_t pixel_bytes = pass_pixel_bytes[alone->plan->pass[alone->number].writes];
    return opencl_output_read(&alone->target, alone->queue, alone->output[picture], to, pixel_bytes);
}

cl_int pass_alone_check(const struct pass_alone *alone, int picture, bool *intact)
{
    cl_mem guarded = alone->guarded[picture];
    cl_uchar guards[2][GUARD_BYTES];
    size_t bytes = 0;
    *intact = true;
    if (!guarded)
        return CL_SUCCESS; // an OpenCL image has no guard bytes
    cl_int result = clGetMemObjectInfo(guarded, CL_MEM_SIZE, sizeof(bytes), &bytes, NULL);
    for (int i = 0; result == CL_SUCCESS && i < 2; i++)
        result = clEnqueueReadBuffer(alone->queue, guarded, CL_TRUE, i == 0 ? 0 : bytes - GUARD_BYTES, GUARD_BYTES,
                                     guards[i], 0, NULL, NULL);
    for (int i = 0; result == CL_SUCCESS && i < 2 * GUARD_BYTES; i++)
        *intact = *intact && guards[i / GUARD_BYTES][i % GUARD_BYTES] == GUARD_VALUE;
    return result;
}
