// gl.c: the gl path: the life of a frame: upload, a draw per pass, download or texture
#include "base/alloc.h"
#include "base/log.h"
#include "compute/gl_context.h"
#include "compute/texture.h"
#include "image/convert.h"
#include "image/copier.h"
#include "path/backend.h"
#include "path/gl_chain.h"

#include <assert.h>
#include <epoxy/gl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WAIT_S = 10,              // GL has hung if a frame takes longer
    STAMPS = PLAN_PASSES + 3, // start, end of the upload, of each pass and of the download
    RESYNC_NS = 1000000000,   // the clocks of the host and of GL drift
};

// A frame in flight, or the latest result.
struct slot {
    uint64_t number;        // of the frame, as in struct frame_time
    struct gl_chain *chain; // of the frame
    unsigned unpack;        // buffer with the frame's planes
    unsigned shown;         // texture with the result
    unsigned pack;          // buffer with the result; 0: it is not read back
    const uint8_t *mapped;  // `pack` in memory; NULL: not mapped
    struct image encoded;
    uint32_t *values; // of the measures
    GLsync done;
    unsigned stamp[STAMPS]; // queries of the submitting context; 0: it has none
    int stamps;
    int64_t copy_start_ns, copy_end_ns;
};

struct gl_path {
    struct path path;
    struct gl_context *context;
    struct gl_target target;
    bool textures; // results are textures
    unsigned plane[PIXFMT_PLANES];
    size_t offset[PIXFMT_PLANES], input_bytes; // of the planes in `unpack`
    struct slot slot[PATH_DEPTH_MAX + 1];      // one more than in flight: the collected one stays valid
    int slots, write_slot, read_slot;
    struct copier copier; // of frames
    // Of the submitting context, made by the first submit.
    unsigned framebuffer, array;
    bool stamped;                 // GL has timestamps
    int64_t shift_ns, shifted_ns; // host time minus GL time, and the time of that measurement
};

static const struct {
    GLenum format, layout;
} groups[] = {
    [1] = {GL_R8UI, GL_RED_INTEGER},
    [2] = {GL_RG8UI, GL_RG_INTEGER},
    [3] = {GL_RGB8UI, GL_RGB_INTEGER},
    [4] = {GL_RGBA8UI, GL_RGBA_INTEGER},
};

// Returns the size of a plane's texture.
static void plane_size(const struct image_shape *shape, int plane, int *width, int *height)
{
    *width = (int)pixfmt_row_bytes(shape->format, plane, shape->width) / pixfmt_info(shape->format)->plane[plane].bytes;
    *height = pixfmt_rows(shape->format, plane, shape->height);
}

// ---- times ----

static_assert(GL_TIMESTAMP == GL_TIMESTAMP_EXT, "timestamp queries differ");

static bool has_stamps(bool es)
{
    GLint bits = 0;
    if (es && !epoxy_has_gl_extension("GL_EXT_disjoint_timer_query"))
        return false;
    if (es)
        glGetQueryivEXT(GL_TIMESTAMP, GL_QUERY_COUNTER_BITS_EXT, &bits);
    else
        glGetQueryiv(GL_TIMESTAMP, GL_QUERY_COUNTER_BITS, &bits);
    return bits > 0;
}

static void stamp(struct gl_path *gl, struct slot *slot)
{
    if (!gl->stamped)
        return;
    if (!slot->stamp[slot->stamps])
        glGenQueries(1, &slot->stamp[slot->stamps]);
    (gl->target.es ? glQueryCounterEXT : glQueryCounter)(slot->stamp[slot->stamps++], GL_TIMESTAMP);
}

// The context of gl_chain_draw's call after each pass.
struct stamping {
    struct gl_path *gl;
    struct slot *slot;
};

static void stamp_pass(void *context)
{
    const struct stamping *stamping = context;
    stamp(stamping->gl, stamping->slot);
}

static void synchronise_clocks(struct gl_path *gl)
{
    GLint64 now = 0;
    if (!gl->stamped || (gl->shifted_ns && clock_now_ns() - gl->shifted_ns < RESYNC_NS))
        return;
    glGetInteger64v(GL_TIMESTAMP, &now);
    gl->shifted_ns = clock_now_ns();
    gl->shift_ns = gl->shifted_ns - (int64_t)now;
}

