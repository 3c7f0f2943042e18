// memory.c: host memory that a device copies without the host: pinned buffers, lent memory
#include "compute/memory.h"

#include "base/alloc.h"
#include "base/log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Memory that was lent to a source.
struct piece {
    struct piece *next;
    struct pinned pinned;
    uint8_t *at; // first byte, page-aligned
    size_t bytes;
};

struct lender {
    struct pages_owner owner;
    cl_context context;
    cl_command_queue queue;
    pthread_mutex_t lock; // guards the members below; not held during calls of the driver
    struct piece *pieces;
    bool cannot_lend; // an attempt failed
};

// ---- buffers ----

void memory_release(cl_mem memory)
{
    if (memory)
        clReleaseMemObject(memory);
}

static const cl_uchar guard_value = 0xA5;
static const size_t wall_bytes = (size_t)64 << 20; // pages without access on each side of a buffer

// Returns the bytes of a buffer's pages with those before and after it.
static size_t pages_bytes(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page + 2 * wall_bytes;
}

// All bytes are equal if each one is equal to the next.
static bool is_filled(const cl_uchar *guard, size_t bytes)
{
    return bytes == 0 || (guard[0] == guard_value && memcmp(guard, guard + 1, bytes - 1) == 0);
}

cl_int guarded_open(struct guarded *guarded, cl_context context, cl_command_queue queue, size_t bytes, size_t guard)
{
    cl_int result;
    for (;; guard = guard / 4 / GUARDED_ALIGN * GUARDED_ALIGN) {
        if (guard < GUARDED_ALIGN)
            guard = GUARDED_ALIGN;
        *guarded = (struct guarded){.bytes = bytes, .guard = guard};
        guarded->whole = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes + 2 * guard, NULL, &result);
        if (result == CL_SUCCESS)
            result = clEnqueueFillBuffer(queue, guarded->whole, &guard_value, 1, 0, bytes + 2 * guard, 0, NULL, NULL);
        if (result == CL_SUCCESS || guard == GUARDED_ALIGN)
            break;
        guarded_close(guarded);
    }
    const cl_buffer_region inner = {guard, bytes};
    if (result == CL_SUCCESS)
        guarded->buffer = clCreateSubBuffer(guarded->whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &inner, &result);
    return result;
}

void guarded_close(struct guarded *guarded)
{
    memory_release(guarded->buffer);
    memory_release(guarded->whole);
    if (guarded->map)
        munmap(guarded->map, pages_bytes(guarded->bytes));
    *guarded = (struct guarded){0};
}

bool guarded_open_pages(struct guarded *guarded, cl_context context, cl_command_queue queue, size_t bytes)
{
    cl_device_id device = NULL;
    cl_device_type type = 0;
    cl_uint align_bits = 0;
    cl_int result;
    *guarded = (struct guarded){.bytes = bytes};
    clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(device), &device, NULL);
    clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof(type), &type, NULL);
    clGetDeviceInfo(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof(align_bits), &align_bits, NULL);
    const size_t align = align_bits < 8 ? 1 : align_bits / 8, inner = pages_bytes(bytes) - 2 * wall_bytes;
    if (!(type & CL_DEVICE_TYPE_CPU) || align > PAGE_BYTES || bytes > SIZE_MAX / 4)
        return false;
    void *map = mmap(NULL, pages_bytes(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return false;
    guarded->map = map;
    uint8_t *first = guarded->map + wall_bytes;
    guarded->guard = (inner - bytes) / align * align; // before the buffer
    guarded->at = first + guarded->guard;
    if (mprotect(first, inner, PROT_READ | PROT_WRITE) == 0) {
        memset(first, guard_value, guarded->guard);
        memset(guarded->at + bytes, guard_value, inner - guarded->guard - bytes);
        guarded->buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, guarded->at, &result);
    }
    // The device works in place if the host sees its bytes without a map.
    if (guarded->buffer &&
        clEnqueueFillBuffer(queue, guarded->buffer, &guard_value, 1, 0, bytes, 0, NULL, NULL) == CL_SUCCESS &&
        clFinish(queue) == CL_SUCCESS && is_filled(first, inner))
        return true;
    guarded_close(guarded);
    return false;
}

