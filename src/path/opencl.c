// opencl.c: the paths `opencl` and `zerocopy`
#include "base/alloc.h"

#include "base/log.h"
#include "compute/device.h"
#include "compute/texture.h"
#include "path/backend.h"
#include "path/opencl_chain.h"
#include "path/opencl_results.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

// A frame in flight, or the latest result.
struct slot {
    uint64_t number;            // of the frame, as in struct frame_time
    struct opencl_chain *chain; // that the frame runs; borrowed until the frame is collected
    // Input.
    struct pinned staging; // uploads come from here; empty if the input is host memory itself
    cl_mem input;
    size_t input_bytes;          // grows for a frame that is copied with the strides of its memory
    cl_mem lent;                 // the frame's own memory as the input; NULL: the frame is in `input`
    struct opencl_layout layout; // of the frame there
    bool copied;                 // the host copied the frame
    int64_t wait_start_ns, copy_start_ns, copy_end_ns; // before the copy, the host waits for earlier frames
    int64_t enqueued_ns;                               // host time right before the first event was queued
    cl_event upload;                                   // NULL: the input needs no upload
    // Passes and output.
    struct device_span passes[PLAN_PASSES], encoding, measuring;
    struct download output, encoded, measured; // empty: a texture; no conversion
    struct shared_texture shared;
    cl_event acquire, release; // of the texture
    cl_event ends[4];          // events above: the frame is finished when all are complete
    cl_uint end_count;
};

struct opencl_path {
    struct path path;
    struct device *device;
    enum opencl_output output;
    struct opencl_target target;
    cl_command_queue upload_queue, compute_queue, download_queue; // the same queue if memory is shared
    struct opencl_layout input_layout, output_layout;
    size_t input_bytes;
    bool copies;                          // the device does not read frames in the host's memory
    int64_t shift_ns, shifted_ns;         // host time minus device time, and the time of that measurement; 0: none yet
    struct slot slot[PATH_DEPTH_MAX + 1]; // one more than in flight: the collected one stays valid
    int slots, write_slot, read_slot, lent_slot; // lent_slot -1: none
    struct opencl_encoder encoder;
    struct opencl_measures measures;
    struct copier copier; // of frames
};

// ---- upload ----

// A device that shares the host's memory reads a frame in place; the source lends the frame until it is collected.
static bool read_in_place(struct opencl_path *cl, struct slot *slot, const struct image *frame, size_t bytes)
{
    const size_t spare = slot->chain->pass[0].choice.variant->wide_loads ? OPENCL_WIDE_LOAD : 0;
    cl_int result;
    if (!cl->device->info.host_unified || cl->copies || bytes == 0 || bytes + spare > frame->reach_bytes)
        return false;
    slot->lent = clCreateBuffer(cl->device->context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, frame->reach_bytes,
                                frame->plane[0], &result);
    if (!slot->lent) // the driver would refuse the next frame too
        log_info("the device cannot read frames in place (%s); monocle copies them", compute_result_name(result));
    cl->copies = !slot->lent;
    slot->enqueued_ns = clock_now_ns();
    return slot->lent != NULL;
}

// Enlarges the input for a frame that is copied with the strides of its memory.
static cl_int make_room(struct opencl_path *cl, struct slot *slot, size_t bytes)
{
    const size_t room = bytes + OPENCL_WIDE_LOAD;
    cl_int result;
    if (room <= slot->input_bytes)
        return CL_SUCCESS;
    cl_mem larger = clCreateBuffer(cl->device->context, CL_MEM_READ_ONLY, room, NULL, &result);
    if (!larger)
        return result;
    memory_release(slot->input);
    slot->input = larger;
    slot->input_bytes = room;
    return CL_SUCCESS;
}

// The device copies pinned memory without the host.
static cl_int send_pinned(struct opencl_path *cl, struct slot *slot, const void *from, size_t bytes)
{
    slot->enqueued_ns = clock_now_ns();
    const cl_int result =
        clEnqueueWriteBuffer(cl->upload_queue, slot->input, CL_FALSE, 0, bytes, from, 0, NULL, &slot->upload);
    return result == CL_SUCCESS ? clFlush(cl->upload_queue) : result;
}