// Adds the stage between a stamp and the next one.
static void add_stage(const struct gl_path *gl, const struct slot *slot, struct path_result *result, int number,
                      const char *name)
{
    GLuint64 ns[2] = {0};
    for (int i = 0; i < 2; i++)
        (gl->target.es ? glGetQueryObjectui64vEXT : glGetQueryObjectui64v)(slot->stamp[number + i], GL_QUERY_RESULT,
                                                                           &ns[i]);
    if (ns[0] == 0 || ns[1] < ns[0])
        return;
    struct stage_time *stage = path_add_stage(result, name, STAGE_DEVICE);
    stage->start_ns = (int64_t)ns[0] + gl->shift_ns;
    stage->end_ns = (int64_t)ns[1] + gl->shift_ns;
}

static void add_host_stage(struct path_result *result, const char *name, int64_t start_ns)
{
    struct stage_time *stage = path_add_stage(result, name, STAGE_HOST);
    stage->start_ns = start_ns;
    stage->end_ns = clock_now_ns();
}

static void add_stages(const struct gl_path *gl, const struct slot *slot, struct path_result *result)
{
    const struct plan *plan = &slot->chain->plan;
    struct stage_time *copy = path_add_stage(result, "copy in", STAGE_HOST);
    copy->start_ns = slot->copy_start_ns;
    copy->end_ns = slot->copy_end_ns;
    if (slot->stamps == 0) {
        add_host_stage(result, "passes", slot->copy_end_ns); // GL has no timestamps
        return;
    }
    add_stage(gl, slot, result, 0, "upload");
    for (int i = 0; i < plan->count; i++) {
        char name[160];
        snprintf(name, sizeof(name), "pass %s", plan->pass[i].name);
        add_stage(gl, slot, result, 1 + i, name);
    }
    if (slot->pack)
        add_stage(gl, slot, result, 1 + plan->count, "download");
}

// ---- submit ----

// Copies the frame to the slot's buffer, its rows packed. False: GL does not map the buffer.
static bool copy_frame(struct gl_path *gl, const struct slot *slot, const struct image *frame)
{
    struct image packed = {.shape = frame->shape};
    uint8_t *to = glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, (GLsizeiptr)gl->input_bytes,
                                   GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
    if (!to)
        return false;
    for (int i = 0; i < pixfmt_info(frame->shape.format)->planes; i++) {
        packed.plane[i] = to + gl->offset[i];
        packed.stride[i] = pixfmt_row_bytes(frame->shape.format, i, frame->shape.width);
    }
    copier_run(&gl->copier, &packed, frame);
    return glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER);
}

static bool upload(struct gl_path *gl, struct slot *slot, const struct image *frame)
{
    const struct image_shape *shape = &gl->path.input;
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, slot->unpack);
    slot->copy_start_ns = clock_now_ns();
    // A driver may lose the contents of a mapped buffer. Then the frame is copied again.
    const bool copied = copy_frame(gl, slot, frame) || copy_frame(gl, slot, frame);
    slot->copy_end_ns = clock_now_ns();
    stamp(gl, slot);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    for (int i = 0; copied && i < pixfmt_info(shape->format)->planes; i++) {
        int width, height;
        plane_size(shape, i, &width, &height);
        glBindTexture(GL_TEXTURE_2D, gl->plane[i]);
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height,
                        groups[pixfmt_info(shape->format)->plane[i].bytes].layout, GL_UNSIGNED_BYTE,
                        (const void *)(uintptr_t)gl->offset[i]);
    }
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glBindTexture(GL_TEXTURE_2D, 0);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    stamp(gl, slot);
    return copied;
}

static void unmap(struct slot *slot)
{
    if (!slot->mapped)
        return;
    glBindBuffer(GL_PIXEL_PACK_BUFFER, slot->pack);
    glUnmapBuffer(GL_PIXEL_PACK_BUFFER);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    slot->mapped = NULL;
}

