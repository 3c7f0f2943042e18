// test_rig.c: the picture that a pass of a plan reads: the last pass makes the output of the whole chain from it
#include "path/opencl_chain.h"
#include "path/rig.h"

#include "unit.h"

enum { WIDTH = 38, HEIGHT = 22 };

// Copies a pass's result to the picture that the next one reads, which may be grey.
static void copy_result(const struct image *picture, const struct image *rgba)
{
    const size_t each = picture->shape.format == PIXFMT_RGBA ? 4 : 1;
    for (int y = 0; y < picture->shape.height; y++)
        for (int x = 0; x < picture->shape.width; x++)
            memcpy(image_row(picture, 0, y) + each * (size_t)x, image_row(rgba, 0, y) + 4 * (size_t)x, each);
}

// Runs the passes one by one. `want_text`: the chain whose pixels the last one must have.
static void check_passes(const char *text, const char *want_text, enum pixfmt format, bool tiles)
{
    const struct opencl_target target = {
        .input = {format, WIDTH, HEIGHT, {COLOR_MATRIX_709, COLOR_RANGE_LIMITED}, false},
    };
    struct image_shape rgba = {.width = WIDTH, .height = HEIGHT};
    struct image frame, picture, got, want;
    struct chain chain, wanted;
    struct plan plan;
    char error[CHAIN_ERROR];
    if (!CHECK(chain_parse(&chain, text, error)) || !CHECK(chain_parse(&wanted, want_text, error)) ||
        !CHECK(chain_output_size(&chain, &rgba.width, &rgba.height, error)) ||
        !CHECK(image_alloc(&frame, &target.input)) || !CHECK(image_alloc(&want, &rgba)))
        abort();
    opencl_plan(&plan, &target, &chain, tiles);
    rig_pass_random(&frame, &plan, 0);
    const struct path_setup setup = {.kind = PATH_CPU, .input = target.input, .chain = &wanted, .threads = 1};
    CHECK(path_filter(&setup, &frame, &want, NULL));
    for (int number = 0; number < plan.count; number++) {
        const struct pass *pass = &plan.pass[number];
        struct opencl_target of_pass = target; // has the size of the pass's input
        if (number > 0) {
            of_pass.input.width = pass[-1].width;
            of_pass.input.height = pass[-1].height;
        }
        const struct image_shape shape = rig_pass_shape(&of_pass, &plan, number),
                                 made = {.width = pass->width, .height = pass->height};
        if (!CHECK(image_alloc(&picture, &shape)))
            abort();
        if (number > 0) {
            copy_result(&picture, &got);
            image_free(&got);
        } else {
            image_copy(&picture, &frame);
        }
        CHECK(image_alloc(&got, &made) && rig_pass_expect(pass, &picture, &got));
        image_free(&picture);
    }
    CHECK(got.shape.width == rgba.width && got.shape.height == rgba.height);
    check_that(&unit, memcmp(got.memory, want.memory, image_bytes(&rgba)) == 0, "%s of %s, tiles %d: wrong pixels",
               text, pixfmt_info(format)->name, tiles);
    plan_free(&plan);
    image_free(&frame);
    image_free(&got);
    image_free(&want);
}

// A mask that is black on the left and white on the right.
static void write_mask(const char *name)
{
    static const char head[18] = {[2] = 3, [12] = 2, [14] = 1, [16] = 8};
    FILE *file = fopen(name, "w");
    CHECK(file && fwrite(head, sizeof(head), 1, file) == 1 && fputc(0, file) == 0 && fputc(255, file) == 255);
    CHECK(file && fclose(file) == 0);
}

// The random pixels of a pass that reads equal channels are grey.
static void check_random(void)
{
    const struct opencl_target target = {.input = {PIXFMT_RGBA, WIDTH, HEIGHT, {0}, false}};
    struct image picture;
    struct chain chain;
    struct plan plan;
    char error[CHAIN_ERROR];
    int grey = 0;
    CHECK(chain_parse(&chain, "gray,scale=20:10,blur=2", error));
    opencl_plan(&plan, &target, &chain, false);
    for (int number = 1; number < plan.count; number++) {
        const struct image_shape shape = {.width = WIDTH, .height = HEIGHT};
        bool equal = true, varied = false;
        CHECK(image_alloc(&picture, &shape));
        rig_pass_random(&picture, &plan, number);
        for (size_t i = 0; i < image_bytes(&shape); i += 4) {
            const uint8_t *p = (const uint8_t *)picture.memory + i;
            equal = equal && p[0] == p[1] && p[1] == p[2];
            varied = varied || p[0] != p[3];
        }
        CHECK(varied && equal == plan.pass[number].equal_channels);
        grey += plan.pass[number].equal_channels;
        image_free(&picture);
    }
    CHECK(grey > 0);
    plan_free(&plan);
}

int main(void)
{
    static const char *const chains[] = {"invert",
                                         "blur=2,gray,emboss=n,invert",
                                         "gray,blur=2,emboss=n,sobel",
                                         "mirror,blur=3,flip,emboss=n,mirror",
                                         "sepia,median,blur,sharpen,blur=5",
                                         "blur,scale=17:9,invert",
                                         "crop=20:10:3:2,vignette,blur=2",
                                         "pixelate=3,pad=44:30,sobel"};
    static const enum pixfmt formats[] = {PIXFMT_RGBA, PIXFMT_NV21, PIXFMT_YUYV, PIXFMT_GREY};
    for (size_t c = 0; c < sizeof(chains) / sizeof(*chains); c++) {
        for (size_t f = 0; f < sizeof(formats) / sizeof(*formats); f++) {
            check_passes(chains[c], chains[c], formats[f], true);
            check_passes(chains[c], chains[c], formats[f], false);
        }
    }
    write_mask("mask.tga");
    check_passes("blur=2,within=mask.tga", "blur=2", PIXFMT_NV21, false); // a pass alone has no kept picture
    CHECK(unlink("mask.tga") == 0);
    check_random();
    return check_end(&unit);
}
