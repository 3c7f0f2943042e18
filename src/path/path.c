// path.c: the functions of path.h: they check the call, count the frames in flight, and call the backend of the kind
#include "path/path.h"

#include "base/log.h"
#include "path/backend.h"
#include "path/opencl_chain.h"
#include "path/variants.h"

#include <assert.h>
#include <stdio.h>
#include <time.h>

static struct path *open_opencl(const struct path_setup *setup, char **error)
{
    return opencl_open(setup, OUTPUT_READ, error);
}

static const struct {
    struct path_kind_info info;
    struct path *(*open)(const struct path_setup *setup, char **error); // as path_open; the setup has been checked
} kinds[PATH_KINDS] = {
    [PATH_CPU] = {{.name = "cpu"}, cpu_open},
    [PATH_OPENCL] = {{"opencl", .needs_device = true}, open_opencl},
    [PATH_GL] = {{"gl", .needs_gl = true}, gl_open},
    [PATH_ZEROCOPY] = {{"zerocopy", .needs_device = true, .shares_gl = true, .steps_down = true}, zerocopy_open},
};

const struct path_kind_info *path_kind_info(enum path_kind kind)
{
    return &kinds[kind].info;
}

const char *path_kind_name(enum path_kind kind)
{
    return kinds[kind].info.name;
}

static bool encode_ok(const struct path_setup *setup, int width, int height)
{
    const struct image_shape *encode = &setup->encode;
    const char *why;
    return pixfmt_info(encode->format)->yuv && pixfmt_size_ok(encode->format, encode->width, encode->height, &why) &&
           encode->width <= width && encode->height <= height && encode->color.matrix != COLOR_MATRIX_DEFAULT &&
           encode->color.range != COLOR_RANGE_DEFAULT;
}

static_assert((int)CHAIN_SIDE_MAX == IMAGE_MAX_SIDE && 4ll * CHAIN_PIXELS_MAX <= IMAGE_MAX_BYTES,
              "an image may be as large as a chain's result");

// Returns why there is no path for this setup, or NULL.
static const char *refusal(const struct path_setup *setup, char error[CHAIN_ERROR])
{
    int width = setup->input.width, height = setup->input.height;
    const bool needs_device = kinds[setup->kind].info.needs_device;
    struct variant_choice wanted;
    const char *why;
    if (!pixfmt_size_ok(setup->input.format, setup->input.width, setup->input.height, &why))
        return why;
    if (!chain_output_size(setup->chain, &width, &height, error))
        return error;
    if ((setup->encode.width != 0 || setup->encoded_only) && !encode_ok(setup, width, height))
        return "cannot convert results to this format and size";
    if (setup->measures && setup->encoded_only)
        return "a path computes no measures of results that are YUV only";
    if (setup->measured_only && (!setup->measures || setup->encode.width != 0))
        return "results that are measures only need measures, and no YUV";
    if (setup->measures & MEASURE_COLUMNS && (setup->strips < 1 || setup->strips > MEASURE_STRIPS_MAX))
        return "column sums need 1 to 64 strips";
    if (kinds[setup->kind].info.needs_gl && !setup->gl)
        return "no GL context";
    if (needs_device && setup->variant && !variant_parse(&wanted, setup->variant))
        return "no variant of the kernels has this name and these parameters";
    return needs_device && !setup->device ? "no OpenCL device" : NULL;
}

struct path *path_open(const struct path_setup *setup, char **error)
{
    if (error)
        *error = NULL;
    char refused[CHAIN_ERROR];
    struct chain chain = *setup->chain; // held, so that the path has the size of the chain's results
    chain_hold(&chain);
    struct path_setup checked = *setup;
    checked.chain = &chain;
    if (setup->depth < 1)
        checked.depth = 1;
    if (setup->depth > PATH_DEPTH_MAX)
        checked.depth = PATH_DEPTH_MAX;
    const char *why = refusal(&checked, refused);
    struct path *path = why ? NULL : kinds[setup->kind].open(&checked, error);
    chain_release(&chain);
    if (why)
        path_fail(error, why);
    if (path && !path->info.why[0])
        snprintf(path->info.why, sizeof(path->info.why), "as requested");
    return path;
}

int path_variants(const struct path_setup *setup, const char *names[PATH_VARIANTS])
{
    names[0] = "generic";
    if (setup->kind == PATH_GL)
        return 1;
    return (kinds[setup->kind].info.needs_device ? opencl_variants : cpu_variants)(setup, names);
}