// Starts to read the result back.
static void download(struct gl_path *gl, struct slot *slot)
{
    if (!slot->pack)
        return;
    unmap(slot);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, gl->framebuffer); // the last step drew to its texture
    glBindBuffer(GL_PIXEL_PACK_BUFFER, slot->pack);
    glReadPixels(0, 0, gl->path.info.width, gl->path.info.height, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    stamp(gl, slot);
}

// Makes the objects that contexts do not share.
static void prepare_context(struct gl_path *gl)
{
    if (gl->framebuffer)
        return;
    glGenFramebuffers(1, &gl->framebuffer);
    glGenVertexArrays(1, &gl->array);
    gl->stamped = has_stamps(gl->target.es);
}

static bool submit(struct path *path, const struct image *frame)
{
    struct gl_path *gl = (struct gl_path *)path;
    struct slot *slot = &gl->slot[gl->write_slot];
    while (glGetError() != GL_NO_ERROR)
        ; // an error of other code
    prepare_context(gl);
    synchronise_clocks(gl);
    slot->number = path->frame_time.number;
    slot->chain = path->build;
    slot->stamps = 0;
    gl_chain_begin(gl->target.es);
    bool ok = upload(gl, slot, frame);
    if (ok) {
        gl_chain_draw(slot->chain, path->frame_time, gl->plane, gl->framebuffer, gl->array, slot->shown, stamp_pass,
                      &(struct stamping){gl, slot});
        download(gl, slot);
    }
    gl_chain_end();
    slot->done = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    glFlush();
    const GLenum error = glGetError();
    if (!ok || !slot->done || error != GL_NO_ERROR) {
        if (ok)
            log_error("cannot run a frame with GL: error 0x%04x", error);
        else
            log_error("cannot run a frame with GL: it does not map a buffer");
        if (slot->done)
            glDeleteSync(slot->done);
        slot->done = NULL;
        path->info.lost = true;
        return false;
    }
    path->info.input = "copy";
    gl->write_slot = (gl->write_slot + 1) % gl->slots;
    return true;
}

static bool gl_submit(struct path *path, const struct image *frame)
{
    const struct gl_context *context = ((const struct gl_path *)path)->context;
    gl_software_lock(context);
    const bool ok = submit(path, frame);
    gl_software_unlock(context);
    return ok;
}

// ---- collect ----

static bool gl_ready(const struct path *path)
{
    const struct gl_path *gl = (const struct gl_path *)path;
    const GLenum state = glClientWaitSync(gl->slot[gl->read_slot].done, 0, 0);
    return state != GL_TIMEOUT_EXPIRED;
}

// Waits until the frame is finished. False: GL has failed.
static bool await(struct slot *slot)
{
    GLenum state = GL_TIMEOUT_EXPIRED;
    for (int i = 0; i < WAIT_S && state == GL_TIMEOUT_EXPIRED; i++)
        state = glClientWaitSync(slot->done, GL_SYNC_FLUSH_COMMANDS_BIT, 1000000000);
    glDeleteSync(slot->done);
    slot->done = NULL;
    return state == GL_ALREADY_SIGNALED || state == GL_CONDITION_SATISFIED;
}

static bool map(const struct gl_path *gl, struct slot *slot)
{
    const GLsizeiptr bytes = (GLsizeiptr)4 * gl->path.info.width * gl->path.info.height;
    glBindBuffer(GL_PIXEL_PACK_BUFFER, slot->pack);
    slot->mapped = glMapBufferRange(GL_PIXEL_PACK_BUFFER, 0, bytes, GL_MAP_READ_BIT);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    return slot->mapped != NULL;
}

// Fills in the pixels of a finished frame.
static void give_pixels(struct gl_path *gl, struct slot *slot, struct path_result *result)
{
    const struct path *path = &gl->path;
    struct image rgba = {.shape = {.format = PIXFMT_RGBA, .width = result->width, .height = result->height},
                         .stride = {4 * (size_t)result->width}};
    rgba.plane[0] = (uint8_t *)slot->mapped;
    if (path->encode.width > 0) {
        const int64_t start_ns = clock_now_ns();
        encode_image(&slot->encoded, &rgba);
        add_host_stage(result, "encode", start_ns);
        result->encoded = slot->encoded;
        result->encoded.memory = NULL; // borrowed
    }
    if (path->measuring.wanted) {
        const int64_t start_ns = clock_now_ns();
        measuring_run(&gl->path.measuring, &rgba, NULL, slot->values);
        add_host_stage(result, "measure", start_ns);
        measuring_give(&path->measuring, slot->values, &result->measures);
    }
    if (gl->textures)
        result->texture = slot->shown;
    else if (!path->encoded_only && !path->measured_only)
        result->image = rgba;
}

