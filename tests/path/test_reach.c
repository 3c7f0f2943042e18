// test_reach.c: frames are read in place only if they are aligned and have memory beyond the last pixel
#include "compute/device.h"
#include "path/opencl_chain.h"
#include "path/path.h"
#include "pictures.h"

#include "unit.h"

#include <sys/mman.h>

enum { SIDE = 64, BYTES = 4 * SIDE * SIDE, GUARD_BYTES = 1 << 16 };

// An image that ends with its memory: the next byte cannot be read.
static uint8_t *map_picture(void)
{
    uint8_t *memory = mmap(NULL, BYTES + GUARD_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + BYTES, GUARD_BYTES, PROT_NONE) != 0)
        abort();
    for (int i = 0; i < BYTES; i++)
        memory[i] = (uint8_t)(i * 7 / 5);
    return memory;
}

static void run(struct device *device, const char *variant, const struct image *frame, const char *way)
{
    static const char text[] = "blur=1,invert";
    char error[CHAIN_ERROR], *why = NULL;
    struct chain chain;
    struct path_result result;
    CHECK(chain_parse(&chain, text, error));
    const struct path_setup setup = {
        .kind = PATH_OPENCL, .device = device, .input = frame->shape, .chain = &chain, .depth = 1, .variant = variant};
    struct path *path = path_open(&setup, &why);
    if (CHECK(path && path_submit(path, frame, NULL) && path_collect(path, &result))) {
        struct picture expected = reference_frame(frame);
        reference_chain(&expected, text);
        CHECK_TEXT(path_info(path)->input, way);
        for (int y = 0; y < SIDE; y++)
            check_that(&unit,
                       memcmp(result.image.plane[0] + (size_t)y * result.image.stride[0],
                              picture_pixel(&expected, 0, y), 4 * SIDE) == 0,
                       "%s: row %d is wrong", way, y);
        picture_free(&expected);
    }
    path_close(path);
    free(why);
}

// Kernels read a layout in place if planes and rows are aligned, in order and within reach, with 32-bit offsets.
static void test_layout(uint8_t *memory)
{
    enum { STRIDE = 64, ROWS = 20, LAST = STRIDE * ROWS, WHOLE = LAST + STRIDE * (ROWS / 2 - 1) + 60 };
    const size_t large = (size_t)INT32_MAX + 1;
    const struct {
        size_t at, second, stride, stride_2, reach, bytes; // second: the other plane, from the first
    } rows[] = {
        {0, LAST, STRIDE, STRIDE, WHOLE, WHOLE},
        {0, LAST, STRIDE, STRIDE, 2 * WHOLE, WHOLE},
        {0, LAST, STRIDE, STRIDE, WHOLE - 1, 0},
        {0, LAST, STRIDE, STRIDE, 0, 0},
        {16, LAST, STRIDE, STRIDE, WHOLE, 0},
        {0, LAST + 8, STRIDE, STRIDE, 2 * WHOLE, 0},
        {0, LAST, STRIDE + 8, STRIDE, 2 * WHOLE, 0},
        {0, LAST, STRIDE, STRIDE + 8, 2 * WHOLE, 0},
        {4096, -(size_t)1024, STRIDE, STRIDE, 2 * WHOLE, 0},
        {0, large, STRIDE, STRIDE, 2 * large, 0},
        {0, LAST, STRIDE, large, 32 * large, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint8_t *first = memory + rows[i].at;
        const struct image frame = {.shape = {PIXFMT_NV12, 60, ROWS, {0}, false},
                                    .plane = {first, first + rows[i].second},
                                    .stride = {rows[i].stride, rows[i].stride_2},
                                    .reach_bytes = rows[i].reach};
        struct opencl_layout layout;
        const size_t bytes = opencl_layout_in_place(&layout, &frame);
        check_that(&unit, bytes == rows[i].bytes, "layout %zu: %zu bytes, not %zu", i, bytes, rows[i].bytes);
    }
}

int main(void)
{
    struct device_info devices[DEVICE_MAX];
    const char *why = NULL;
    int tried = 0;
    const int count = device_list(devices, &why);
    uint8_t *memory = map_picture();
    test_layout(memory);
    struct image frame = {.shape = {PIXFMT_RGBA, SIDE, SIDE, {0}, false}, .plane = {memory}, .stride = {4 * SIDE}};
    for (int i = 0; i < count; i++) {
        struct device *device = devices[i].host_unified ? device_open(&devices[i], NULL, NULL) : NULL;
        if (!device)
            continue;
        tried++;
        frame.reach_bytes = BYTES;
        run(device, "window", &frame, "copy");
        run(device, "inside", &frame, "host-ptr"); // its loads end with the picture
        CHECK(mprotect(memory + BYTES, GUARD_BYTES, PROT_READ) == 0);
        frame.reach_bytes = BYTES + IMAGE_SPARE_BYTES - 1;
        run(device, "window", &frame, "copy");
        frame.reach_bytes = BYTES + IMAGE_SPARE_BYTES;
        run(device, "window", &frame, "host-ptr");
        device->info.host_unified = false;
        run(device, "window", &frame, "copy");
        device->info.host_unified = true;
        frame.plane[0] = memory + 4; // kernels want rows aligned
        run(device, "inside", &frame, "copy");
        frame.plane[0] = memory;
        CHECK(mprotect(memory + BYTES, GUARD_BYTES, PROT_NONE) == 0);
        device_close(device);
    }
    munmap(memory, BYTES + GUARD_BYTES);
    if (!tried) {
        fprintf(stderr, "skipped: no OpenCL device shares the host's memory: %s\n", why);
        return CHECK_SKIP;
    }
    return check_end(&unit);
}
