// test_images.c: kernels that write OpenCL images, as they write GL textures, give the bytes of docs/pixels.md
//
//   test_images [VARIANT]   runs every case with this kernel variant
//
// The zerocopy path runs these kernels only on devices that share textures with GL. This test runs them on any device
// with images.
#include "check.h"
#include "compute/device.h"
#include "path/rig.h"
#include "pictures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof(*(array))))

static const char *const chains[] = {
    "none",          "mirror,sepia",           "emboss,flip",         "blur=4", "blur=9,invert",
    "median,mirror", "convolve=gaussian,gray", "scale=301:60,blur=4",
};
static const int sizes[][2] = {{5, 3}, {259, 21}};

struct images_test {
    struct check check;
    struct device *device;
    struct random random;
    const char *variant; // for every case; NULL: each case names its own
};

static void compare(struct images_test *test, const char *place, const struct image *got, const struct image *frame,
                    const char *chain)
{
    struct picture expected = reference_frame(frame);
    reference_chain(&expected, chain);
    long wrong = 0, first = 0;
    for (int y = expected.height - 1; y >= 0; y--)
        for (int x = expected.width - 1; x >= 0; x--)
            if (memcmp(got->plane[0] + (size_t)y * got->stride[0] + 4 * (size_t)x, picture_pixel(&expected, x, y), 4)) {
                first = (long)y * expected.width + x;
                wrong++;
            }
    check_that(&test->check, wrong == 0, "%s: %ld pixels are wrong, the first is (%ld, %ld)", place, wrong,
               first % expected.width, first / expected.width);
    picture_free(&expected);
}

static void run(struct images_test *test, const struct image_shape *shape, const char *text, const char *variant)
{
    variant = test->variant ? test->variant : variant;
    char place[200], error[CHAIN_ERROR], *why = NULL;
    snprintf(place, sizeof(place), "%s %dx%d \"%s\" %s", reference_format_name(shape->format), shape->width,
             shape->height, text, variant);
    struct chain chain;
    struct test_frame frame;
    struct image got;
    struct image_shape rgba = {.width = shape->width, .height = shape->height};
    const bool ok = chain_parse(&chain, text, error) && chain_output_size(&chain, &rgba.width, &rgba.height, error);
    frame_fill(&frame, shape, LAYOUT_TIGHT, SHAPE_NOISE, &test->random);
    image_alloc(&got, &rgba);
    const struct path_setup setup = {.device = test->device, .input = *shape};
    struct timing timing;
    struct rig *rig = rig_open(&setup, 1, true);
    struct opencl_chain *open = NULL;
    if (check_that(&test->check, ok, "%s: %s", place, error) &&
        check_that(&test->check, rig != NULL, "%s: no images on the device", place) &&
        check_that(&test->check, (open = rig_chain_open(rig, &chain, variant, &why)) != NULL, "%s: %s", place, why) &&
        check_that(&test->check,
                   rig_fill(rig, 0, &frame.image) && rig_chain_run(rig, open, 0, 1, &timing) && rig_read(rig, &got),
                   "%s: it does not run", place))
        compare(test, place, &got, &frame.image, text);
    rig_chain_close(open);
    rig_close(rig);
    image_free(&got);
    frame_free(&frame);
    free(why);
}

// NULL with the reason printed.
static struct device *any_device(void)
{
    struct device_info devices[DEVICE_MAX];
    const char *why = NULL;
    const int count = device_list(devices, &why);
    if (count < 1 || !devices[0].images) {
        fprintf(stderr, "test_images: skipped: %s\n", count < 1 ? why : "the device has no images");
        return NULL;
    }
    return device_open(&devices[0], NULL, NULL);
}

int main(int argc, char **argv)
{
    struct images_test test = {.check.name = "test_images", .device = any_device(), .random.state = 1};
    test.variant = argc > 1 ? argv[1] : NULL;
    if (!test.device)
        return CHECK_SKIP;
    const struct color color = {COLOR_MATRIX_709, COLOR_RANGE_FULL};
    for (enum pixfmt format = 0; format < PIXFMT_COUNT; format++)
        run(&test, &(struct image_shape){format, 134, 22, color, false}, "none", "window");
    run(&test, &(struct image_shape){PIXFMT_NV21, 134, 22, color, false}, "blur=2,gray,emboss", "window");
    run(&test, &(struct image_shape){PIXFMT_NV21, 134, 22, color, false}, "blur=2,gray", "inside");
    run(&test, &(struct image_shape){PIXFMT_NV21, 134, 22, color, false}, "blur=2,gray", "generic");
    for (int i = 0; i < COUNT(chains); i++)
        for (int k = 0; k < COUNT(sizes); k++)
            run(&test, &(struct image_shape){i % 2 ? PIXFMT_GREY : PIXFMT_RGBA, sizes[k][0], sizes[k][1], color, false},
                chains[i], strcmp(chains[i], "blur=9,invert") == 0 ? "sums" : "window");
    device_close(test.device);
    return check_end(&test.check);
}