// The host copies the frame: to pinned memory, from which the device copies, or to host memory that the device reads.
static cl_int send_copy(struct opencl_path *cl, struct slot *slot, const struct image *frame)
{
    cl_int result = CL_SUCCESS;
    uint8_t *to = slot->staging.at;
    slot->layout = cl->input_layout;
    slot->copied = true;
    slot->wait_start_ns = clock_now_ns();
    if (!to)
        to = clEnqueueMapBuffer(cl->upload_queue, slot->input, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
                                cl->input_bytes, 0, NULL, NULL, &result);
    if (result != CL_SUCCESS)
        return result;
    slot->copy_start_ns = clock_now_ns();
    opencl_layout_copy(&cl->input_layout, to, frame, &cl->copier);
    slot->copy_end_ns = slot->enqueued_ns = clock_now_ns();
    if (slot->staging.at)
        return send_pinned(cl, slot, to, cl->input_bytes);
    return clEnqueueUnmapMemObject(cl->upload_queue, slot->input, to, 0, NULL, &slot->upload);
}

static cl_int upload(struct opencl_path *cl, struct slot *slot, const struct image *frame)
{
    slot->layout = cl->input_layout;
    slot->copied = false;
    const size_t bytes = opencl_layout_in_place(&slot->layout, frame);
    if (read_in_place(cl, slot, frame, bytes)) {
        cl->path.info.input = "host-ptr";
        return CL_SUCCESS;
    }
    if (bytes == 0 || !lender_find(cl->device->pages, frame->plane[0], bytes)) {
        cl->path.info.input = "copy";
        return send_copy(cl, slot, frame);
    }
    cl->path.info.input = "pinned";
    const cl_int result = make_room(cl, slot, bytes);
    return result != CL_SUCCESS ? result : send_pinned(cl, slot, frame->plane[0], bytes);
}

// ---- submit ----

// Releases the slot's events and the frame's memory. The device must be done with the frame.
static void release_frame(struct slot *slot)
{
    cl_event *const events[] = {&slot->upload,      &slot->acquire,      &slot->release,
                                &slot->output.done, &slot->encoded.done, &slot->measured.done};
    memory_release(slot->lent);
    slot->lent = NULL;
    for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
        event_release(events[i]);
    span_release(&slot->encoding);
    span_release(&slot->measuring);
    for (int i = 0; i < PLAN_PASSES; i++)
        span_release(&slot->passes[i]);
}

// Enqueues the conversion to YUV and its download.
static cl_int encode(struct opencl_path *cl, struct slot *slot)
{
    if (cl->encoder.bytes == 0)
        return CL_SUCCESS;
    cl_int result =
        opencl_encode(&cl->encoder, cl->compute_queue, slot->output.buffer, slot->encoded.buffer, &slot->encoding);
    if (result == CL_SUCCESS)
        result = clFlush(cl->compute_queue);
    return result == CL_SUCCESS ? download_start(&slot->encoded, cl->download_queue, slot->encoding.last) : result;
}

// Enqueues the measures and their download.
static cl_int measure(struct opencl_path *cl, struct slot *slot)
{
    if (cl->measures.bytes == 0)
        return CL_SUCCESS;
    cl_int result = opencl_measures_run(&cl->measures, cl->compute_queue, slot->output.buffer, slot->measured.buffer,
                                        &slot->measuring);
    if (result == CL_SUCCESS)
        result = clFlush(cl->compute_queue);
    return result == CL_SUCCESS ? download_start(&slot->measured, cl->download_queue, slot->measuring.last) : result;
}

