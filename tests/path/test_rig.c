// test_rig.c: the picture that a pass of a plan reads: the last pass makes the output of the whole chain from it
#include "path/opencl_chain.h"
#include "path/rig.h"

#include "unit.h"

enum { WIDTH = 38, HEIGHT = 22 };

static void check_passes(const char *text, enum pixfmt format, bool tiles)
{
    const struct opencl_target target = {
        .input = {format, WIDTH, HEIGHT, {COLOR_MATRIX_709, COLOR_RANGE_LIMITED}},
    };
    const struct image_shape rgba = {.width = WIDTH, .height = HEIGHT};
    struct image frame, picture, got, want;
    struct chain chain;
    struct plan plan;
    char error[CHAIN_ERROR];
    struct path_result result;
    if (!CHECK(chain_parse(&chain, text, error)) || !CHECK(image_alloc(&frame, &target.input)) ||
        !CHECK(image_alloc(&got, &rgba)) || !CHECK(image_alloc(&want, &rgba)))
        abort();
    opencl_plan(&plan, &target, &chain, tiles);
    rig_pass_random(&frame, &plan, 0);
    const struct path_setup setup = {.kind = PATH_CPU, .input = target.input, .chain = &chain, .threads = 1};
    struct path *path = path_open(&setup, NULL);
    CHECK(path_submit(path, &frame, NULL) && path_collect(path, &result) && path_read(path, &result, &want));
    path_close(path);
    for (int number = 0; number < plan.count; number++) {
        const struct image_shape shape = rig_pass_shape(&target, &plan, number);
        if (!CHECK(image_alloc(&picture, &shape)))
            abort();
        CHECK(rig_pass_input(&picture, &plan, number, &frame));
        CHECK(rig_pass_expect(&plan.pass[number], &picture, &got));
        image_free(&picture);
    }
    check_that(&unit, memcmp(got.memory, want.memory, image_bytes(&rgba)) == 0, "%s of %s, tiles %d: wrong pixels",
               text, pixfmt_info(format)->name, tiles);
    image_free(&frame);
    image_free(&got);
    image_free(&want);
}

int main(void)
{
    static const char *const chains[] = {"invert", "blur=2,gray,emboss=n,invert", "gray,blur=2,emboss=n,sobel",
                                         "mirror,blur=3,flip,emboss=n,mirror", "sepia,median,blur,sharpen,blur=5"};
    static const enum pixfmt formats[] = {PIXFMT_RGBA, PIXFMT_NV21, PIXFMT_YUYV, PIXFMT_GREY};
    for (size_t c = 0; c < sizeof(chains) / sizeof(*chains); c++) {
        for (size_t f = 0; f < sizeof(formats) / sizeof(*formats); f++) {
            check_passes(chains[c], formats[f], true);
            check_passes(chains[c], formats[f], false);
        }
    }
    return check_end(&unit);
}
