// test_dmabuf.c: frames that a device copies from dma-bufs: of files in memory, and of cameras
//
// importing.c replaces the OpenCL extension, and driver.c the camera, which fills only its own memory.
#include "driver.h"
#include "importing.h"
#include "pictures.h"
#include "unit.h"

#include "base/clock.h"
#include "base/log.h"
#include "path/path.h"
#include "source/source.h"

#include <dirent.h>
#include <errno.h>
#include <linux/videodev2.h>
#include <pthread.h>
#include <sys/mman.h>

enum { PATIENCE_MS = 20000, FRAMES = 8 };

// The device's path, and the one to compare with.
struct lab {
    struct device *device;
    struct path *path, *plain;
};

static int count_files(void)
{
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (directory && readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static void lab_close(struct lab *lab)
{
    path_close(lab->path);
    path_close(lab->plain);
    device_close(lab->device);
}

static bool lab_open(struct lab *lab, const struct image_shape *shape)
{
    struct device_info devices[DEVICE_MAX];
    const char *why;
    char error[CHAIN_ERROR];
    struct chain chain;
    *lab = (struct lab){0};
    if (device_list(devices, &why) == 0 || !chain_parse(&chain, "blur=1,invert", error))
        return false;
    lab->device = device_open(&devices[0], NULL, NULL);
    struct path_setup setup = {.kind = PATH_OPENCL, .device = lab->device, .input = *shape, .chain = &chain};
    lab->path = lab->device ? path_open(&setup, NULL) : NULL;
    setup.kind = PATH_CPU;
    lab->plain = path_open(&setup, NULL);
    return lab->path && lab->plain;
}

static bool collect_same(struct lab *lab, const struct image *frame)
{
    struct path_result got, want;
    return path_collect(lab->path, &got) && path_submit(lab->plain, frame, NULL) && path_collect(lab->plain, &want) &&
           same_images(&got.image, &want.image);
}

// Returns true if the frame arrives this way and the result is correct.
static bool comes(struct lab *lab, const struct image *frame, const char *way)
{
    return CHECK(path_submit(lab->path, frame, NULL)) && CHECK(collect_same(lab, frame)) &&
           (CHECK_TEXT(path_info(lab->path)->input, way), true);
}

// A picture in a file; `at` NULL: anywhere.
static int map_picture(const struct image_shape *shape, void *at, struct image *frame)
{
    enum { STRIDE = 128, ROWS = 64 }; // the largest shape; a multiple of 16, which kernels need
    const size_t bytes = STRIDE * ROWS;
    const int fd = memfd_create("picture", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, bytes) != 0)
        abort();
    uint8_t *memory = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);
    if (memory == MAP_FAILED)
        abort();
    *frame = (struct image){.shape = *shape, .reach_bytes = bytes};
    for (int i = 0; i < pixfmt_info(shape->format)->planes; i++) {
        frame->plane[i] = memory + (i > 0 ? STRIDE * shape->height : 0);
        frame->stride[i] = STRIDE;
    }
    return fd;
}

static void paint(struct image *frame, int seed)
{
    for (size_t i = 0; i < frame->reach_bytes; i++)
        frame->plane[0][i] = (uint8_t)(i * 7 / 5 + (size_t)seed * 29);
}

static atomic_bool handed_back;

static void *hand_back(void *context)
{
    usleep(50000);
    handed_back = true;
    clSetUserEventStatus(importing.gate, CL_COMPLETE);
    return NULL;
}

// A frame is in use until its memory has been handed back.
static void wait_for_driver(struct lab *lab, const struct image *frame)
{
    cl_int result;
    pthread_t thread;
    handed_back = false;
    importing.gate = clCreateUserEvent(lab->device->context, &result);
    CHECK(path_submit(lab->path, frame, NULL));
    usleep(20000);
    CHECK(!path_ready(lab->path));
    CHECK(pthread_create(&thread, NULL, hand_back, NULL) == 0);
    CHECK(collect_same(lab, frame));
    CHECK(handed_back);
    pthread_join(thread, NULL);
    clReleaseEvent(importing.gate);
    importing.gate = NULL;
}