// Enqueues everything from the frame to the result.
static cl_int enqueue(struct opencl_path *cl, struct slot *slot, const struct image *frame)
{
    struct opencl_chain *chain = slot->chain;
    const bool texture = cl->output == OUTPUT_TEXTURE, alone = cl->path.info.in_flight == 0;
    cl_int result = download_reclaim(&slot->output, cl->compute_queue);
    if (result == CL_SUCCESS)
        result = download_reclaim(&slot->encoded, cl->compute_queue);
    if (result == CL_SUCCESS)
        result = download_reclaim(&slot->measured, cl->compute_queue);
    // Acquiring a texture is slow. If no other frame is in flight, it overlaps with the upload; otherwise it follows
    // the upload, because it would delay the other frame.
    if (result == CL_SUCCESS && texture && alone)
        result = shared_texture_acquire(&slot->shared, cl->compute_queue, NULL, &slot->acquire);
    if (result == CL_SUCCESS)
        result = upload(cl, slot, frame);
    if (result == CL_SUCCESS && texture && !alone)
        result = shared_texture_acquire(&slot->shared, cl->compute_queue, slot->upload, &slot->acquire);
    if (result == CL_SUCCESS)
        result = opencl_chain_set_frame_time(chain, cl->compute_queue, cl->path.frame_time);
    cl_mem from = slot->lent ? slot->lent : slot->input;
    cl_mem to = texture ? slot->shared.image : slot->output.buffer;
    if (result == CL_SUCCESS)
        result = opencl_chain_run(chain, cl->compute_queue, from, &slot->layout, to, slot->upload, slot->passes);
    const cl_event last = slot->passes[chain->plan.count - 1].last;
    if (result == CL_SUCCESS)
        result = encode(cl, slot);
    if (result == CL_SUCCESS)
        result = measure(cl, slot);
    if (result == CL_SUCCESS)
        result = clFlush(cl->compute_queue);
    if (result == CL_SUCCESS && texture)
        result = shared_texture_release(&slot->shared, cl->compute_queue, &slot->release);
    if (result == CL_SUCCESS && slot->output.way != DOWNLOAD_NONE)
        result = download_start(&slot->output, cl->download_queue, last);
    const cl_event ends[] = {slot->output.done, slot->release, slot->encoded.done, slot->measured.done};
    slot->end_count = 0;
    for (int i = 0; i < 4; i++) {
        if (ends[i])
            slot->ends[slot->end_count++] = ends[i];
    }
    return result;
}

static bool opencl_submit(struct path *path, const struct image *frame)
{
    struct opencl_path *cl = (struct opencl_path *)path;
    struct slot *slot = &cl->slot[cl->write_slot];
    if (cl->output == OUTPUT_TEXTURE && !slot->shared.image &&
        !compute_ok(shared_texture_open(&slot->shared, cl->device->context, path->info.width, path->info.height),
                    "share a GL texture with OpenCL")) {
        path->info.lost = true; // this path cannot continue, but another kind can
        return false;
    }
    slot->number = path->frame_time.number;
    slot->chain = path->tried ? path->tried : path->build;
    path->tried = NULL;
    cl_int result = device_turn_begin(cl->device, cl->compute_queue);
    if (result == CL_SUCCESS)
        result = enqueue(cl, slot, frame);
    const cl_int ended = device_turn_end(cl->device, cl->compute_queue);
    result = result == CL_SUCCESS ? ended : result;
    if (!compute_ok(result, "run a frame on the device")) {
        path->info.lost = compute_device_lost(result);
        compute_finish(cl->upload_queue); // the source may free the frame's memory
        compute_finish(cl->compute_queue);
        release_frame(slot);
        return false;
    }
    cl->write_slot = (cl->write_slot + 1) % cl->slots;
    return true;
}

// ---- collect ----

static bool opencl_ready(const struct path *path)
{
    const struct opencl_path *cl = (const struct opencl_path *)path;
    const struct slot *slot = &cl->slot[cl->read_slot];
    bool done = true;
    for (cl_uint i = 0; i < slot->end_count; i++)
        done = done && event_done(slot->ends[i]);
    return done;
}

// Returns host time minus device time. A frame's first command is queued after `enqueued_ns`, later if the thread was
// interrupted, so each frame gives a lower limit. The result is the largest limit so far, lowered by 100 ppm of the
// elapsed time, because the clocks drift.
static int64_t device_to_host(struct opencl_path *cl, const struct slot *slot)
{
    const cl_event queued = slot->upload ? slot->upload : slot->passes[0].first;
    const int64_t seen = slot->enqueued_ns - (int64_t)event_stamp(queued, CL_PROFILING_COMMAND_QUEUED);
    const int64_t drift = (slot->enqueued_ns - cl->shifted_ns) / 10000; // 100 ppm
    if (cl->shifted_ns == 0 || seen > cl->shift_ns - drift)
        cl->shift_ns = seen;
    else
        cl->shift_ns -= drift;
    cl->shifted_ns = slot->enqueued_ns;
    return cl->shift_ns;
}

