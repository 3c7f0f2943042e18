// bench_memory.c: large random memory on the device, which the cases of a memory test share
#include "measure/bench_memory.h"

#include "base/alloc.h"
#include "base/random.h"

#include <stdlib.h>

// Returns a power of two.
static size_t choose_bytes(const struct bench_session *session)
{
    const bool is_cpu = session->device->info.type & CL_DEVICE_TYPE_CPU;
    const size_t room = session->device->info.memory_bytes / 16;
    cl_ulong most = 0;
    clGetDeviceInfo(session->device->info.id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(most), &most, NULL);
    const size_t limit = most < room ? (size_t)most : room;
    size_t bytes = (size_t)(is_cpu ? 64 : 1024) << 20;
    while (bytes > limit && bytes > MEMORY_PIECE)
        bytes /= 2;
    return bytes;
}

bool memory_open(struct memory *memory, struct bench_session *session)
{
    *memory = (struct memory){.bytes = choose_bytes(session), .random = xmalloc(2 * (size_t)MEMORY_PIECE)};
    cl_int result;
    memory->from = clCreateBuffer(session->device->context, CL_MEM_READ_WRITE, memory->bytes, NULL, &result);
    if (result == CL_SUCCESS)
        memory->to = clCreateBuffer(session->device->context, CL_MEM_READ_WRITE, memory->bytes, NULL, &result);
    if (result == CL_SUCCESS)
        random_fill(memory->random, 2 * (size_t)MEMORY_PIECE, 1);
    for (size_t at = 0; result == CL_SUCCESS && at < memory->bytes; at += MEMORY_PIECE)
        result = clEnqueueWriteBuffer(session->queue, memory->from, CL_TRUE, at, MEMORY_PIECE,
                                      memory_random(memory, at), 0, NULL, NULL);
    if (compute_ok(result, "fill memory on the device") && memory_clear(memory, session))
        return true;
    memory_close(memory);
    return false;
}

void memory_close(struct memory *memory)
{
    memory_release(memory->from);
    memory_release(memory->to);
    free(memory->random);
    *memory = (struct memory){0};
}

const uint8_t *memory_random(const struct memory *memory, size_t at)
{
    enum { STEP = 4099 }; // odd, so that 2^20 pieces begin at different bytes
    return memory->random + at / MEMORY_PIECE * STEP % MEMORY_PIECE + at % MEMORY_PIECE;
}

bool memory_clear(const struct memory *memory, struct bench_session *session)
{
    const cl_uint zero = 0;
    cl_int result =
        clEnqueueFillBuffer(session->queue, memory->to, &zero, sizeof(zero), 0, memory->bytes, 0, NULL, NULL);
    if (result == CL_SUCCESS)
        result = compute_finish(session->queue);
    return compute_ok(result, "clear memory on the device");
}

bool memory_read(const struct memory *memory, struct bench_session *session, size_t at, void *got, size_t bytes)
{
    return compute_ok(clEnqueueReadBuffer(session->queue, memory->to, CL_TRUE, at, bytes, got, 0, NULL, NULL),
                      "read a result");
}
