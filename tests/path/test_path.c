// test_path.c: the contract of path.h besides the pixels: failures are reported, misuse is refused, results stay valid
// while they are lent, and all memory is freed
#include "base/file.h"
#include "compute/cl.h"
#include "compute/device.h"
#include "path/path.h"
#include "pictures.h"

#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>

// Results of the next launch and of the next wait. Unless CL_SUCCESS, the driver is not called.
static cl_int launch_result, wait_result;
static cl_event gate;            // launches also wait for this event; NULL: none
static atomic_int buffers, maps; // that are alive
static atomic_int conversions;   // launches of the kernel of encode.cl
static bool no_host_memory;      // the device reads no frame in place
static int host_memory_asked;

cl_mem __real_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr, cl_int *result);
cl_mem __wrap_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr, cl_int *result);
cl_int __real_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                     const size_t *size, const size_t *local, cl_uint waits, const cl_event *wait,
                                     cl_event *event);
cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                     const size_t *size, const size_t *local, cl_uint waits, const cl_event *wait,
                                     cl_event *event);
cl_int __real_clWaitForEvents(cl_uint count, const cl_event *events);
void *__real_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                size_t offset, size_t size, cl_uint waits, const cl_event *wait, cl_event *event,
                                cl_int *result);
void *__wrap_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                size_t offset, size_t size, cl_uint waits, const cl_event *wait, cl_event *event,
                                cl_int *result);
cl_int __real_clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void *at, cl_uint waits,
                                      const cl_event *wait, cl_event *event);
cl_int __wrap_clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void *at, cl_uint waits,
                                      const cl_event *wait, cl_event *event);
cl_int __wrap_clWaitForEvents(cl_uint count, const cl_event *events);

cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                     const size_t *size, const size_t *local, cl_uint waits, const cl_event *wait,
                                     cl_event *event)
{
    const cl_int result = launch_result;
    launch_result = CL_SUCCESS;
    char name[80] = "";
    clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name), name, NULL);
    conversions += strcmp(name, "encode") == 0;
    cl_event both[2] = {gate};
    if (gate && waits <= 1) {
        if (waits == 1)
            both[1] = *wait;
        wait = both;
        waits++;
    }
    return result != CL_SUCCESS
               ? result
               : __real_clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, size, local, waits, wait, event);
}

cl_int __wrap_clWaitForEvents(cl_uint count, const cl_event *events)
{
    const cl_int result = wait_result, waited = __real_clWaitForEvents(count, events);
    wait_result = CL_SUCCESS;
    return result != CL_SUCCESS ? result : waited;
}

void *__wrap_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                size_t offset, size_t size, cl_uint waits, const cl_event *wait, cl_event *event,
                                cl_int *result)
{
    maps++;
    return __real_clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, size, waits, wait, event, result);
}

cl_int __wrap_clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void *at, cl_uint waits,
                                      const cl_event *wait, cl_event *event)
{
    maps--;
    return __real_clEnqueueUnmapMemObject(queue, memory, at, waits, wait, event);
}

static void forget(cl_mem buffer, void *context)
{
    buffers--;
}

cl_mem __wrap_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr, cl_int *result)
{
    host_memory_asked += (flags & CL_MEM_USE_HOST_PTR) != 0;
    if (no_host_memory && (flags & CL_MEM_USE_HOST_PTR)) {
        *result = CL_INVALID_HOST_PTR;
        return NULL;
    }
    cl_mem buffer = __real_clCreateBuffer(context, flags, size, host_ptr, result);
    if (buffer && clSetMemObjectDestructorCallback(buffer, forget, NULL) == CL_SUCCESS)
        buffers++;
    return buffer;
}

static const char chain_text[] = "blur=1,invert";

// Two frames of a shape, and a path for it with two in flight.
struct lab {
    struct device *device;
    struct path *path;
    struct test_frame frame[2];
};

static bool lab_open(struct lab *lab, const struct device_info *info, enum path_kind kind, int depth)
{
    const struct image_shape shape = {PIXFMT_NV12, 101, 33, {COLOR_MATRIX_709, COLOR_RANGE_FULL}, false};
    struct random random = {5};
    struct chain chain;
    char error[CHAIN_ERROR];
    lab->device = device_open(info, NULL, NULL);
    for (int i = 0; i < 2; i++)
        frame_fill(&lab->frame[i], &shape, i == 0 ? LAYOUT_REACH : LAYOUT_TIGHT, SHAPE_NOISE, &random);
    const struct path_setup setup = {
        .kind = kind, .device = lab->device, .input = shape, .encode = shape, .chain = &chain, .depth = depth};
    lab->path = CHECK(lab->device && chain_parse(&chain, chain_text, error)) ? path_open(&setup, NULL) : NULL;
    return CHECK(lab->path != NULL);
}

