// opencl_upload.c: a frame's way to the kernels: read where it lies, sent up from there, or copied
#include "base/log.h"
#include "path/opencl_path.h"

// A device that shares the host's memory reads the frame where the source has it, which is until it is collected.
static bool read_in_place(struct opencl_path *cl, struct opencl_slot *slot, const struct image *frame, size_t bytes)
{
    const struct opencl_build *build = cl->path.build;
    const size_t spare = build->pass[0].choice.variant->wide_loads ? OPENCL_WIDE_LOAD : 0;
    cl_int result;
    if (!cl->device->info.host_unified || cl->copies || bytes == 0 || bytes + spare > frame->reach_bytes)
        return false;
    slot->lent = clCreateBuffer(cl->device->context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, frame->reach_bytes,
                                frame->plane[0], &result);
    if (!slot->lent) // and it will not take the next one's either
        log_info("the device cannot read frames in place (%s); monocle copies them", compute_result_name(result));
    cl->copies = !slot->lent;
    return slot->lent != NULL;
}

// Sends the input up from pinned memory.
static cl_int send_up(struct opencl_path *cl, struct opencl_slot *slot, const void *from, size_t bytes)
{
    slot->enqueued_ns = clock_now_ns();
    const cl_int result =
        clEnqueueWriteBuffer(cl->upload_queue, slot->input, CL_FALSE, 0, bytes, from, 0, NULL, &slot->upload);
    return result == CL_SUCCESS ? clFlush(cl->upload_queue) : result;
}

// Room for a frame as it lies in memory, padding and all.
static cl_int make_room(struct opencl_path *cl, struct opencl_slot *slot, size_t bytes)
{
    const size_t room = bytes + OPENCL_WIDE_LOAD;
    cl_int result = CL_SUCCESS;
    if (room > slot->input_bytes) {
        cl_mem larger = clCreateBuffer(cl->device->context, CL_MEM_READ_ONLY, room, NULL, &result);
        if (!larger)
            return result;
        clReleaseMemObject(slot->input);
        slot->input = larger;
        slot->input_bytes = room;
    }
    return CL_SUCCESS;
}

// A frame that lies in memory the device has pinned goes up as it lies there.
static cl_int send_frame(struct opencl_path *cl, struct opencl_slot *slot, const struct image *frame, size_t bytes)
{
    const cl_int result = make_room(cl, slot, bytes);
    return result == CL_SUCCESS ? send_up(cl, slot, frame->plane[0], bytes) : result;
}

// The device copies from a camera driver's memory, which has to be handed to it and back. The commands hold `from`.
static cl_int send_adopted(struct opencl_path *cl, struct opencl_slot *slot, cl_mem from, size_t bytes)
{
    const struct dmabuf_calls *calls = &cl->device->dmabuf;
    cl_int result = make_room(cl, slot, bytes);
    if (result == CL_SUCCESS)
        result = calls->acquire(cl->upload_queue, 1, &from, 0, NULL, NULL);
    slot->enqueued_ns = clock_now_ns();
    if (result == CL_SUCCESS)
        result = clEnqueueCopyBuffer(cl->upload_queue, from, slot->input, 0, 0, bytes, 0, NULL, &slot->upload);
    if (result == CL_SUCCESS)
        result = calls->release(cl->upload_queue, 1, &from, 0, NULL, &slot->handed_back);
    clReleaseMemObject(from);
    return result == CL_SUCCESS ? clFlush(cl->upload_queue) : result;
}

static cl_int copy_frame(struct opencl_path *cl, struct opencl_slot *slot, const struct image *frame)
{
    cl_int result = CL_SUCCESS;
    uint8_t *to = slot->staging_at;
    slot->copy_start_ns = clock_now_ns();
    if (!slot->staging)
        to = clEnqueueMapBuffer(cl->upload_queue, slot->input, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
                                cl->input_bytes, 0, NULL, NULL, &result);
    if (result != CL_SUCCESS)
        return result;
    opencl_layout_copy(&cl->input_layout, to, frame);
    slot->copy_end_ns = slot->enqueued_ns = clock_now_ns();
    return slot->staging ? send_up(cl, slot, to, cl->input_bytes)
                         : clEnqueueUnmapMemObject(cl->upload_queue, slot->input, to, 0, NULL, &slot->upload);
}

cl_int opencl_upload(struct opencl_path *cl, struct opencl_slot *slot, const struct image *frame)
{
    slot->layout = cl->input_layout;
    const size_t bytes = opencl_layout_in_place(&slot->layout, frame);
    slot->copied = false;
    if (read_in_place(cl, slot, frame, bytes)) {
        cl->path.came_in = "host-ptr";
        slot->enqueued_ns = clock_now_ns();
        return CL_SUCCESS;
    }
    if (bytes > 0 && lender_has_lent(cl->device->pages, frame->plane[0], bytes)) {
        cl->path.came_in = "pinned";
        return send_frame(cl, slot, frame, bytes);
    }
    cl_mem adopted = bytes > 0 ? lender_imported(cl->device->pages, frame->plane[0], bytes) : NULL;
    if (adopted) {
        cl->path.came_in = "dma-buf";
        return send_adopted(cl, slot, adopted, bytes);
    }
    cl->path.came_in = "copy";
    slot->layout = cl->input_layout;
    slot->copied = true;
    return copy_frame(cl, slot, frame);
}