// Adds a stage of the device. Leaves it out if the driver gave no times or a start before *ended, the end of the
// previous command: NVIDIA's driver returns times of an earlier command for acquire and release.
static void add_stage(struct path_result *result, const char *name, struct device_span span, int64_t shift_ns,
                      cl_ulong *ended)
{
    const cl_ulong start = event_stamp(span.first, CL_PROFILING_COMMAND_START);
    const cl_ulong end = event_stamp(span.last, CL_PROFILING_COMMAND_END);
    if (start == 0 || end < start || start < *ended)
        return;
    path_add_stage(result, name, STAGE_DEVICE, (int64_t)start + shift_ns, (int64_t)end + shift_ns);
    *ended = end;
}

// Adds the stage of one command.
static void add_command(struct path_result *result, const char *name, cl_event event, int64_t shift_ns, cl_ulong *ended)
{
    add_stage(result, name, (struct device_span){event, event}, shift_ns, ended);
}

static void add_stages(struct opencl_path *cl, const struct slot *slot, struct path_result *result)
{
    const struct opencl_chain *chain = slot->chain;
    if (slot->copied) {
        path_add_stage(result, "copy in", STAGE_HOST, slot->copy_start_ns, slot->copy_end_ns);
    }
    if (slot->copied && !slot->staging.at) {
        path_add_stage(result, "device wait", STAGE_HOST, slot->wait_start_ns, slot->copy_start_ns);
    }
    const int64_t shift = device_to_host(cl, slot);
    cl_ulong ended = 0;
    if (slot->staging.at)
        add_command(result, "upload", slot->upload, shift, &ended);
    add_command(result, "acquire", slot->acquire, shift, &ended);
    for (int i = 0; i < chain->plan.count; i++)
        add_stage(result, chain->pass[i].name, slot->passes[i], shift, &ended);
    add_stage(result, "encode", slot->encoding, shift, &ended);
    cl_ulong encoded = ended; // this download and the next one overlap
    add_command(result, "encoded down", slot->encoded.done, shift, &encoded);
    add_stage(result, "measure", slot->measuring, shift, &ended);
    add_command(result, cl->output == OUTPUT_MAPPED ? "map" : "download", slot->output.done, shift, &ended);
    add_command(result, "release", slot->release, shift, &ended);
}

static bool opencl_collect(struct path *path, struct path_result *result)
{
    struct opencl_path *cl = (struct opencl_path *)path;
    struct slot *slot = &cl->slot[cl->read_slot];
    if (cl->output == OUTPUT_TEXTURE && cl->lent_slot >= 0)
        shared_texture_lent(&cl->slot[cl->lent_slot].shared);
    cl->lent_slot = cl->read_slot;
    cl->read_slot = (cl->read_slot + 1) % cl->slots;
    const cl_int waited = compute_wait(slot->end_count, slot->ends);
    result->number = slot->number;
    if (waited == CL_SUCCESS)
        add_stages(cl, slot, result);
    release_frame(slot);
    if (!compute_ok(waited, "finish a frame on the device")) {
        path->info.lost = true;
        return false;
    }
    if (cl->encoder.bytes > 0)
        image_wrap(&result->encoded, &path->encode, slot->encoded.at);
    if (cl->measures.bytes > 0)
        measuring_give(&path->measuring, (const uint32_t *)slot->measured.at, &result->measures);
    result->texture = slot->shared.texture;
    if (slot->output.way == DOWNLOAD_NONE)
        return true;
    result->image.shape = (struct image_shape){.format = PIXFMT_RGBA, .width = result->width, .height = result->height};
    result->image.plane[0] = slot->output.at;
    result->image.stride[0] = 4 * (size_t)cl->output_layout.to_stride;
    return true;
}