// Returns the index of the first or last byte that is not the guard's.
static size_t changed_byte(const cl_uchar *guard, size_t bytes, bool last)
{
    size_t at = last ? bytes - 1 : 0;
    while (guard[at] == guard_value)
        at = last ? at - 1 : at + 1;
    return at;
}

cl_int guarded_check(const struct guarded *guarded, cl_command_queue queue, int64_t *outside)
{
    const size_t bytes = guarded->bytes;
    const size_t after = guarded->map ? pages_bytes(bytes) - 2 * wall_bytes - guarded->guard - bytes : guarded->guard;
    cl_uchar *copy = guarded->whole ? malloc(guarded->guard) : NULL;
    cl_int result = CL_OUT_OF_HOST_MEMORY;
    *outside = 0;
    if (copy || !guarded->whole)
        result = clFinish(queue);
    for (int side = 0; result == CL_SUCCESS && *outside == 0 && side < 2; side++) {
        const size_t size = side == 0 ? guarded->guard : after, at = side == 0 ? 0 : guarded->guard + bytes;
        const cl_uchar *guard = guarded->map ? guarded->map + wall_bytes + at : copy;
        if (copy)
            result = clEnqueueReadBuffer(queue, guarded->whole, CL_TRUE, at, size, copy, 0, NULL, NULL);
        if (result == CL_SUCCESS && !is_filled(guard, size))
            *outside = (int64_t)(at + changed_byte(guard, size, side == 0)) - (int64_t)guarded->guard;
    }
    free(copy);
    return result;
}

int64_t guarded_fault(const struct guarded *guarded, const void *address)
{
    const uint8_t *at = address;
    const bool inside = guarded->map && at >= guarded->map && at < guarded->map + pages_bytes(guarded->bytes);
    return inside ? at - guarded->at : 0;
}

cl_int pinned_open(struct pinned *pinned, cl_context context, cl_command_queue queue, size_t bytes)
{
    cl_int result;
    pinned->buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &result);
    if (result == CL_SUCCESS)
        pinned->at = clEnqueueMapBuffer(queue, pinned->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL,
                                        NULL, &result);
    return result;
}

void pinned_close(struct pinned *pinned, cl_command_queue queue)
{
    if (pinned->at)
        clEnqueueUnmapMemObject(queue, pinned->buffer, pinned->at, 0, NULL, NULL);
    memory_release(pinned->buffer);
}

cl_int download_open(struct download *download, cl_context context, cl_command_queue queue, cl_mem_flags flags,
                     size_t bytes, enum download_way way)
{
    cl_int result;
    *download = (struct download){.way = way, .bytes = bytes};
    download->buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | flags, bytes, NULL, &result);
    if (result == CL_SUCCESS && way == DOWNLOAD_COPIED)
        result = pinned_open(&download->pinned, context, queue, bytes);
    return result;
}

void download_close(struct download *download, cl_command_queue queue)
{
    download_reclaim(download, queue);
    pinned_close(&download->pinned, queue);
    memory_release(download->buffer);
}

cl_int download_start(struct download *download, cl_command_queue queue, cl_event after)
{
    cl_int result;
    if (download->way == DOWNLOAD_MAPPED) {
        download->at = clEnqueueMapBuffer(queue, download->buffer, CL_FALSE, CL_MAP_READ, 0, download->bytes, 1, &after,
                                          &download->done, &result);
    } else {
        download->at = download->pinned.at;
        result = clEnqueueReadBuffer(queue, download->buffer, CL_FALSE, 0, download->bytes, download->at, 1, &after,
                                     &download->done);
    }
    return result == CL_SUCCESS ? clFlush(queue) : result;
}