static bool gl_collect(struct path *path, struct path_result *result)
{
    struct gl_path *gl = (struct gl_path *)path;
    struct slot *slot = &gl->slot[gl->read_slot];
    gl->read_slot = (gl->read_slot + 1) % gl->slots;
    result->number = slot->number;
    gl_software_lock(gl->context);
    const bool ok = await(slot) && (!slot->pack || map(gl, slot));
    if (ok)
        add_stages(gl, slot, result);
    gl_software_unlock(gl->context);
    if (!ok) {
        log_error("cannot finish a frame with GL: the driver has failed, or the context is lost");
        path->info.lost = true;
        return false;
    }
    give_pixels(gl, slot, result);
    return true;
}

static bool gl_read_texture(struct path *path, struct image *rgba)
{
    const struct gl_path *gl = (const struct gl_path *)path;
    const struct slot *slot = &gl->slot[(gl->read_slot + gl->slots - 1) % gl->slots];
    const struct shared_texture texture = {.texture = slot->shown};
    gl_software_lock(gl->context);
    const bool ok = shared_texture_read(&texture, rgba->shape.width, rgba->shape.height, (int)(rgba->stride[0] / 4),
                                        rgba->plane[0]);
    gl_software_unlock(gl->context);
    if (ok)
        return true;
    log_error("cannot read a texture back: the GL framebuffer is incomplete");
    return false;
}

// ---- open and close ----

static void *gl_build(const struct path *path, const struct chain *chain, char **error)
{
    const struct gl_path *gl = (const struct gl_path *)path;
    if (!gl_chain_builds(&gl->target, chain, error))
        return NULL;
    if (!gl_context_bind(gl->context, true)) {
        path_fail(error, "cannot make a GL context current");
        return NULL;
    }
    struct gl_chain *build = gl_chain_open(&gl->target, chain, error);
    gl_context_unbind(gl->context, true);
    return build;
}

static void gl_build_free(void *build)
{
    struct gl_chain *chain = build;
    struct gl_context *context = chain ? chain->target->context : NULL;
    if (!context || !gl_context_bind(context, true))
        return;
    gl_chain_close(chain);
    gl_context_unbind(context, true);
}

static void slot_close(struct slot *slot)
{
    if (slot->done)
        glDeleteSync(slot->done);
    glDeleteBuffers(1, &slot->unpack); // GL ignores 0
    glDeleteBuffers(1, &slot->pack);
    glDeleteTextures(1, &slot->shown);
    image_free(&slot->encoded);
    free(slot->values);
}

static void gl_close(struct path *path)
{
    struct gl_path *gl = (struct gl_path *)path;
    gl_software_lock(gl->context);
    if (gl->framebuffer) { // this thread submitted frames
        for (int i = 0; i < gl->slots; i++) {
            unmap(&gl->slot[i]);
            glDeleteQueries(STAMPS, gl->slot[i].stamp);
        }
        glDeleteFramebuffers(1, &gl->framebuffer);
        glDeleteVertexArrays(1, &gl->array);
    }
    gl_software_unlock(gl->context);
    measuring_close(&path->measuring);
    copier_finish(&gl->copier);
    path_finish(path);
    if (gl_context_bind(gl->context, true)) {
        for (int i = 0; i < gl->slots; i++)
            slot_close(&gl->slot[i]);
        glDeleteTextures(PIXFMT_PLANES, gl->plane);
        gl_context_unbind(gl->context, true);
    }
    free(gl);
}

static const struct backend gl_backend = {
    .build = gl_build,
    .build_free = gl_build_free,
    .submit = gl_submit,
    .collect = gl_collect,
    .ready = gl_ready,
    .read_texture = gl_read_texture,
    .close = gl_close,
};