static bool opencl_read_texture(struct path *path, struct image *rgba)
{
    const struct opencl_path *cl = (struct opencl_path *)path;
    if (cl->lent_slot >= 0 && shared_texture_read(&cl->slot[cl->lent_slot].shared, rgba->shape.width,
                                                  rgba->shape.height, (int)(rgba->stride[0] / 4), rgba->plane[0]))
        return true;
    log_error("cannot read a shared texture back: the GL framebuffer is incomplete");
    return false;
}

// ---- open and close ----

static bool make_queues(struct opencl_path *cl, char **error)
{
    cl_command_queue *const queues[] = {&cl->compute_queue, &cl->upload_queue, &cl->download_queue};
    cl_int result = CL_SUCCESS;
    for (int i = 0; result == CL_SUCCESS && i < 3; i++) {
        // Only a device with memory of its own has engines for copies.
        if (i > 0 && cl->device->info.host_unified) {
            *queues[i] = cl->compute_queue;
            clRetainCommandQueue(cl->compute_queue);
        } else {
            *queues[i] = device_queue(cl->device, true, &result);
        }
    }
    return opencl_ok(result, "create an OpenCL command queue", error);
}

static cl_int slot_open(struct opencl_path *cl, struct slot *slot, size_t output_bytes)
{
    const bool unified = cl->device->info.host_unified;
    const cl_mem_flags flags = unified ? CL_MEM_ALLOC_HOST_PTR : 0;
    cl_context context = cl->device->context;
    cl_int result;
    slot->input_bytes = cl->input_bytes;
    slot->input = clCreateBuffer(context, CL_MEM_READ_ONLY | flags, cl->input_bytes, NULL, &result);
    if (result == CL_SUCCESS && !unified)
        result = pinned_open(&slot->staging, context, cl->compute_queue, cl->input_bytes);
    if (result == CL_SUCCESS && cl->encoder.bytes > 0)
        result = download_open(&slot->encoded, context, cl->compute_queue, flags, cl->encoder.bytes,
                               unified ? DOWNLOAD_MAPPED : DOWNLOAD_COPIED);
    if (result == CL_SUCCESS && cl->measures.bytes > 0)
        result = download_open(&slot->measured, context, cl->compute_queue, flags, cl->measures.bytes,
                               unified ? DOWNLOAD_MAPPED : DOWNLOAD_COPIED);
    if (result != CL_SUCCESS || cl->output == OUTPUT_TEXTURE) // the first submit, on the GL thread, makes the texture
        return result;
    enum download_way way = cl->output == OUTPUT_MAPPED ? DOWNLOAD_MAPPED : DOWNLOAD_COPIED;
    if (cl->path.encoded_only || cl->path.measured_only)
        way = DOWNLOAD_NONE;
    return download_open(&slot->output, context, cl->compute_queue, flags, output_bytes, way);
}

static void slot_close(struct opencl_path *cl, struct slot *slot)
{
    release_frame(slot);
    pinned_close(&slot->staging, cl->compute_queue);
    download_close(&slot->output, cl->compute_queue);
    download_close(&slot->encoded, cl->compute_queue);
    download_close(&slot->measured, cl->compute_queue);
    memory_release(slot->input);
    shared_texture_close(&slot->shared);
}

// Returns a buffer of zeros. Oclgrind reports reads of a buffer that was never written; these reports would hide real
// faults.
static cl_mem make_zeros(const struct opencl_path *cl, cl_int *result)
{
    void *zeros = calloc(1, cl->input_bytes);
    cl_mem memory = NULL;
    *result = CL_OUT_OF_HOST_MEMORY;
    if (zeros)
        memory = clCreateBuffer(cl->device->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, cl->input_bytes, zeros,
                                result);
    free(zeros);
    return memory;
}