static void test_memory(const struct image_shape *shape)
{
    struct lab lab;
    struct image frame;
    if (!CHECK(lab_open(&lab, shape)))
        return;
    struct pages_owner *owner = lab.device->pages;
    CHECK((owner->take == NULL) == importing.unified);
    int fd = map_picture(shape, NULL, &frame);
    paint(&frame, 0);
    comes(&lab, &frame, "copy");
    for (int turn = 0; turn < 3; turn++) { // each with another file at the same address
        CHECK(owner->import(owner, frame.plane[0], frame.reach_bytes, fd));
        CHECK_NUMBER(importing.held, 0);
        for (int i = 0; i < FRAMES; i++) {
            paint(&frame, i);
            comes(&lab, &frame, "dma-buf");
        }
        if (importing.way == DMABUF_KHR)
            wait_for_driver(&lab, &frame);
        // Its memory is given back while the device reads it.
        CHECK(path_submit(lab.path, &frame, NULL));
        owner->give(owner, frame.plane[0]);
        CHECK(collect_same(&lab, &frame));
        paint(&frame, FRAMES);
        comes(&lab, &frame, "copy");
        fd = map_picture(shape, frame.plane[0], &frame);
        paint(&frame, 99);
        comes(&lab, &frame, "copy");
    }
    close(fd);
    munmap(frame.plane[0], frame.reach_bytes);
    lab_close(&lab);
    CHECK_NUMBER(importing.alive, 0);
    CHECK_NUMBER(importing.held, 0);
}

// Bytes outside a piece, or in two pieces, are not imported.
static void test_pieces(const struct image_shape *shape)
{
    enum { BYTES = 2 * PAGE_BYTES };
    struct lab lab;
    struct image frame;
    if (!CHECK(lab_open(&lab, shape)))
        return;
    struct pages_owner *owner = lab.device->pages;
    const int fd = map_picture(shape, NULL, &frame);
    uint8_t *taken = owner->take(owner, BYTES), *imported = frame.plane[0];
    CHECK(taken && owner->import(owner, imported, BYTES, fd));
    cl_mem buffer;
    CHECK(lender_find(owner, taken, BYTES, &buffer) && !buffer && lender_find(owner, taken + 1, BYTES - 1, &buffer));
    CHECK(!lender_find(owner, taken - 1, 1, &buffer) && !lender_find(owner, taken - 1, BYTES, &buffer));
    CHECK(!lender_find(owner, taken, BYTES + 1, &buffer) && !lender_find(owner, taken + 1, BYTES, &buffer));
    CHECK(!lender_find(owner, taken + BYTES, 1, &buffer) && !lender_find(owner, taken + BYTES + 1, 1, &buffer));
    CHECK(lender_find(owner, imported, BYTES, &buffer) && buffer && clReleaseMemObject(buffer) == CL_SUCCESS);
    CHECK(!lender_find(owner, imported + PAGE_BYTES, PAGE_BYTES, &buffer)); // a buffer begins where its piece does
    CHECK(!lender_find(owner, imported, BYTES + 1, &buffer) && !buffer);
    owner->give(owner, taken);
    owner->give(owner, imported);
    CHECK(!lender_find(owner, taken, BYTES, &buffer) && !lender_find(owner, imported, BYTES, &buffer));
    munmap(frame.plane[0], frame.reach_bytes);
    lab_close(&lab);
}

// A driver with half of the calls imports nothing.
static void test_half(const struct image_shape *shape)
{
    struct lab lab;
    importing.half = true;
    if (CHECK(lab_open(&lab, shape)))
        CHECK(lab.device->pages ? !lab.device->pages->import : importing.unified);
    lab_close(&lab);
    importing.half = false;
}

// A failed import is reported once and not tried again.
static void test_refusal(const struct image_shape *shape, const char *because)
{
    struct lab lab;
    struct image frame;
    struct captured said;
    const int asked = importing.asked;
    if (!CHECK(lab_open(&lab, shape)))
        return;
    struct pages_owner *owner = lab.device->pages;
    const int files = count_files(), fd = map_picture(shape, NULL, &frame);
    capture_stderr(&said);
    CHECK(!owner->import(owner, frame.plane[0], frame.reach_bytes, dup(fd)));
    CHECK_HAS(captured_stderr(&said), because);
    CHECK_HAS(said.text, "copies the frames");
    CHECK(!owner->import(owner, frame.plane[0], frame.reach_bytes, fd));
    CHECK_NUMBER(importing.asked, asked + 1);
    paint(&frame, 1);
    comes(&lab, &frame, "copy");
    CHECK_NUMBER(count_files(), files);
    munmap(frame.plane[0], frame.reach_bytes);
    lab_close(&lab);
    CHECK_NUMBER(importing.alive, 0);
}

// A device of each extension, discrete or with the host's memory, and one of an older Mali driver.
static void run_memory(void)
{
    const struct image_shape shapes[] = {{.format = PIXFMT_YUYV, .width = 64, .height = 40},
                                         {.format = PIXFMT_NV12, .width = 101, .height = 33}};
    const struct importing kinds[] = {
        {.way = DMABUF_KHR},
        {.way = DMABUF_KHR, .unified = true},
        {.way = DMABUF_ARM, .unified = true},
        {.way = DMABUF_ARM, .unified = true, .old = true},
        {.way = DMABUF_QCOM, .unified = true},
    };
    const int turns = (int)(sizeof(kinds) / sizeof(*kinds)) * 2;
    int files = 0;
    for (int turn = 0; turn < turns; turn++) {
        struct image_shape shape = shapes[turn % 2];
        shape.color = color_resolve((struct color){0}, (struct color){0}, false, shape.width, shape.height);
        importing = kinds[turn / 2];
        test_memory(&shape);
        importing.refuses = true;
        test_refusal(&shape, "CL_INVALID_PROPERTY");
        importing.refuses = false;
        importing.blind = true;
        test_refusal(&shape, "it reads wrong bytes");
        importing.blind = false;
        importing.partial = true;
        test_refusal(&shape, "it reads wrong bytes");
        importing.partial = false;
        test_half(&shape);
        if (!importing.unified)
            test_pieces(&shape);
        if (turn == 0) // drivers keep some
            files = count_files();
    }
    CHECK_NUMBER(count_files(), files);
}

