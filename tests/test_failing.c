// test_failing.c: commands that a device refuses or does not finish: the frame fails, and only a lost device ends the
// path
#include "compute/device.h"
#include "path/path.h"
#include "pictures.h"

#include "unit.h"

#include <stdatomic.h>

// What the next call of either returns instead of being made; CL_SUCCESS: it is made.
static cl_int launch_result, wait_result;
static atomic_int buffers; // that are alive

cl_mem __real_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr, cl_int *result);
cl_mem __wrap_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr, cl_int *result);
cl_int __real_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                     const size_t *size, const size_t *local, cl_uint waits, const cl_event *wait,
                                     cl_event *event);
cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                     const size_t *size, const size_t *local, cl_uint waits, const cl_event *wait,
                                     cl_event *event);
cl_int __real_clWaitForEvents(cl_uint count, const cl_event *events);
cl_int __wrap_clWaitForEvents(cl_uint count, const cl_event *events);

cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                     const size_t *size, const size_t *local, cl_uint waits, const cl_event *wait,
                                     cl_event *event)
{
    const cl_int result = launch_result;
    launch_result = CL_SUCCESS;
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

static void forget(cl_mem buffer, void *context)
{
    buffers--;
}

cl_mem __wrap_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr, cl_int *result)
{
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

static bool lab_open(struct lab *lab, const struct device_info *info)
{
    const struct image_shape shape = {PIXFMT_NV12, 101, 33, {COLOR_MATRIX_709, COLOR_RANGE_FULL}};
    struct random random = {5};
    struct chain chain;
    char error[CHAIN_ERROR];
    lab->device = device_open(info, NULL, NULL);
    for (int i = 0; i < 2; i++)
        frame_fill(&lab->frame[i], &shape, i == 0 ? LAYOUT_REACH : LAYOUT_TIGHT, SHAPE_NOISE, &random);
    const struct path_setup setup = {
        .kind = PATH_OPENCL, .device = lab->device, .input = shape, .encode = shape, .chain = &chain, .depth = 2};
    lab->path = CHECK(lab->device && chain_parse(&chain, chain_text, error)) ? path_open(&setup, NULL) : NULL;
    return CHECK(lab->path != NULL);
}

static void lab_close(struct lab *lab)
{
    path_close(lab->path);
    device_close(lab->device);
    for (int i = 0; i < 2; i++)
        frame_free(&lab->frame[i]);
    CHECK_NUMBER(buffers, 0);
}

static bool submit(struct lab *lab, int frame)
{
    bool lost = false;
    return path_submit(lab->path, &lab->frame[frame].image, (uint64_t)frame, &lost) && !lost;
}

// Whether the oldest frame in flight is this one, and right.
static bool collect(struct lab *lab, int frame)
{
    struct path_result result;
    bool lost = false;
    if (!path_collect(lab->path, &result, &lost) || lost || result.tag != (uint64_t)frame)
        return false;
    struct picture expected = reference_frame(&lab->frame[frame].image);
    bool same = reference_chain(&expected, chain_text);
    for (int y = 0; same && y < expected.height; y++)
        same = memcmp(result.image.plane[0] + (size_t)y * result.image.stride[0], picture_pixel(&expected, 0, y),
                      4 * (size_t)expected.width) == 0;
    picture_free(&expected);
    return same;
}

static void test_launch(const struct device_info *info, cl_int result, bool is_lost)
{
    struct lab lab;
    struct captured said;
    bool lost = false;
    if (lab_open(&lab, info)) {
        CHECK(submit(&lab, 0));
        capture_stderr(&said);
        launch_result = result;
        const bool submitted = path_submit(lab.path, &lab.frame[1].image, 1, &lost);
        CHECK_HAS(captured_stderr(&said), "cannot run a frame on the device");
        check_that(&unit, !submitted && lost == is_lost && path_in_flight(lab.path) == 1,
                   "a launch that gives %d: submitted %d, lost %d, %d in flight", result, submitted, lost,
                   path_in_flight(lab.path));
        CHECK(collect(&lab, 0));
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
    bool lost = false;
    if (lab_open(&lab, info)) {
        CHECK(submit(&lab, 0) && submit(&lab, 1));
        capture_stderr(&said);
        wait_result = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        const bool collected = path_collect(lab.path, &result, &lost);
        CHECK_HAS(captured_stderr(&said), "cannot finish a frame on the device");
        CHECK(!collected && lost && path_in_flight(lab.path) == 1);
        CHECK(collect(&lab, 1));
    }
    lab_close(&lab);
}

// What a caller does wrong is refused, and the frames in flight stay.
static void test_misuse(const struct device_info *info)
{
    struct lab lab;
    struct captured said;
    struct path_result result;
    bool lost = true;
    if (lab_open(&lab, info)) {
        struct image other = lab.frame[0].image;
        other.shape.color.range = COLOR_RANGE_LIMITED;
        capture_stderr(&said);
        const bool none = path_collect(lab.path, &result, &lost);
        const bool another = path_submit(lab.path, &other, 0, &lost);
        const bool two = submit(&lab, 0) && submit(&lab, 1);
        const bool three = submit(&lab, 0);
        captured_stderr(&said);
        CHECK(!none && !lost && !another && two && !three && path_in_flight(lab.path) == 2);
        CHECK(collect(&lab, 0) && collect(&lab, 1));
        CHECK(submit(&lab, 1)); // in flight when the path is closed
    }
    lab_close(&lab);
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
    }
    return check_end(&unit);
}