// Drivers may release a command's buffers on their own thread, after the command's end is visible.
static void check_all_freed(void)
{
    for (int ms = 0; ms < 10000 && buffers > 0; ms++)
        usleep(1000);
    CHECK_NUMBER(buffers, 0);
    CHECK_NUMBER(maps, 0);
}

static void lab_close(struct lab *lab)
{
    path_close(lab->path);
    device_close(lab->device);
    for (int i = 0; i < 2; i++)
        frame_free(&lab->frame[i]);
    check_all_freed();
}

static bool submit(struct lab *lab, int frame)
{
    return path_submit(lab->path, &lab->frame[frame].image, &(struct frame_time){.number = (uint64_t)frame});
}

static bool is_right(const struct lab *lab, const struct path_result *result, int frame, const char *text)
{
    struct picture expected = reference_frame(&lab->frame[frame].image);
    bool same = result->number == (uint64_t)frame && reference_chain(&expected, text);
    for (int y = 0; same && y < expected.height; y++)
        same = memcmp(result->image.plane[0] + (size_t)y * result->image.stride[0], picture_pixel(&expected, 0, y),
                      4 * (size_t)expected.width) == 0;
    picture_free(&expected);
    return same;
}

// Returns true if the oldest frame in flight is this one, with the right bytes.
static bool collect(struct lab *lab, int frame)
{
    struct path_result result;
    return path_collect(lab->path, &result) && is_right(lab, &result, frame, chain_text);
}

static void test_launch(const struct device_info *info, cl_int result, bool is_lost)
{
    struct lab lab;
    struct captured said;
    if (lab_open(&lab, info, PATH_OPENCL, 2)) {
        CHECK(submit(&lab, 1));
        capture_stderr(&said);
        launch_result = result;
        const bool submitted = path_submit(lab.path, &lab.frame[0].image, NULL), lost = path_info(lab.path)->lost;
        CHECK_HAS(captured_stderr(&said), "cannot run a frame on the device");
        check_that(&unit, !submitted && lost == is_lost && path_info(lab.path)->in_flight == 1,
                   "a launch that gives %d: submitted %d, lost %d, %d in flight", result, submitted, lost,
                   path_info(lab.path)->in_flight);
        CHECK(collect(&lab, 1));
        for (int i = 0; i < 3 && !is_lost; i++)
            CHECK(submit(&lab, 1) && submit(&lab, 0) && collect(&lab, 1) && collect(&lab, 0));
    }
    lab_close(&lab);
}

static void test_wait(const struct device_info *info)
{
    struct lab lab;
    struct captured said;
    struct path_result result;
    if (lab_open(&lab, info, PATH_OPENCL, 2)) {
        CHECK(submit(&lab, 0) && submit(&lab, 1));
        capture_stderr(&said);
        wait_result = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        const bool collected = path_collect(lab.path, &result);
        CHECK_HAS(captured_stderr(&said), "cannot finish a frame on the device");
        CHECK(!collected && path_info(lab.path)->lost && path_info(lab.path)->in_flight == 1);
        CHECK(collect(&lab, 1));
    }
    lab_close(&lab);
}

// Wrong calls are refused and leave the frames in flight.
static void test_misuse(const struct device_info *info)
{
    struct lab lab;
    struct captured said;
    struct path_result result;
    if (lab_open(&lab, info, PATH_OPENCL, 2)) {
        struct image other = lab.frame[0].image;
        other.shape.color.range = COLOR_RANGE_LIMITED;
        capture_stderr(&said);
        const bool none = path_collect(lab.path, &result);
        const bool another = path_submit(lab.path, &other, NULL);
        const bool two = submit(&lab, 0) && submit(&lab, 1);
        const bool three = submit(&lab, 0);
        captured_stderr(&said);
        CHECK(!none && !path_info(lab.path)->lost && !another && two && !three && path_info(lab.path)->in_flight == 2);
        CHECK(collect(&lab, 0) && collect(&lab, 1));
        CHECK(submit(&lab, 1)); // in flight when the path is closed
    }
    lab_close(&lab);
}

