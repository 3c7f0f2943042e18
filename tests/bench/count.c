// count.c: runs one case on the cpu path for some frames; tests/bench/count-instructions counts its instructions
//
//   count monocle|libyuv CHAIN INPUT OUTPUT WIDTH HEIGHT FRAMES    exit status 77: the library lacks this case
#include "base/log.h"
#include "check.h"
#include "image/convert.h"
#include "path/path.h"
#include "pictures.h"

#include <stdlib.h>
#include <string.h>
#ifdef HAVE_LIBYUV
#include <libyuv.h>
#endif

// A chain between two pixel formats; either the chain is `none` or the output is RGBA.
struct work {
    const char *chain;
    struct test_frame from, to;
    int frames;
};

#ifdef HAVE_LIBYUV
typedef int call(const struct image *from, struct image *to, void *scratch);

static int convert_nv21(const struct image *from, struct image *to, void *scratch)
{
    return NV21ToABGR(from->plane[0], (int)from->stride[0], from->plane[1], (int)from->stride[1], to->plane[0],
                      (int)to->stride[0], to->shape.width, to->shape.height);
}

static int convert_rgb24(const struct image *from, struct image *to, void *scratch)
{
    return RGB24ToARGB(from->plane[0], (int)from->stride[0], to->plane[0], (int)to->stride[0], to->shape.width,
                       to->shape.height);
}

static int convert_to_yu12(const struct image *from, struct image *to, void *scratch)
{
    return ABGRToI420(from->plane[0], (int)from->stride[0], to->plane[0], (int)to->stride[0], to->plane[1],
                      (int)to->stride[1], to->plane[2], (int)to->stride[2], to->shape.width, to->shape.height);
}

static int gray(const struct image *from, struct image *to, void *scratch)
{
    return ARGBGrayTo(from->plane[0], (int)from->stride[0], to->plane[0], (int)to->stride[0], to->shape.width,
                      to->shape.height);
}

static int mirror(const struct image *from, struct image *to, void *scratch)
{
    return ARGBMirror(from->plane[0], (int)from->stride[0], to->plane[0], (int)to->stride[0], to->shape.width,
                      to->shape.height);
}

static int sepia(const struct image *from, struct image *to, void *scratch)
{
    return ARGBSepia(to->plane[0], (int)to->stride[0], 0, 0, to->shape.width, to->shape.height);
}

static int blur(const struct image *from, struct image *to, void *scratch)
{
    return ARGBBlur(from->plane[0], (int)from->stride[0], to->plane[0], (int)to->stride[0], scratch,
                    4 * to->shape.width, to->shape.width, to->shape.height, 2);
}

static const struct {
    const char *chain;
    enum pixfmt from, to;
    call *call;
} calls[] = {
    {"none", PIXFMT_NV21, PIXFMT_RGBA, convert_nv21},    {"none", PIXFMT_RGB24, PIXFMT_RGBA, convert_rgb24},
    {"none", PIXFMT_RGBA, PIXFMT_YU12, convert_to_yu12}, {"gray", PIXFMT_RGBA, PIXFMT_RGBA, gray},
    {"mirror", PIXFMT_RGBA, PIXFMT_RGBA, mirror},        {"sepia", PIXFMT_RGBA, PIXFMT_RGBA, sepia},
    {"blur=2", PIXFMT_RGBA, PIXFMT_RGBA, blur},
};

static int run_libyuv(struct work *work)
{
    const struct image_shape *from = &work->from.image.shape;
    void *scratch = malloc((size_t)16 * (size_t)from->width * (size_t)(from->height + 1));
    int code = scratch ? CHECK_SKIP : 1;
    for (size_t i = 0; scratch && i < sizeof(calls) / sizeof(*calls); i++) {
        if (strcmp(calls[i].chain, work->chain) || calls[i].from != from->format ||
            calls[i].to != work->to.image.shape.format)
            continue;
        code = 0;
        for (int frame = 0; frame < work->frames; frame++)
            code |= calls[i].call(&work->from.image, &work->to.image, scratch);
    }
    free(scratch);
    return code;
}
#else
static int run_libyuv(struct work *work)
{
    return CHECK_SKIP;
}
#endif

static int run_path(struct work *work)
{
    struct chain chain;
    char error[CHAIN_ERROR];
    if (!chain_parse(&chain, work->chain, error)) {
        log_error("%s", error);
        return 1;
    }
    const struct path_setup setup = {
        .kind = PATH_CPU, .input = work->from.image.shape, .chain = &chain, .threads = 1, .cache_bytes = 64 << 20};
    struct path *path = path_open(&setup, NULL);
    bool ok = path != NULL;
    for (int i = 0; ok && i < work->frames; i++) {
        struct path_result result;
        ok = path_submit(path, &work->from.image, NULL) && path_collect(path, &result);
    }
    path_close(path);
    return !ok;
}

static int run_monocle(struct work *work)
{
    if (work->to.image.shape.format == PIXFMT_RGBA)
        return run_path(work);
    for (int i = 0; i < work->frames; i++)
        encode_image(&work->to.image, &work->from.image);
    return 0;
}

// Fills a tight image with noise.
static bool make(struct test_frame *frame, const char *format, char *const *size)
{
    struct random random = {1};
    const struct color limited = {COLOR_MATRIX_601, COLOR_RANGE_LIMITED};
    struct image_shape shape = {.width = atoi(size[0]), .height = atoi(size[1]), .color = limited};
    const char *why;
    if (!pixfmt_from_name(format, &shape.format) || !pixfmt_size_ok(shape.format, shape.width, shape.height, &why)) {
        log_error("count: no picture can be %s, %s x %s", format, size[0], size[1]);
        return false;
    }
    frame_fill(frame, &shape, LAYOUT_TIGHT, SHAPE_NOISE, &random);
    return true;
}

int main(int argc, char **argv)
{
    static const char *const libraries[] = {"monocle", "libyuv", NULL};
    if (argc != 8) {
        log_error("usage: count monocle|libyuv CHAIN INPUT OUTPUT WIDTH HEIGHT FRAMES");
        return 2;
    }
    struct work work = {.chain = argv[2], .frames = atoi(argv[7])};
    if (!make(&work.from, argv[3], argv + 5) || !make(&work.to, argv[4], argv + 5))
        return 2;
    const int code = check_name(argv[1], libraries) ? run_libyuv(&work) : run_monocle(&work);
    frame_free(&work.from);
    frame_free(&work.to);
    return code;
}