// Runs a new chain once on scratch memory: a driver may finish compiling only when a kernel first runs. PoCL does, for
// every size of work-group, and takes seconds. `first`: also runs the conversion and the measures. Frames use their
// kernels, too, and two threads must not set the arguments of one kernel, so only the opening of the path runs them
// here, in a turn; a later chain runs beside frames, whose kernels are others, and does not delay them.
static cl_int run_once(const struct opencl_path *cl, const struct opencl_chain *chain, bool first)
{
    cl_int result;
    struct device_span spans[PLAN_PASSES] = {0}, encoding = {0}, measuring = {0};
    cl_mem from = NULL, to = NULL, encoded = NULL, measured = NULL;
    cl_command_queue queue = device_queue(cl->device, false, &result);
    const bool turn = first && queue;
    if (turn)
        result = device_turn_begin(cl->device, queue);
    if (result == CL_SUCCESS)
        from = make_zeros(cl, &result);
    if (result == CL_SUCCESS)
        to = opencl_output_open(&cl->target, chain->rgba.width, chain->rgba.height, 0, &result);
    if (result == CL_SUCCESS)
        result = opencl_chain_run(chain, queue, from, &cl->input_layout, to, NULL, spans);
    if (result == CL_SUCCESS && first && cl->encoder.bytes > 0)
        encoded = clCreateBuffer(cl->device->context, CL_MEM_READ_WRITE, cl->encoder.bytes, NULL, &result);
    if (encoded)
        result = opencl_encode(&cl->encoder, queue, to, encoded, &encoding);
    if (result == CL_SUCCESS && first && cl->measures.bytes > 0)
        measured = clCreateBuffer(cl->device->context, CL_MEM_READ_WRITE, cl->measures.bytes, NULL, &result);
    if (measured)
        result = opencl_measures_run(&cl->measures, queue, to, measured, &measuring);
    if (turn)
        device_turn_end(cl->device, queue);
    if (queue) {
        const cl_int finished = compute_finish(queue);
        result = result == CL_SUCCESS ? finished : result;
        clReleaseCommandQueue(queue);
    }
    for (int i = 0; i < PLAN_PASSES; i++)
        span_release(&spans[i]);
    span_release(&encoding);
    span_release(&measuring);
    memory_release(from);
    memory_release(to);
    memory_release(encoded);
    memory_release(measured);
    return result;
}

static struct opencl_chain *build(const struct opencl_path *cl, const struct chain *chain, bool first, char **error)
{
    struct opencl_chain *opened = opencl_chain_open(&cl->target, chain, error);
    if (opened && opencl_ok(run_once(cl, opened, first), "run the kernels", error))
        return opened;
    opencl_chain_close(opened);
    return NULL;
}

static void *opencl_build(const struct path *path, const struct chain *chain, char **error)
{
    return build((const struct opencl_path *)path, chain, false, error);
}

static_assert((int)PATH_PASSES == PLAN_PASSES && (int)PATH_CHOICE == VARIANT_TEXT, "room for the passes of any plan");

static int opencl_passes(const struct path *path, struct path_pass passes[PATH_PASSES])
{
    const struct opencl_chain *chain = path->build;
    for (int i = 0; i < chain->plan.count; i++) {
        passes[i] = (struct path_pass){.name = chain->plan.pass[i].name,
                                       .tuned = chain->pass[i].tuned.entry ? &chain->pass[i].tuned : NULL};
        variant_print(&chain->pass[i].choice, passes[i].choice);
    }
    return chain->plan.count;
}

static const struct opencl_target *opencl_target(const struct path *path)
{
    return &((const struct opencl_path *)path)->target;
}

static void opencl_close(struct path *path)
{
    struct opencl_path *cl = (struct opencl_path *)path;
    if (cl->compute_queue)
        compute_finish(cl->compute_queue);
    for (int i = 0; i < cl->slots; i++)
        slot_close(cl, &cl->slot[i]);
    opencl_encoder_close(&cl->encoder);
    opencl_measures_close(&cl->measures);
    copier_finish(&cl->copier);
    const cl_command_queue queues[] = {cl->upload_queue, cl->compute_queue, cl->download_queue};
    for (int i = 0; i < 3; i++) {
        if (queues[i]) {
            compute_finish(queues[i]);
            clReleaseCommandQueue(queues[i]);
        }
    }
    path_finish(path);
    free(cl);
}

