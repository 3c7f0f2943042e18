// opencl.c: the path of OpenCL: upload, a kernel per pass, output read back, mapped or written to a texture
#include "path/opencl_path.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// False where the path cannot be opened for that; `why` of it then says so.
static bool opened(struct opencl_path *cl, cl_int result, const char *doing)
{
    if (result != CL_SUCCESS)
        compute_describe(cl->path.why, sizeof(cl->path.why), result, doing);
    return result == CL_SUCCESS;
}

static bool make_queues(struct opencl_path *cl)
{
    cl_command_queue *const queues[] = {&cl->compute_queue, &cl->upload_queue, &cl->download_queue};
    for (int i = 0; i < 3; i++) {
        cl_int result = CL_SUCCESS;
        // Copies have queues of their own only where a device has engines of their own for them.
        if (i > 0 && cl->device->info.host_unified) {
            *queues[i] = cl->compute_queue;
            clRetainCommandQueue(cl->compute_queue);
        } else {
            *queues[i] =
                clCreateCommandQueue(cl->device->context, cl->device->info.id, CL_QUEUE_PROFILING_ENABLE, &result);
        }
        if (!opened(cl, result, "create an OpenCL command queue"))
            return false;
    }
    return true;
}

static cl_mem make_buffer(struct opencl_path *cl, cl_mem_flags flags, size_t bytes)
{
    cl_int result;
    cl_mem buffer = clCreateBuffer(cl->device->context, flags, bytes, NULL, &result);
    return opened(cl, result, "allocate device memory for frames") ? buffer : NULL;
}

// Host memory the device reaches by itself, mapped for good.
static bool make_pinned(struct opencl_path *cl, size_t bytes, cl_mem *buffer, uint8_t **at)
{
    *buffer = make_buffer(cl, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes);
    if (!*buffer)
        return false;
    cl_int result;
    *at = clEnqueueMapBuffer(cl->compute_queue, *buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL,
                             &result);
    return opened(cl, result, "map pinned memory");
}

static bool encoded_open(struct opencl_path *cl, struct opencl_encoded *encoded)
{
    const bool unified = cl->device->info.host_unified;
    const size_t bytes = cl->encoder.bytes;
    if (bytes == 0)
        return true;
    encoded->buffer = make_buffer(cl, CL_MEM_READ_WRITE | (unified ? CL_MEM_ALLOC_HOST_PTR : 0), bytes);
    return encoded->buffer && (unified || make_pinned(cl, bytes, &encoded->pinned, &encoded->at));
}

static bool slot_open(struct opencl_path *cl, struct opencl_slot *slot)
{
    const bool unified = cl->device->info.host_unified;
    slot->input_bytes = cl->input_bytes;
    slot->input = make_buffer(cl, CL_MEM_READ_ONLY | (unified ? CL_MEM_ALLOC_HOST_PTR : 0), cl->input_bytes);
    if (!slot->input || (!unified && !make_pinned(cl, cl->input_bytes, &slot->staging, &slot->staging_at)))
        return false;
    if (!encoded_open(cl, &slot->encoded))
        return false;
    if (cl->output == OUTPUT_TEXTURE)
        return true; // made by the first submit, on the GL thread
    slot->output = make_buffer(cl, CL_MEM_READ_WRITE | (unified ? CL_MEM_ALLOC_HOST_PTR : 0), cl->output_bytes);
    return slot->output && (cl->output != OUTPUT_READ || cl->path.encoded_only ||
                            make_pinned(cl, cl->output_bytes, &slot->pinned, &slot->pinned_at));
}

void opencl_release_event(cl_event *event)
{
    if (*event)
        clReleaseEvent(*event);
    *event = NULL;
}

// What belongs to the frame that was in the slot, when the device is done with it.
static void release_frame(struct opencl_slot *slot)
{
    if (slot->lent)
        clReleaseMemObject(slot->lent);
    slot->lent = NULL;
    opencl_release_event(&slot->handed_back);
    opencl_release_event(&slot->upload);
    opencl_release_event(&slot->acquire);
    opencl_release_event(&slot->encoded.first);
    opencl_release_event(&slot->encoded.last);
    opencl_release_event(&slot->encoded.fetch);
    opencl_release_event(&slot->download);
    for (int i = 0; i < PLAN_PASSES; i++) {
        opencl_release_event(&slot->first[i]);
        opencl_release_event(&slot->last[i]);
    }
}

static void release_buffer(cl_command_queue queue, cl_mem buffer, uint8_t *mapped)
{
    if (buffer && mapped)
        clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL);
    if (buffer)
        clReleaseMemObject(buffer);
}

