// gl_sharing.c: the test of GL textures that a kernel writes: the time to hand a texture from GL to OpenCL and back
#include "base/alloc.h"
#include "bench/session.h"

#include "compute/memory.h"
#include "compute/texture.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1920, HEIGHT = 1080, GROUP_WIDTH = 16, GROUP_HEIGHT = 8, PIXEL = 4 };

enum way { WAY_IMAGE, WAY_EMPTY, WAY_FINISH, WAY_FENCE, WAYS };
static const char *const ways[WAYS] = {"image", "empty", "finish", "fence"};

struct sharing {
    struct shared_texture shared;
    cl_mem image;
    cl_uint number;
};

struct share_case {
    struct sharing *sharing;
    enum way way;
};

static cl_int write_pattern(const struct bench_case *c, const cl_mem *image)
{
    struct sharing *s = ((const struct share_case *)c->data)->sharing;
    static const size_t none[2] = {0}, local[2] = {GROUP_WIDTH, GROUP_HEIGHT},
                        size[2] = {WIDTH, (HEIGHT + GROUP_HEIGHT - 1) / GROUP_HEIGHT * GROUP_HEIGHT};
    const struct kernel_argument arguments[] = {{sizeof(*image), image}, {sizeof(s->number), &s->number}};
    struct device_span span = {0};
    s->number++;
    const cl_int result = kernel_run(c->kernel, c->session->queue, arguments, 2, none, size, local, NULL, &span);
    span_release(&span);
    return result;
}

// GL hands the texture over, the kernel writes it, and GL gets it back.
static cl_int write_texture(const struct bench_case *c)
{
    const struct share_case *share = c->data;
    struct shared_texture *shared = &share->sharing->shared;
    const cl_command_queue queue = c->session->queue;
    const bool fence = share->way == WAY_FENCE;
    cl_event released = NULL;
    if (fence)
        shared_texture_lent(shared);
    else
        shared_texture_finish(shared);
    cl_int result = shared_texture_acquire(shared, queue, NULL, NULL); // waits for the fence
    if (result == CL_SUCCESS && share->way != WAY_EMPTY)
        result = write_pattern(c, &shared->image);
    if (result == CL_SUCCESS)
        result = shared_texture_release(shared, queue, &released);
    if (result == CL_SUCCESS)
        result = fence ? compute_wait(1, &released) : compute_finish(queue);
    event_release(&released);
    return result;
}

static bool run_once(const struct bench_case *c)
{
    const struct share_case *share = c->data;
    cl_int result;
    if (share->way == WAY_IMAGE) {
        result = write_pattern(c, &share->sharing->image);
        if (result == CL_SUCCESS)
            result = compute_finish(c->session->queue);
    } else {
        result = write_texture(c);
    }
    return compute_ok(result, "write a GL texture");
}

// ---- check ----

// Reads the pixels through GL, or through OpenCL if no texture is written.
static bool read_pixels(const struct bench_case *c, uint8_t *pixels)
{
    static const size_t origin[3] = {0}, region[3] = {WIDTH, HEIGHT, 1};
    const struct share_case *share = c->data;
    if (share->way != WAY_IMAGE)
        return shared_texture_read(&share->sharing->shared, WIDTH, HEIGHT, 0, pixels);
    return compute_ok(clEnqueueReadImage(c->session->queue, share->sharing->image, CL_TRUE, origin, region, 0, 0,
                                         pixels, 0, NULL, NULL),
                      "read an image");
}

// Each run writes different pixels. The way 'empty' must not change the pixels.
static bool check(struct bench_case *c)
{
    const struct share_case *share = c->data;
    struct share_case writer = {share->sharing, WAY_FENCE};
    struct bench_case written = *c;
    written.data = &writer;
    uint8_t *pixels = xmalloc((size_t)WIDTH * HEIGHT * PIXEL);
    bool ok = (share->way != WAY_EMPTY || run_once(&written)) && run_once(c) && read_pixels(c, pixels);
    for (int i = 0; ok && i < WIDTH * HEIGHT; i++) {
        const uint8_t want[PIXEL] = {(uint8_t)(i % WIDTH), (uint8_t)(i / WIDTH), (uint8_t)share->sharing->number, 255};
        ok = memcmp(pixels + (size_t)i * PIXEL, want, PIXEL) == 0;
    }
    free(pixels);
    return ok;
}

// ---- the cases ----

// False on failure (logged).
static bool open_image(struct sharing *s, cl_context context)
{
    static const cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
    static const cl_image_desc shape = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = WIDTH, .image_height = HEIGHT};
    cl_int result;
    s->image = clCreateImage(context, CL_MEM_WRITE_ONLY, &format, &shape, NULL, &result);
    return compute_ok(result, "make an image");
}

static void open_case(struct bench_case *c)
{
    if (!bench_kernel(c, "", "share") || !bench_group_fits(c, GROUP_WIDTH * GROUP_HEIGHT))
        return;
    c->once = run_once;
    c->check = check;
}

static void run(struct bench_session *session)
{
    struct bench_case cases[WAYS] = {{0}};
    struct share_case shares[WAYS];
    struct sharing sharing = {.number = 0};
    const cl_context context = session->device->context;
    const bool shares_gl = session->window && session->device->shares_gl;
    const bool has_texture = shares_gl && compute_ok(shared_texture_open(&sharing.shared, context, WIDTH, HEIGHT),
                                                     "share a GL texture with OpenCL");
    const bool has_image = session->device->info.images && open_image(&sharing, context);
    for (int i = 0; i < WAYS; i++) {
        struct bench_case *c = &cases[i];
        shares[i] = (struct share_case){&sharing, (enum way)i};
        c->session = session;
        c->data = &shares[i];
        bench_name(c, "way=%s", ways[i]);
        const bool image = shares[i].way == WAY_IMAGE;
        if (image && !session->device->info.images)
            bench_skip(c, "the device has no images");
        else if (!image && !session->window)
            bench_skip(c, "cannot open a window: %.160s", session->window_why);
        else if (!image && !shares_gl)
            bench_skip(c, "%s", session->device->sharing_why);
        else if (image ? has_image : has_texture)
            open_case(c);
        else
            bench_fail(c, "%s", session->error);
    }
    bench_measure(session, cases, WAYS);
    compute_finish(session->queue);
    shared_texture_close(&sharing.shared);
    memory_release(sharing.image);
}

const struct bench_test bench_test_share = {
    .name = "share",
    .unit = "µs",
    .definition = "a kernel writes a GL texture of 1920x1080 pixels, by the host's clock; finish: glFinish, acquire, "
                  "kernel, release, clFinish; fence: a GL fence and the event of the release replace glFinish and "
                  "clFinish; empty: 'finish' without the kernel; image: the kernel writes an OpenCL image, without GL",
    .file = "bench/share.cl",
    .seconds = 1,
    .gl = true,
    .run = run,
};