// Takes frames until this number arrived that way. Every frame has the right bytes.
static void take(struct lab *lab, struct source *source, const char *way)
{
    static uint8_t bytes[DRIVER_WIDTH * DRIVER_HEIGHT * 2], seed;
    const int64_t deadline_ns = clock_now_ns() + (int64_t)PATIENCE_MS * 1000000;
    struct frame frame;
    int count = 0;
    while (count < FRAMES && clock_now_ns() < deadline_ns) {
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (uint8_t)(i * 7 / 5 + seed);
        seed += 29;
        driver_send(&(struct driver_frame){.data = bytes, .used = {sizeof(bytes)}});
        enum source_status status = SOURCE_TIMEOUT;
        while (status == SOURCE_TIMEOUT && clock_now_ns() < deadline_ns)
            status = source_next(source, &frame, 500);
        if (!CHECK(status == SOURCE_FRAME))
            return;
        CHECK(frame.image.plane[0][5] == bytes[5]);
        CHECK(path_submit(lab->path, &frame.image, NULL) && collect_same(lab, &frame.image));
        count += strcmp(path_info(lab->path)->input, way) == 0;
        source_return(source, &frame);
    }
    CHECK_NUMBER(count, FRAMES);
}

static void plug(bool there)
{
    driver.there = there;
    driver.ask_error = there ? 0 : ENODEV;
    driver_wake();
}

// The camera is removed while a frame is lent, and returns.
static void replug(struct lab *lab, struct source *source)
{
    static const uint8_t bytes[DRIVER_WIDTH * DRIVER_HEIGHT * 2] = {1, 2, 3};
    struct frame held, frame;
    driver_send(&(struct driver_frame){.data = bytes, .used = {sizeof(bytes)}});
    if (!CHECK(source_next(source, &held, PATIENCE_MS) == SOURCE_FRAME))
        return;
    comes(lab, &held.image, importing.refuses ? "copy" : "dma-buf");
    plug(false);
    for (int n = 0; n < 100 && source_health(source).trouble[0] == '\0'; n++)
        if (source_next(source, &frame, 100) == SOURCE_FRAME)
            source_return(source, &frame);
    CHECK_NUMBER(importing.alive, 0);
    comes(lab, &held.image, "copy");
    plug(true);
    source_return(source, &held);
}

static void run_camera(bool refuses, const char *way)
{
    enum { REPLUGS = 3, BUFFERS = SOURCE_LENT + 2 };
    struct lab lab;
    driver_start(V4L2_PIX_FMT_YUYV, 1);
    driver.own_memory = true;
    struct source *source = source_open(&(struct source_setup){.text = "camera"});
    importing = (struct importing){.way = DMABUF_KHR, .refuses = refuses};
    if (!CHECK(source && lab_open(&lab, &source_info(source)->shape)))
        return;
    CHECK(!source_health(source).userptr);
    source_place(source, lab.device->pages);
    int files = 0;
    for (int i = 0; i <= REPLUGS; i++) {
        take(&lab, source, way);
        printf("%s: %d imports, %d alive, %d files\n", way, (int)importing.asked, (int)importing.alive, count_files());
        files = i == 0 ? count_files() : files;
        CHECK_NUMBER(importing.asked, refuses ? 1 : (i + 1) * BUFFERS);
        CHECK_NUMBER(importing.alive, refuses ? 0 : BUFFERS);
        CHECK_NUMBER(count_files(), files);
        if (i < REPLUGS)
            replug(&lab, source);
    }
    source_place(source, NULL); // as at a change of the path
    take(&lab, source, "copy");
    CHECK_NUMBER(importing.alive, 0);
    source_close(source);
    lab_close(&lab);
    driver_finish();
}

int main(void)
{
    struct device_info devices[DEVICE_MAX];
    const char *why;
    if (device_list(devices, &why) == 0) {
        fprintf(stderr, "skipped: %s\n", why);
        return CHECK_SKIP;
    }
    log_set_level(LOG_INFO);
    run_memory();
    run_camera(false, "dma-buf");
    run_camera(true, "copy");
    return check_end(&unit);
}