static void slot_close(struct opencl_path *cl, struct opencl_slot *slot)
{
    release_frame(slot);
    release_buffer(cl->compute_queue, slot->staging, slot->staging_at);
    release_buffer(cl->compute_queue, slot->pinned, slot->pinned_at);
    release_buffer(cl->compute_queue, slot->output, slot->mapped);
    release_buffer(cl->compute_queue, slot->encoded.pinned, slot->encoded.at);
    release_buffer(cl->compute_queue, slot->encoded.buffer, slot->encoded.pinned ? NULL : slot->encoded.at);
    release_buffer(cl->compute_queue, slot->input, NULL);
    shared_texture_close(&slot->shared);
}

// Brings the output to where its user finds it, if anybody wants it; slot->download is the event of that.
static cl_int deliver(struct opencl_path *cl, struct opencl_slot *slot)
{
    const struct opencl_build *build = cl->path.build;
    const cl_event after = slot->last[build->plan.count - 1];
    cl_int result = clFlush(cl->compute_queue);
    if (result != CL_SUCCESS || cl->path.encoded_only)
        return result;
    switch (cl->output) {
    case OUTPUT_TEXTURE:
        return shared_texture_release(&slot->shared, cl->compute_queue, after, &slot->download);
    case OUTPUT_MAPPED:
        slot->mapped = clEnqueueMapBuffer(cl->download_queue, slot->output, CL_FALSE, CL_MAP_READ, 0, cl->output_bytes,
                                          1, &after, &slot->download, &result);
        break;
    case OUTPUT_READ:
        result = clEnqueueReadBuffer(cl->download_queue, slot->output, CL_FALSE, 0, cl->output_bytes, slot->pinned_at,
                                     1, &after, &slot->download);
        break;
    }
    return result == CL_SUCCESS ? clFlush(cl->download_queue) : result;
}

// Takes the output back from its last user.
static cl_int reclaim(struct opencl_path *cl, struct opencl_slot *slot)
{
    cl_int result = CL_SUCCESS;
    if (slot->mapped)
        result = clEnqueueUnmapMemObject(cl->compute_queue, slot->output, slot->mapped, 0, NULL, NULL);
    slot->mapped = NULL;
    return result == CL_SUCCESS ? opencl_encoded_reclaim(cl, slot) : result;
}

static cl_int enqueue(struct opencl_path *cl, struct opencl_slot *slot, const struct image *frame)
{
    const bool texture = cl->output == OUTPUT_TEXTURE, alone = cl->path.in_flight == 0;
    struct opencl_build *build = cl->path.build;
    cl_int result = reclaim(cl, slot);
    // Getting a texture takes a while: alone, it goes beside the copying of pixels; behind a frame under way it would
    // hold that one up.
    if (result == CL_SUCCESS && texture && alone)
        result = shared_texture_acquire(&slot->shared, cl->compute_queue, NULL, &slot->acquire);
    if (result == CL_SUCCESS)
        result = opencl_upload(cl, slot, frame);
    if (result == CL_SUCCESS && texture && !alone)
        result = shared_texture_acquire(&slot->shared, cl->compute_queue, slot->upload, &slot->acquire);
    if (result == CL_SUCCESS)
        result = opencl_run(cl, build, cl->compute_queue, slot->lent ? slot->lent : slot->input, &slot->layout,
                            texture ? slot->shared.image : slot->output, slot->upload, slot->first, slot->last);
    if (result == CL_SUCCESS)
        result = opencl_encode(cl, slot, slot->last[build->plan.count - 1]);
    return result == CL_SUCCESS ? deliver(cl, slot) : result;
}

static bool opencl_submit(struct path *path, const struct image *frame, uint64_t tag, bool *lost)
{
    struct opencl_path *cl = (struct opencl_path *)path;
    struct opencl_slot *slot = &cl->slot[cl->write_slot];
    if (cl->output == OUTPUT_TEXTURE && !slot->shared.image &&
        !compute_ok(shared_texture_open(&slot->shared, cl->device->context, path->input.width, path->input.height),
                    "share a GL texture with OpenCL")) {
        *lost = true; // this path can go no further; another one can
        return false;
    }
    slot->tag = tag;
    const cl_int result = enqueue(cl, slot, frame);
    if (!compute_ok(result, "run a frame on the device")) {
        *lost = compute_device_lost(result);
        clFinish(cl->compute_queue);
        release_frame(slot);
        return false;
    }
    cl->write_slot = (cl->write_slot + 1) % cl->slots;
    return true;
}

static bool finished(cl_event event)
{
    cl_int status;
    return !event ||
           clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL) != CL_SUCCESS ||
           status <= CL_COMPLETE; // negative: failed, which collect will tell
}

static bool opencl_ready(const struct path *path)
{
    const struct opencl_path *cl = (const struct opencl_path *)path;
    const struct opencl_slot *slot = &cl->slot[cl->read_slot];
    return finished(slot->download) && finished(slot->encoded.fetch) && finished(slot->handed_back);
}

