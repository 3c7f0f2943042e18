// test_copy.c: every copy method copies all bytes; the fastest one is chosen, and its time is right
//
// The times are faked; the device makes the copies.
#include "bench/pool.h"

#include "unit.h"

enum { BYTES = 100000, SOURCES = 3, TARGETS = 2, WAYS = 4, PLACE = 131072 };

// Bytes that each method copies in whole work-groups. The largest is the size of a buffer.
static const struct {
    const char *name;
    size_t group, bytes;
} ways[WAYS] = {
    {"driver", 1, 100000}, {"kernel", 256, 102400}, {"kernel by 4", 256, 114688}, {"kernel, long", 4096, PLACE}};

static struct {
    cl_mem memory;
    size_t bytes;
    int fastest, latest, used[WAYS]; // ways
} seen;

cl_mem __real_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr, cl_int *result);
cl_mem __wrap_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr, cl_int *result);
cl_int __real_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_at, size_t to_at,
                                  size_t size, cl_uint waits, const cl_event *wait, cl_event *event);
cl_int __wrap_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_at, size_t to_at,
                                  size_t size, cl_uint waits, const cl_event *wait, cl_event *event);
cl_int __real_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                     const size_t *size, const size_t *local, cl_uint waits, const cl_event *wait,
                                     cl_event *event);
cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                     const size_t *size, const size_t *local, cl_uint waits, const cl_event *wait,
                                     cl_event *event);
cl_int __wrap_clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t room, void *value, size_t *size);

static void use(int way)
{
    seen.latest = way;
    seen.used[way]++;
}

cl_mem __wrap_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr, cl_int *result)
{
    seen.bytes = size;
    return seen.memory = __real_clCreateBuffer(context, flags, size, host_ptr, result);
}

cl_int __wrap_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_at, size_t to_at,
                                  size_t size, cl_uint waits, const cl_event *wait, cl_event *event)
{
    use(0);
    return __real_clEnqueueCopyBuffer(queue, from, to, from_at, to_at, size, waits, wait, event);
}

cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                     const size_t *size, const size_t *local, cl_uint waits, const cl_event *wait,
                                     cl_event *event)
{
    use(*local == ways[3].group ? 3 : *size * 16 < BYTES ? 2 : 1);
    return __real_clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, size, local, waits, wait, event);
}

// The fastest way takes 1 ms, others 2.
cl_int __wrap_clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t room, void *value, size_t *size)
{
    *(cl_ulong *)value = 1000000;
    if (what == CL_PROFILING_COMMAND_END)
        *(cl_ulong *)value += seen.latest == seen.fastest ? 1000000 : 2000000;
    return CL_SUCCESS;
}

static bool same_bytes(struct device *device, size_t from, size_t to)
{
    cl_int result;
    cl_command_queue queue = clCreateCommandQueue(device->context, device->info.id, 0, &result);
    uint8_t *one = calloc(2, BYTES), *other = one + BYTES;
    CHECK(one && clEnqueueReadBuffer(queue, seen.memory, CL_TRUE, from, BYTES, one, 0, NULL, NULL) == CL_SUCCESS &&
          clEnqueueReadBuffer(queue, seen.memory, CL_TRUE, to, BYTES, other, 0, NULL, NULL) == CL_SUCCESS);
    const bool same = memcmp(one, other, BYTES) == 0;
    clReleaseCommandQueue(queue);
    free(one);
    return same;
}

static void test_way(struct device *device, int way)
{
    struct timing timing;
    memset(&seen, 0, sizeof(seen));
    seen.fastest = way;
    struct device_copy *copy = device_copy_open(device, BYTES, SOURCES);
    if (!CHECK(copy != NULL))
        return;
    CHECK_NUMBER(seen.bytes, PLACE * (SOURCES + TARGETS));
    // From every source to every target.
    CHECK(device_copy_run(copy, SOURCES * TARGETS, &timing) && seen.latest == way);
    CHECK_NUMBER(timing.device_ms, 1.0 * BYTES / (double)ways[way].bytes);
    bool copied = false;
    for (int i = 0; i < SOURCES; i++)
        copied = copied || same_bytes(device, PLACE * (size_t)i, PLACE * SOURCES);
    check_that(&unit, copied && !same_bytes(device, 0, PLACE), "%s: other bytes", ways[way].name);
    device_copy_close(copy);
}

int main(void)
{
    struct device_info devices[DEVICE_MAX];
    const char *why;
    if (device_list(devices, &why) == 0 || devices[0].max_work_group < ways[3].group) {
        fprintf(stderr, "skipped: %s\n", why[0] ? why : "the device has no work-groups of 4096");
        return CHECK_SKIP;
    }
    struct device *device = device_open(&devices[0], NULL, NULL);
    if (CHECK(device != NULL)) {
        for (int way = 0; way < WAYS; way++)
            test_way(device, way);
        device->info.max_work_group = ways[3].group - 1;
        test_way(device, 1);
        CHECK_NUMBER(seen.used[3], 0); // its work-groups are too large
    }
    device_close(device);
    return check_end(&unit);
}