static unsigned make_buffer(GLenum target, size_t bytes, GLenum usage)
{
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(target, buffer);
    glBufferData(target, (GLsizeiptr)bytes, NULL, usage);
    glBindBuffer(target, 0);
    return buffer;
}

// Makes textures and buffers. False: GL refuses one.
static bool make_slots(struct gl_path *gl, const struct path_setup *setup)
{
    const struct image_shape *shape = &setup->input;
    const bool downloads = !setup->textures || setup->encode.width > 0 || setup->measures;
    const size_t result_bytes = 4 * (size_t)gl->path.info.width * (size_t)gl->path.info.height;
    bool ok = true;
    for (int i = 0; ok && i < pixfmt_info(shape->format)->planes; i++) {
        int width, height;
        const int bytes = pixfmt_info(shape->format)->plane[i].bytes;
        plane_size(shape, i, &width, &height);
        gl->plane[i] = gl_texture_open(groups[bytes].format, groups[bytes].layout, GL_UNSIGNED_BYTE, width, height);
        gl->offset[i] = gl->input_bytes;
        gl->input_bytes += (size_t)width * (size_t)bytes * (size_t)height;
        ok = gl->plane[i] != 0;
    }
    for (int i = 0; ok && i <= setup->depth; i++) {
        struct slot *slot = &gl->slot[gl->slots++];
        slot->unpack = make_buffer(GL_PIXEL_UNPACK_BUFFER, gl->input_bytes, GL_STREAM_DRAW);
        if (downloads)
            slot->pack = make_buffer(GL_PIXEL_PACK_BUFFER, result_bytes, GL_STREAM_READ);
        ok = glGetError() == GL_NO_ERROR && (setup->encode.width == 0 || image_reserve(&slot->encoded, &setup->encode));
        slot->values = xcalloc(measuring_values(&gl->path.measuring), sizeof(uint32_t));
        slot->shown = gl_texture_open(GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, gl->path.info.width, gl->path.info.height);
        ok = ok && slot->shown;
    }
    return ok;
}

// Makes the objects that contexts share. The caller has bound the builder context.
static bool open_parts(struct gl_path *gl, const struct path_setup *setup, char **error)
{
    const int sides[] = {setup->input.width, setup->input.height, gl->path.info.width, gl->path.info.height};
    int side = 0;
    for (int i = 0; i < 4; i++)
        side = sides[i] > side ? sides[i] : side;
    char why[160];
    GLint most = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
    gl->target.es = !epoxy_is_desktop_gl();
    measuring_open(&gl->path.measuring, setup, gl->path.info.width, gl->path.info.height, true);
    if (side > most)
        snprintf(why, sizeof(why), "this GL driver allows %d pixels on a side, and the frames or results have %d", most,
                 side);
    else if (!make_slots(gl, setup))
        snprintf(why, sizeof(why), "GL refuses the textures and buffers of frames of %dx%d", setup->input.width,
                 setup->input.height);
    else
        return gl_chain_builds(&gl->target, setup->chain, error) &&
               (gl->path.build = gl_chain_open(&gl->target, setup->chain, error)) != NULL;
    path_fail(error, why);
    return false;
}

struct path *gl_open(const struct path_setup *setup, char **error)
{
    struct gl_path *gl = xalloc(sizeof(*gl));
    path_init(&gl->path, &gl_backend, setup, "gl");
    gl->context = setup->gl;
    gl->copier.threads = setup->threads;
    gl->textures = setup->textures && !setup->encoded_only && !setup->measured_only;
    gl->target = (struct gl_target){.context = setup->gl, .input = setup->input, .kernel_dir = setup->kernels};
    if (!gl_context_bind(setup->gl, true)) {
        path_fail(error, "cannot make a GL context current");
        path_finish(&gl->path);
        free(gl);
        return NULL;
    }
    const bool ok = open_parts(gl, setup, error);
    gl_context_unbind(setup->gl, true);
    if (ok)
        return &gl->path;
    gl_close(&gl->path);
    return NULL;
}