// A result stays valid until the next collect, also while frames are submitted.
static void test_lent(const struct device_info *info, enum path_kind kind)
{
    const char *mode = kind == PATH_CPU ? "cpu" : kind == PATH_ZEROCOPY && info->host_unified ? "mapped" : "opencl";
    struct lab lab;
    struct path_result result;
    for (int depth = 1; depth <= 2; depth++) {
        if (lab_open(&lab, info, kind, depth)) {
            CHECK_TEXT(path_info(lab.path)->sharing, mode);
            CHECK(submit(&lab, 0));
            for (int i = 0; i < 6; i++) {
                CHECK(path_collect(lab.path, &result));
                CHECK(submit(&lab, 1) && (depth == 1 || submit(&lab, 1)));
                while (!path_ready(lab.path))
                    usleep(1000);
                CHECK(is_right(&lab, &result, 0, chain_text));
                CHECK(collect(&lab, 1) && (depth == 1 || collect(&lab, 1)));
                CHECK(submit(&lab, 0));
            }
        }
        lab_close(&lab);
    }
}

static atomic_bool opened;

static void *open_gate(void *context)
{
    usleep(50000);
    opened = true;
    clSetUserEventStatus(gate, CL_COMPLETE);
    return NULL;
}

// A frame is ready when the device is done with it, and is collected no earlier.
static void test_ready(const struct device_info *info, enum path_kind kind)
{
    struct lab lab;
    pthread_t thread;
    cl_int result;
    if (lab_open(&lab, info, kind, 1)) {
        CHECK(path_ready(lab.path));
        gate = clCreateUserEvent(lab.device->context, &result);
        opened = false;
        CHECK(submit(&lab, 0) && !path_ready(lab.path));
        CHECK(pthread_create(&thread, NULL, open_gate, NULL) == 0);
        CHECK(collect(&lab, 0) && opened && path_ready(lab.path));
        pthread_join(thread, NULL);
        clReleaseEvent(gate);
        gate = NULL;
    }
    lab_close(&lab);
}

// A device that refuses the first frame's memory is not asked again.
static void test_no_host_memory(const struct device_info *info)
{
    struct lab lab;
    no_host_memory = true;
    host_memory_asked = 0;
    if (lab_open(&lab, info, PATH_OPENCL, 1)) {
        for (int i = 0; i < 3; i++)
            CHECK(submit(&lab, 0) && collect(&lab, 0));
        CHECK_TEXT(path_info(lab.path)->input, "copy");
        CHECK_NUMBER(host_memory_asked, info->host_unified);
    }
    lab_close(&lab);
    no_host_memory = false;
}

// The caller gets the compiler's message about the encoder's kernel.
static void test_encoder(const struct device_info *info)
{
    const struct image_shape shape = {PIXFMT_NV12, 34, 18, {COLOR_MATRIX_601, COLOR_RANGE_FULL}, false};
    char directory[64], file[80], error[CHAIN_ERROR], *why = NULL;
    struct chain chain;
    unit_directory(directory);
    snprintf(file, sizeof(file), "%s/encode.cl", directory);
    CHECK(chain_parse(&chain, "none", error) && file_write_atomic(file, "broken", 6));
    struct device *device = device_open(info, NULL, directory);
    const struct path_setup setup = {
        .kind = PATH_OPENCL, .device = device, .input = shape, .encode = shape, .chain = &chain};
    CHECK(device && !path_open(&setup, &why));
    CHECK_HAS(why, "broken");
    free(why);
    device_close(device);
    unlink(file);
    rmdir(directory);
    check_all_freed();
}

// path_swap takes the chain prepared last; without one, the old chain stays. Another thread may prepare a chain while
// frames run, so path_prepare must not use the kernel of the conversion, which frames use.
static void test_swap(const struct device_info *info)
{
    static const char *const texts[] = {"sepia", "mirror"};
    struct lab lab;
    struct chain chain;
    struct path_result result;
    char error[CHAIN_ERROR];
    if (lab_open(&lab, info, PATH_OPENCL, 1)) {
        path_swap(lab.path);
        CHECK(submit(&lab, 0) && collect(&lab, 0));
        const int before = conversions;
        for (int i = 0; i < 2; i++)
            CHECK(chain_parse(&chain, texts[i], error) && path_prepare(lab.path, &chain, NULL));
        CHECK(before > 0);
        CHECK_NUMBER(conversions, before);
        path_swap(lab.path);
        CHECK(submit(&lab, 0) && path_collect(lab.path, &result) && is_right(&lab, &result, 0, texts[1]));
        CHECK(path_prepare(lab.path, &chain, NULL)); // pending when the path is closed
        for (int i = 0; i < 2; i++) {                // a column less, a row less
            char *why = NULL;
            CHECK(chain_parse(&chain, i == 0 ? "crop=100:33:0:0" : "crop=101:32:0:0", error));
            CHECK(!path_prepare(lab.path, &chain, &why));
            CHECK_HAS(why, "changes the size");
            free(why);
        }
    }
    lab_close(&lab);
}