static bool opencl_collect(struct path *path, struct path_result *result, bool *lost)
{
    struct opencl_path *cl = (struct opencl_path *)path;
    struct opencl_slot *slot = &cl->slot[cl->read_slot];
    if (cl->output == OUTPUT_TEXTURE && cl->lent_slot >= 0)
        shared_texture_lent(&cl->slot[cl->lent_slot].shared);
    cl->lent_slot = cl->read_slot;
    cl->read_slot = (cl->read_slot + 1) % cl->slots;
    const cl_event events[] = {slot->download, slot->encoded.fetch, slot->handed_back};
    cl_event ends[3];
    cl_uint count = 0;
    for (int i = 0; i < 3; i++) {
        if (events[i])
            ends[count++] = events[i];
    }
    const cl_int waited = clWaitForEvents(count, ends);
    result->tag = slot->tag;
    if (waited == CL_SUCCESS)
        opencl_slot_times(cl, slot, result);
    release_frame(slot);
    if (!compute_ok(waited, "finish a frame on the device")) {
        *lost = true;
        return false;
    }
    if (cl->encoder.bytes > 0)
        image_wrap(&result->encoded, &path->encode, slot->encoded.at);
    if (cl->output == OUTPUT_TEXTURE) {
        result->texture = slot->shared.texture;
        return true;
    }
    if (path->encoded_only)
        return true;
    result->image.shape = (struct image_shape){.format = PIXFMT_RGBA, .width = result->width, .height = result->height};
    result->image.plane[0] = cl->output == OUTPUT_MAPPED ? slot->mapped : slot->pinned_at;
    result->image.stride[0] = 4 * (size_t)cl->input_layout.to_stride;
    return true;
}

static bool opencl_read(struct path *path, const struct path_result *result, struct image *rgba)
{
    const struct opencl_path *cl = (struct opencl_path *)path;
    if (!result->texture)
        return path_read_image(path, result, rgba);
    if (cl->lent_slot >= 0 && shared_texture_read(&cl->slot[cl->lent_slot].shared, rgba->shape.width,
                                                  rgba->shape.height, (int)(rgba->stride[0] / 4), rgba->plane[0]))
        return true;
    log_error("cannot read a shared texture back: the GL framebuffer is incomplete");
    return false;
}

static void *opencl_build(const struct path *path, const struct chain *chain, char **error)
{
    const struct opencl_path *cl = (const struct opencl_path *)path;
    struct opencl_build *build = opencl_build_make(cl, chain, error);
    if (build && opencl_warm_up(cl, build, error))
        return build;
    opencl_build_free(build);
    return NULL;
}

static void opencl_close(struct path *path)
{
    struct opencl_path *cl = (struct opencl_path *)path;
    if (cl->compute_queue)
        clFinish(cl->compute_queue);
    for (int i = 0; i < cl->slots; i++)
        slot_close(cl, &cl->slot[i]);
    opencl_encoder_close(cl);
    const cl_command_queue queues[] = {cl->upload_queue, cl->compute_queue, cl->download_queue};
    for (int i = 0; i < 3; i++) {
        if (queues[i]) {
            clFinish(queues[i]);
            clReleaseCommandQueue(queues[i]);
        }
    }
    path_finish(path);
    free(cl);
}

static const struct backend opencl_backend = {
    .build = opencl_build,
    .build_free = opencl_build_free,
    .submit = opencl_submit,
    .collect = opencl_collect,
    .ready = opencl_ready,
    .read = opencl_read,
    .close = opencl_close,
};

static const char *const rungs[] = {
    [OUTPUT_TEXTURE] = "gl-shared",
    [OUTPUT_MAPPED] = "mapped",
    [OUTPUT_READ] = "opencl",
};

struct path *opencl_open(const struct path_setup *setup, enum output output, char **error)
{
    struct opencl_path *cl = calloc(1, sizeof(*cl));
    if (!cl) {
        path_fail(error, "out of memory");
        return NULL;
    }
    path_init(&cl->path, &opencl_backend, setup, rungs[output]);
    opencl_choose(cl, setup, output);
    cl->lent_slot = -1;
    bool ok = make_queues(cl);
    const bool told = ok && !opencl_encoder_open(cl, error); // of the failure
    ok = ok && !told;
    for (int i = 0; ok && i <= setup->depth; i++) {
        cl->slots++;
        ok = slot_open(cl, &cl->slot[i]);
    }
    if (!ok && !told)
        path_fail(error, cl->path.why);
    if (!ok || !path_prepare(&cl->path, setup->chain, error)) {
        opencl_close(&cl->path);
        return NULL;
    }
    path_swap(&cl->path);
    return &cl->path;
}