static const struct backend opencl_backend = {
    .build = opencl_build,
    .build_free = opencl_chain_close,
    .submit = opencl_submit,
    .collect = opencl_collect,
    .ready = opencl_ready,
    .passes = opencl_passes,
    .target = opencl_target,
    .read_texture = opencl_read_texture,
    .close = opencl_close,
};

static bool open_parts(struct opencl_path *cl, const struct path_setup *setup, char **error)
{
    const struct image_shape rgba = {.width = cl->path.info.width, .height = cl->path.info.height};
    const size_t output_bytes = opencl_layout_make(&cl->output_layout, &rgba);
    cl->input_bytes = opencl_layout_make(&cl->input_layout, &setup->input);
    char *why;
    if (!byte_stores_work(cl->device, &why)) {
        path_fail(error, why ? why : "out of memory");
        free(why);
        return false;
    }
    measuring_open(&cl->path.measuring, setup, rgba.width, rgba.height, false);
    if (!make_queues(cl, error) ||
        !opencl_measures_open(&cl->measures, cl->device, &cl->path.measuring, cl->output_layout.to_stride, error) ||
        (setup->encode.width > 0 &&
         !opencl_encoder_open(&cl->encoder, cl->device, &setup->encode, cl->output_layout.to_stride, error)))
        return false;
    cl_int result = CL_SUCCESS;
    for (int i = 0; result == CL_SUCCESS && i <= setup->depth; i++)
        result = slot_open(cl, &cl->slot[cl->slots++], output_bytes);
    return opencl_ok(result, "allocate device memory for frames", error) &&
           (cl->path.build = build(cl, setup->chain, true, error));
}

struct path *opencl_open(const struct path_setup *setup, enum opencl_output output, char **error)
{
    static const char *const names[] = {
        [OUTPUT_TEXTURE] = "gl-shared",
        [OUTPUT_MAPPED] = "mapped",
        [OUTPUT_READ] = "opencl",
    };
    struct opencl_path *cl = xalloc(sizeof(*cl));
    path_init(&cl->path, &opencl_backend, setup, names[output]);
    cl->device = setup->device;
    cl->output = output;
    cl->target = opencl_target_make(setup, output == OUTPUT_TEXTURE);
    cl->lent_slot = -1;
    cl->copier.threads = setup->threads;
    if (open_parts(cl, setup, error))
        return &cl->path;
    opencl_close(&cl->path);
    return NULL;
}

// ---- zerocopy: the first sharing mode that works ----

// Sets the places of the output that the setup allows. Returns why the path shares no texture, or why it does.
static const char *find_outputs(const struct path_setup *setup, bool possible[OPENCL_OUTPUTS])
{
    const struct device *device = setup->device;
    const bool shares = setup->textures && device->shares_gl;
    // On NVIDIA 580, conversion to YUV from a shared image gave wrong bytes, so a result that is converted stays in a
    // buffer.
    const bool encodes = setup->encode.width > 0;
    possible[OUTPUT_TEXTURE] = shares && !encodes && !setup->measures;
    possible[OUTPUT_MAPPED] = device->info.host_unified;
    possible[OUTPUT_READ] = true;
    if (shares && encodes)
        return "the virtual camera needs results in a buffer";
    if (shares && setup->measures)
        return "measures need results in a buffer";
    return setup->textures ? device->sharing_why : "no window";
}

// path->info.why says why the modes before it failed. A kernel that does not compile fails in every mode, so *error is
// that of the last mode.
struct path *zerocopy_open(const struct path_setup *setup, char **error)
{
    bool possible[OPENCL_OUTPUTS];
    const char *why = find_outputs(setup, possible);
    struct path *path = NULL;
    for (enum opencl_output output = OUTPUT_TEXTURE; !path && output < OPENCL_OUTPUTS; output++) {
        if (!possible[output])
            continue;
        if (error) {
            free(*error);
            *error = NULL;
        }
        path = opencl_open(setup, output, error);
        if (path)
            snprintf(path->info.why, sizeof(path->info.why), "%s%s",
                     output == OUTPUT_TEXTURE ? "" : "no GL sharing: ", why);
        else if (output == OUTPUT_TEXTURE)
            why = "cannot create shared textures";
    }
    return path;
}