cl_int download_reclaim(struct download *download, cl_command_queue queue)
{
    uint8_t *at = download->at;
    download->at = NULL;
    if (download->way != DOWNLOAD_MAPPED || !at)
        return CL_SUCCESS;
    return clEnqueueUnmapMemObject(queue, download->buffer, at, 0, NULL, NULL);
}

// ---- the pieces of a lender ----

static void piece_close(struct lender *lender, struct piece *piece)
{
    pinned_close(&piece->pinned, lender->queue);
    clFlush(lender->queue);
    free(piece);
}

// Allocates one page more, to align the memory to a page: drivers align mappings to a few hundred bytes only.
static bool lend(const struct lender *lender, struct piece *piece, size_t bytes)
{
    const size_t whole = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    const cl_int result = pinned_open(&piece->pinned, lender->context, lender->queue, whole + PAGE_BYTES);
    if (result != CL_SUCCESS) {
        log_info("cannot allocate %zu bytes of pinned memory (%s); monocle copies the frames", bytes,
                 compute_result_name(result));
        return false;
    }
    piece->at = piece->pinned.at + (PAGE_BYTES - (uintptr_t)piece->pinned.at % PAGE_BYTES) % PAGE_BYTES;
    piece->bytes = whole;
    return true;
}

static void *lender_take(struct pages_owner *owner, size_t bytes)
{
    struct lender *lender = (struct lender *)owner;
    pthread_mutex_lock(&lender->lock);
    const bool tries = !lender->cannot_lend;
    pthread_mutex_unlock(&lender->lock);
    struct piece *piece = tries ? xalloc(sizeof(*piece)) : NULL;
    const bool ok = piece && lend(lender, piece, bytes);
    pthread_mutex_lock(&lender->lock);
    if (ok) {
        piece->next = lender->pieces;
        lender->pieces = piece;
    }
    lender->cannot_lend = !ok;
    pthread_mutex_unlock(&lender->lock);
    if (!ok && piece)
        piece_close(lender, piece);
    return ok ? piece->at : NULL;
}

static void lender_give(struct pages_owner *owner, void *memory)
{
    struct lender *lender = (struct lender *)owner;
    pthread_mutex_lock(&lender->lock);
    struct piece **link = &lender->pieces;
    while ((*link)->at != memory)
        link = &(*link)->next;
    struct piece *piece = *link;
    *link = piece->next;
    pthread_mutex_unlock(&lender->lock);
    piece_close(lender, piece);
}

bool lender_find(struct pages_owner *owner, const void *at, size_t bytes)
{
    struct lender *lender = (struct lender *)owner;
    if (!lender)
        return false;
    pthread_mutex_lock(&lender->lock);
    const struct piece *piece = lender->pieces;
    for (; piece; piece = piece->next) {
        const size_t offset = (uintptr_t)at - (uintptr_t)piece->at; // huge if the bytes begin before the piece
        if (offset <= piece->bytes && bytes <= piece->bytes - offset)
            break;
    }
    pthread_mutex_unlock(&lender->lock);
    return piece != NULL;
}

struct pages_owner *lender_open(cl_context context, cl_device_id device)
{
    cl_int result;
    struct lender *lender = xalloc(sizeof(*lender));
    *lender = (struct lender){.owner = {lender_take, lender_give}, .context = context};
    pthread_mutex_init(&lender->lock, NULL);
    lender->queue = clCreateCommandQueue(context, device, 0, &result);
    if (compute_ok(result, "create an OpenCL command queue"))
        return &lender->owner;
    lender_close(&lender->owner);
    return NULL;
}

void lender_close(struct pages_owner *owner)
{
    struct lender *lender = (struct lender *)owner;
    if (!lender)
        return;
    if (lender->queue)
        clReleaseCommandQueue(lender->queue);
    pthread_mutex_destroy(&lender->lock);
    free(lender);
}