void path_close(struct path *path)
{
    if (!path)
        return;
    struct path_result result;
    while (path->info.in_flight > 0 && path_collect(path, &result))
        ;
    path->backend->close(path);
}

const struct path_info *path_info(const struct path *path)
{
    return &path->info;
}

int path_passes(const struct path *path, struct path_pass passes[PATH_PASSES])
{
    return path->backend->passes ? path->backend->passes(path, passes) : 0;
}

const struct opencl_target *path_target(const struct path *path)
{
    return path->backend->target ? path->backend->target(path) : NULL;
}

const struct opencl_chain *path_chain(const struct path *path)
{
    return path->backend->target ? path->build : NULL;
}

void path_try(struct path *path, struct opencl_chain *chain)
{
    path->tried = chain;
}

void path_adopt(struct path *path, struct opencl_chain *chain)
{
    assert(path->info.in_flight == 0);
    path->backend->build_free(path->build);
    path->build = chain;
    path_forget(path);
}

bool path_ready(const struct path *path)
{
    return path->info.in_flight == 0 || !path->backend->ready || path->backend->ready(path);
}

void path_forget(struct path *path)
{
    path->ran = NULL;
}

static void set_frame_time(struct path *path, const struct image *picture, const struct frame_time *frame_time)
{
    path->frame_time = frame_time ? *frame_time : (struct frame_time){0};
    path->frame_time.picture = frame_time ? picture : NULL;
    path->frame_time.clock_s = time(NULL);
}

bool path_submit(struct path *path, const struct image *frame, const struct frame_time *frame_time)
{
    path->info.lost = false;
    if (path->info.in_flight == path->info.depth) {
        log_error("cannot submit a frame: %d frames are in flight already", path->info.in_flight);
        return false;
    }
    if (!image_shape_equal(&frame->shape, &path->input)) {
        log_error("cannot submit a frame of %s %dx%d: the path takes %s %dx%d", pixfmt_info(frame->shape.format)->name,
                  frame->shape.width, frame->shape.height, pixfmt_info(path->input.format)->name, path->input.width,
                  path->input.height);
        return false;
    }
    const void *build = path->tried ? path->tried : path->build;
    set_frame_time(path, frame, frame_time);
    path->frame_time.previous = path->frame_time.previous && path->ran == build;
    path->ran = NULL;
    if (!path->backend->submit(path, frame))
        return false;
    path->ran = build;
    path->info.in_flight++;
    return true;
}

void path_feed(struct path *path, const struct path_feed *feed, const struct frame_time *frame_time)
{
    assert(path->fed && path->backend->feed);
    set_frame_time(path, NULL, frame_time);
    path->backend->feed(path, feed);
    path->info.in_flight++;
}

bool path_collect(struct path *path, struct path_result *result)
{
    path->info.lost = false;
    if (path->info.in_flight == 0) {
        log_error("cannot collect a frame: no frame is in flight");
        return false;
    }
    *result = (struct path_result){.width = path->info.width, .height = path->info.height};
    const bool ok = path->backend->collect(path, result);
    path->info.in_flight--;
    return ok;
}

bool path_read(struct path *path, const struct path_result *result, struct image *rgba)
{
    if (rgba->shape.width != result->width || rgba->shape.height != result->height) {
        log_error("cannot read a result of %dx%d into an image of %dx%d", result->width, result->height,
                  rgba->shape.width, rgba->shape.height);
        return false;
    }
    if (result->texture)
        return path->backend->read_texture(path, rgba);
    image_copy(rgba, &result->image);
    return true;
}

bool path_prepare(struct path *path, const struct chain *chain, char **error)
{
    if (error)
        *error = NULL;
    char text[CHAIN_ERROR] = "the chain changes the size of the results";
    int width = path->input.width, height = path->input.height;
    struct chain held = *chain;
    void *build = NULL;
    chain_hold(&held);
    if (chain_output_size(&held, &width, &height, text) && width == path->info.width && height == path->info.height)
        build = path->backend->build(path, &held, error);
    else
        path_fail(error, text);
    chain_release(&held);
    if (!build)
        return false;
    pthread_mutex_lock(&path->lock);
    void *old = path->pending;
    path->pending = build;
    pthread_mutex_unlock(&path->lock);
    path->backend->build_free(old);
    return true;
}

void path_swap(struct path *path)
{
    pthread_mutex_lock(&path->lock);
    void *build = path->pending;
    path->pending = NULL;
    pthread_mutex_unlock(&path->lock);
    if (!build)
        return;
    assert(path->info.in_flight == 0);
    path->backend->build_free(path->build);
    path->build = build;
    path_forget(path);
}
