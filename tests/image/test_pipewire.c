// test_pipewire.c: the layout of PipeWire's buffers: padding, planes, and numbers of a hostile producer
#include "image/pipewire.h"
#include "unit.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <spa/buffer/buffer.h>

enum { WIDTH = 6, HEIGHT = 4, ROW = 8, LENGTH = 4096 };

static uint8_t memory[LENGTH];

static const char *lay_out(enum pixfmt format, const struct pipewire_data *data, int count, struct image *image)
{
    const struct image_shape shape = {.format = format, .width = WIDTH, .height = HEIGHT};
    return pipewire_lay_out(data, count, &shape, image);
}

static void good(void)
{
    struct image image;
    const struct pipewire_data tight = {memory, LENGTH, 0, WIDTH * HEIGHT * 3 / 2, 0};
    CHECK(!lay_out(PIXFMT_NV12, &tight, 1, &image));
    CHECK(image.plane[0] == memory && image.plane[1] == memory + WIDTH * HEIGHT);
    CHECK(image.stride[0] == WIDTH && image.stride[1] == WIDTH && image.reach_bytes == LENGTH);
    const struct pipewire_data padded = {memory, LENGTH, 100, ROW * HEIGHT * 3 / 2, ROW};
    CHECK(!lay_out(PIXFMT_YU12, &padded, 1, &image));
    CHECK(image.plane[0] == memory + 100 && image.plane[1] == memory + 100 + ROW * HEIGHT);
    CHECK(image.plane[2] == image.plane[1] + ROW / 2 * HEIGHT / 2 && image.stride[2] == ROW / 2);
    const struct pipewire_data apart[] = {{memory, 64, 8, ROW * HEIGHT, ROW}, {memory + 500, 64, 0, 16 * 2, 16}};
    CHECK(!lay_out(PIXFMT_NV12, apart, 2, &image));
    CHECK(image.plane[0] == memory + 8 && image.plane[1] == memory + 500 && image.stride[1] == 16);
    CHECK(image.reach_bytes == 0);
    const struct pipewire_data short_last = {memory, ROW * 3 + WIDTH, 0, ROW * 3 + WIDTH, ROW};
    CHECK(!lay_out(PIXFMT_GREY, &short_last, 1, &image)); // the last row has no padding
}