// A path is not opened for results that it cannot make.
static void test_setups(struct device *device)
{
    const struct color color = {COLOR_MATRIX_601, COLOR_RANGE_FULL};
    const struct {
        struct image_shape input, encode;
        bool device, ok;
    } rows[] = {
        {{PIXFMT_NV12, 34, 18, color, false}, {PIXFMT_NV12, 34, 18, color, false}, true, true},
        {{PIXFMT_NV12, 34, 18, color, false}, {PIXFMT_NV12, 33, 17, color, false}, true, true},
        {{PIXFMT_NV12, 34, 18, color, false}, {PIXFMT_NV12, 35, 18, color, false}, true, false},
        {{PIXFMT_NV12, 34, 18, color, false}, {PIXFMT_NV12, 34, 19, color, false}, true, false},
        {{PIXFMT_NV12, 34, 18, color, false}, {PIXFMT_RGBA, 34, 18, color, false}, true, false},
        {{PIXFMT_NV12, 34, 18, color, false}, {PIXFMT_YUYV, 33, 18, color, false}, true, false},
        {{PIXFMT_NV12, 34, 18, color, false}, {PIXFMT_NV12, 34, 18, {0, COLOR_RANGE_FULL}, false}, true, false},
        {{PIXFMT_NV12, 34, 18, color, false}, {PIXFMT_NV12, 34, 18, {COLOR_MATRIX_601, 0}, false}, true, false},
        {{PIXFMT_YUYV, 33, 18, color, false}, {PIXFMT_NV12, 33, 18, color, false}, true, false},
        {{PIXFMT_NV12, 34, 18, color, false}, {PIXFMT_NV12, 34, 18, color, false}, false, false},
    };
    struct chain chain;
    char error[CHAIN_ERROR];
    CHECK(chain_parse(&chain, "none", error));
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct path_setup setup = {.kind = PATH_OPENCL,
                                         .device = rows[i].device ? device : NULL,
                                         .input = rows[i].input,
                                         .encode = rows[i].encode,
                                         .chain = &chain};
        char *why = NULL;
        struct path *path = path_open(&setup, &why);
        check_that(&unit, (path != NULL) == rows[i].ok && (why == NULL) == rows[i].ok, "setup %zu: %s", i,
                   why ? why : "it opens");
        path_close(path);
        free(why);
    }
    for (int depth = -1; depth <= PATH_DEPTH_MAX + 1; depth++) {
        const struct path_setup setup = {
            .kind = PATH_OPENCL, .device = device, .input = rows[0].input, .chain = &chain, .depth = depth};
        struct path *path = path_open(&setup, NULL);
        if (CHECK(path != NULL))
            CHECK_NUMBER(path_info(path)->depth, depth < 1 ? 1 : depth > PATH_DEPTH_MAX ? PATH_DEPTH_MAX : depth);
        path_close(path);
    }
}

int main(void)
{
    struct device_info devices[DEVICE_MAX];
    const char *why;
    if (device_list(devices, &why) == 0) {
        fprintf(stderr, "skipped: %s\n", why);
        return CHECK_SKIP;
    }
    for (int unified = 0; unified < 2; unified++) {
        devices[0].host_unified = unified;
        test_launch(&devices[0], CL_OUT_OF_RESOURCES, true);
        test_launch(&devices[0], CL_INVALID_COMMAND_QUEUE, true);
        test_launch(&devices[0], -9999, true);
        test_launch(&devices[0], CL_MEM_OBJECT_ALLOCATION_FAILURE, false);
        test_launch(&devices[0], -12345, false);
        test_wait(&devices[0]);
        test_misuse(&devices[0]);
        test_swap(&devices[0]);
        test_no_host_memory(&devices[0]);
        for (enum path_kind kind = 0; kind < PATH_KINDS; kind++) {
            if (!path_kind_info(kind)->needs_gl) // it reads no frame in place
                test_lent(&devices[0], kind);
        }
        test_ready(&devices[0], PATH_OPENCL);
        test_ready(&devices[0], PATH_ZEROCOPY);
    }
    test_encoder(&devices[0]);
    struct device *device = device_open(&devices[0], NULL, NULL);
    if (CHECK(device != NULL))
        test_setups(device);
    device_close(device);
    return check_end(&unit);
}
