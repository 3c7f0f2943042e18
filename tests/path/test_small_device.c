// test_small_device.c: devices with little local memory, small work-groups or no images give the same bytes
//
// The test lowers the limits of any device. The generic kernel then replaces variants that exceed them.
#include "compute/cl.h"
#include "compute/device.h"
#include "path/path.h"
#include "pictures.h"

#include "unit.h"

// No device has images here.
static int images;

cl_mem __wrap_clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                            const cl_image_desc *size, void *host_ptr, cl_int *result);
cl_mem __wrap_clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                            const cl_image_desc *size, void *host_ptr, cl_int *result)
{
    images++;
    *result = CL_INVALID_OPERATION;
    return NULL;
}

static struct device *open_small(struct device_info info, size_t local_bytes, size_t work_group)
{
    info.images = false;
    info.local_bytes = local_bytes < info.local_bytes ? local_bytes : info.local_bytes;
    info.max_work_group = work_group < info.max_work_group ? work_group : info.max_work_group;
    return device_open(&info, NULL, NULL);
}

// Runs a picture through the chain and compares it with the reference.
static void run(struct device *device, enum path_kind kind, const char *text, const char *variant)
{
    const struct image_shape shape = {PIXFMT_NV21, 301, 43, {COLOR_MATRIX_709, COLOR_RANGE_FULL}, false};
    char error[CHAIN_ERROR];
    struct random random = {3};
    struct chain chain;
    struct test_frame frame;
    struct path_result result;
    frame_fill(&frame, &shape, LAYOUT_TIGHT, SHAPE_NOISE, &random);
    CHECK(chain_parse(&chain, text, error));
    const struct path_setup setup = {
        .kind = kind, .device = device, .input = shape, .chain = &chain, .depth = 1, .variant = variant};
    struct path *path = path_open(&setup, NULL);
    const bool made = path && path_submit(path, &frame.image, NULL) && path_collect(path, &result);
    CHECK(made);
    if (made) {
        struct picture expected = reference_frame(&frame.image);
        reference_chain(&expected, text);
        for (int y = 0; y < expected.height; y++)
            check_that(&unit,
                       memcmp(result.image.plane[0] + (size_t)y * result.image.stride[0],
                              picture_pixel(&expected, 0, y), 4 * (size_t)expected.width) == 0,
                       "%s: row %d is wrong", text, y);
        picture_free(&expected);
    }
    path_close(path);
    frame_free(&frame);
}

int main(void)
{
    enum { KIB = 1 << 10 };
    static const struct {
        size_t local_bytes, work_group;
    } cases[] = {{KIB, 4096}, {64 * KIB, 127}, {64 * KIB, 1}, {64 * KIB, 128}};
    struct device_info devices[DEVICE_MAX];
    const char *why_none = NULL;
    if (device_list(devices, &why_none) < 1) {
        fprintf(stderr, "test_small_device: skipped: %s\n", why_none);
        return CHECK_SKIP;
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct device *device = open_small(devices[0], cases[i].local_bytes, cases[i].work_group);
        run(device, PATH_OPENCL, "gray,blur=4", "window");
        run(device, PATH_OPENCL, "gray,blur=4", NULL);
        run(device, PATH_ZEROCOPY, "blur=5,median,gamma=2", NULL);
        device_close(device);
    }
    CHECK_NUMBER(images, 0);
    return check_end(&unit);
}