static void hostile(void)
{
    struct image image;
    const uint32_t needs = WIDTH * HEIGHT * 3 / 2;
    const struct pipewire_data wrong[] = {{memory, LENGTH, 0, needs - 1, 0},
                                          {memory, LENGTH, LENGTH, needs, 0},
                                          {memory, LENGTH, UINT32_MAX, needs, 0},
                                          {memory, LENGTH, LENGTH - needs + 1, needs, 0},
                                          {memory, LENGTH, 0, UINT32_MAX, 0},
                                          {memory, LENGTH, 16, UINT32_MAX - 8, 0},
                                          {memory, LENGTH, 0, needs, INT32_MAX},
                                          {memory, LENGTH, 0, LENGTH, INT32_MIN},
                                          {memory, LENGTH, 0, LENGTH, -WIDTH},
                                          {memory, LENGTH, 0, LENGTH, WIDTH - 1},
                                          {memory, LENGTH, 0, needs + 1, WIDTH + 1},
                                          {memory, 0, 0, 0, 0},
                                          {NULL, LENGTH, 0, needs, 0},
                                          {memory, LENGTH, 0, LENGTH, LENGTH / 3},
                                          {memory, LENGTH, 0, ROW * HEIGHT + ROW, ROW}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        check_that(&unit, lay_out(PIXFMT_NV12, &wrong[i], 1, &image) != NULL, "buffer %zu is accepted", i);
    const struct pipewire_data two[] = {{memory, LENGTH, 0, WIDTH * HEIGHT, 0}, {memory, LENGTH, 0, WIDTH, 0}};
    CHECK_HAS(lay_out(PIXFMT_NV12, two, 2, &image), "shorter than a frame");
    CHECK_HAS(lay_out(PIXFMT_YU12, two, 2, &image), "number of planes");
    CHECK_HAS(lay_out(PIXFMT_NV12, two, 0, &image), "number of planes");
}

// A file with the numbers of its bytes, modulo 251, stands for PipeWire's memory and for a DMA buffer.
static void maps(void)
{
    enum { FILE_BYTES = 3 * LENGTH + 100, SKIP = LENGTH + 60 };
    static uint8_t content[FILE_BYTES];
    const int file = memfd_create("buffer", MFD_CLOEXEC), folder = open("/", O_RDONLY | O_CLOEXEC);
    struct pipewire_map map;
    for (int i = 0; i < FILE_BYTES; i++)
        content[i] = (uint8_t)(i % 251);
    CHECK(write(file, content, FILE_BYTES) == FILE_BYTES);
    for (uint32_t type = SPA_DATA_MemFd; type <= SPA_DATA_DmaBuf; type++) {
        const struct spa_data from = {.type = type, .fd = file, .mapoffset = SKIP, .maxsize = FILE_BYTES - SKIP};
        CHECK(pipewire_map(&from, &map) && map.length == FILE_BYTES - SKIP && map.pages);
        CHECK(memcmp(map.at, content + SKIP, map.length) == 0);
        const int copy = map.dma;
        CHECK((copy >= 0) == (type == SPA_DATA_DmaBuf));
        pipewire_unmap(&map);
        CHECK(!map.at && map.dma == -1 && fcntl(copy, F_GETFD) < 0);
    }
    const struct spa_data lent = {.type = SPA_DATA_MemPtr, .fd = -1, .data = memory, .maxsize = 9};
    CHECK(pipewire_map(&lent, &map) && map.at == memory && map.length == 9 && !map.pages && map.dma == -1);
    uint8_t *shared = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, file, 0);
    const struct spa_data kept = {
        .type = SPA_DATA_MemPtr, .fd = -1, .data = shared + SKIP, .maxsize = FILE_BYTES - SKIP};
    void *twice = mremap(shared, 0, FILE_BYTES, MREMAP_MAYMOVE); // fails in qemu-user
    CHECK(pipewire_map(&kept, &map) && (map.pages != NULL) == (twice != MAP_FAILED));
    if (map.pages)
        munmap(shared, FILE_BYTES);
    CHECK(map.length == FILE_BYTES - SKIP && memcmp(map.at, content + SKIP, map.length) == 0);
    pipewire_unmap(&map);
    const struct spa_data wrong[] = {
        {.type = SPA_DATA_MemFd, .fd = file, .mapoffset = SKIP, .maxsize = FILE_BYTES - SKIP + 1},
        {.type = SPA_DATA_DmaBuf, .fd = file, .mapoffset = UINT32_MAX, .maxsize = UINT32_MAX},
        {.type = SPA_DATA_DmaBuf, .fd = file, .mapoffset = FILE_BYTES, .maxsize = 1},
        {.type = SPA_DATA_MemFd, .fd = file, .maxsize = 0},
        {.type = SPA_DATA_MemFd, .fd = file, .mapoffset = 1, .maxsize = UINT32_MAX},
        {.type = SPA_DATA_MemFd, .fd = -1, .maxsize = 1},
        {.type = SPA_DATA_DmaBuf, .fd = 1000, .maxsize = 1},
        {.type = SPA_DATA_MemFd, .fd = (int64_t)INT32_MAX + 1 + file, .maxsize = 1},
        {.type = SPA_DATA_MemFd, .fd = INT64_MIN, .maxsize = 1},
        {.type = SPA_DATA_MemFd, .fd = folder, .maxsize = 1},
        {.type = SPA_DATA_MemPtr, .fd = file, .maxsize = 1},
        {.type = SPA_DATA_Invalid, .fd = file, .maxsize = 1},
        {.type = 77, .fd = file, .maxsize = 1}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        check_that(&unit, !pipewire_map(&wrong[i], &map) && !map.at && !map.pages, "memory %zu is mapped", i);
        pipewire_unmap(&map);
    }
    close(file);
    close(folder);
}

// RGBx and BGRx become opaque RGBA, whatever their fourth byte is.
static void copies(void)
{
    static const struct pipewire_format orders[] = {{7, PIXFMT_RGBA, {0, 1, 2}}, {8, PIXFMT_RGBA, {2, 1, 0}}};
    for (int i = 0; i < 2; i++) {
        struct pipewire_format format;
        uint8_t pixels[8] = {1, 2, 3, 0, 250, 251, 252, 77}, made[8] = {0};
        const struct image_shape shape = {.format = PIXFMT_RGBA, .width = 2, .height = 1};
        struct image from, to;
        image_wrap(&from, &shape, pixels);
        image_wrap(&to, &shape, made);
        CHECK(pipewire_format_of(orders[i].spa, &format) && memcmp(format.place, orders[i].place, 3) == 0);
        pipewire_copy(&format, &to, &from);
        const uint8_t rgb[] = {1, 2, 3, 255, 250, 251, 252, 255}, bgr[] = {3, 2, 1, 255, 252, 251, 250, 255};
        CHECK(memcmp(made, i == 0 ? rgb : bgr, sizeof(made)) == 0);
    }
    struct pipewire_format format;
    CHECK(pipewire_format_of(0, &format) && strcmp(pipewire_format_name(&format), "mjpeg") == 0);
    CHECK(!pipewire_format_of(11, &format)); // RGBA
}

int main(void)
{
    good();
    hostile();
    maps();
    copies();
    return check_end(&unit);
}
