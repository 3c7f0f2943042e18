// pinned.c: host memory that a device copies from by itself: lent to whoever fills pictures, or filled by other drivers
#include "compute/pinned.h"

#include "base/log.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

struct piece {
    struct piece *next;
    cl_mem buffer;
    void *mapped; // NULL: adopted
    uint8_t *at;  // the first whole page of it
    size_t bytes;
};

struct pinned {
    struct pages_owner owner;
    cl_context context;
    cl_command_queue queue;
    const struct dmabuf_calls *calls;
    pthread_mutex_t lock; // over the members below; but for references no driver is asked while holding it
    struct piece *pieces;
    bool refused;   // there was no more
    bool unadopted; // it did not work
};

static void piece_close(struct pinned *pinned, struct piece *piece)
{
    if (piece->mapped)
        clEnqueueUnmapMemObject(pinned->queue, piece->buffer, piece->mapped, 0, NULL, NULL);
    if (piece->buffer)
        clReleaseMemObject(piece->buffer);
    clFlush(pinned->queue);
    free(piece);
}

// Drivers map at any multiple of some hundred bytes.
static struct piece *piece_open(struct pinned *pinned, size_t bytes)
{
    struct piece *piece = calloc(1, sizeof(*piece));
    if (!piece)
        return NULL;
    const size_t whole = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES, room = whole + PAGE_BYTES;
    cl_int result;
    piece->buffer = clCreateBuffer(pinned->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, room, NULL, &result);
    if (piece->buffer)
        piece->mapped = clEnqueueMapBuffer(pinned->queue, piece->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, room,
                                           0, NULL, NULL, &result);
    if (!piece->mapped) {
        log_info("cannot allocate %zu bytes of pinned memory (%s); monocle copies the frames", bytes,
                 compute_result_name(result));
        piece_close(pinned, piece);
        return NULL;
    }
    piece->at = (uint8_t *)piece->mapped + (PAGE_BYTES - (uintptr_t)piece->mapped % PAGE_BYTES) % PAGE_BYTES;
    piece->bytes = whole;
    return piece;
}

static bool willing(struct pinned *pinned, const bool *refused)
{
    pthread_mutex_lock(&pinned->lock);
    const bool ok = !*refused;
    pthread_mutex_unlock(&pinned->lock);
    return ok;
}

// Keeps a piece, or that there was none.
static void keep(struct pinned *pinned, struct piece *piece, bool *refused)
{
    pthread_mutex_lock(&pinned->lock);
    if (piece) {
        piece->next = pinned->pieces;
        pinned->pieces = piece;
    }
    *refused = !piece;
    pthread_mutex_unlock(&pinned->lock);
}

static void *pinned_take(struct pages_owner *owner, size_t bytes)
{
    struct pinned *pinned = (struct pinned *)owner;
    struct piece *piece = willing(pinned, &pinned->refused) ? piece_open(pinned, bytes) : NULL;
    keep(pinned, piece, &pinned->refused);
    return piece ? piece->at : NULL;
}

static bool pinned_adopt(struct pages_owner *owner, void *memory, size_t bytes, int dmabuf)
{
    struct pinned *pinned = (struct pinned *)owner;
    const struct dmabuf from = {.fd = dmabuf, .at = memory, .bytes = bytes};
    struct piece *piece = willing(pinned, &pinned->unadopted) ? calloc(1, sizeof(*piece)) : NULL;
    if (!piece) {
        close(dmabuf);
        return false;
    }
    *piece = (struct piece){.at = memory, .bytes = bytes};
    piece->buffer = dmabuf_import(pinned->calls, pinned->context, pinned->queue, &from);
    if (!piece->buffer) {
        free(piece);
        piece = NULL;
    }
    keep(pinned, piece, &pinned->unadopted);
    return piece != NULL;
}

static void pinned_give(struct pages_owner *owner, void *memory)
{
    struct pinned *pinned = (struct pinned *)owner;
    pthread_mutex_lock(&pinned->lock);
    struct piece **link = &pinned->pieces;
    while ((*link)->at != memory)
        link = &(*link)->next;
    struct piece *piece = *link;
    *link = piece->next;
    pthread_mutex_unlock(&pinned->lock);
    piece_close(pinned, piece);
}

static bool has_bytes(const struct piece *piece, const void *at, size_t bytes)
{
    const size_t offset = (uintptr_t)at - (uintptr_t)piece->at; // of bytes ahead of the piece: too large
    return offset <= piece->bytes && bytes <= piece->bytes - offset;
}

// The piece that has these bytes; the lock is held.
static const struct piece *find(const struct pinned *pinned, const void *at, size_t bytes)
{
    const struct piece *piece = pinned->pieces;
    while (piece && !has_bytes(piece, at, bytes))
        piece = piece->next;
    return piece;
}

bool pinned_holds(struct pages_owner *owner, const void *at, size_t bytes)
{
    struct pinned *pinned = (struct pinned *)owner;
    if (!pinned)
        return false;
    pthread_mutex_lock(&pinned->lock);
    const struct piece *piece = find(pinned, at, bytes);
    const bool holds = piece && piece->mapped;
    pthread_mutex_unlock(&pinned->lock);
    return holds;
}

cl_mem pinned_adopted(struct pages_owner *owner, const void *at, size_t bytes)
{
    struct pinned *pinned = (struct pinned *)owner;
    cl_mem buffer = NULL;
    if (!pinned)
        return NULL;
    pthread_mutex_lock(&pinned->lock);
    const struct piece *piece = find(pinned, at, bytes);
    if (piece && !piece->mapped && piece->at == at && clRetainMemObject(piece->buffer) == CL_SUCCESS)
        buffer = piece->buffer;
    pthread_mutex_unlock(&pinned->lock);
    return buffer;
}

struct pages_owner *pinned_open(cl_context context, cl_device_id device, bool lends, const struct dmabuf_calls *calls)
{
    cl_int result;
    struct pinned *pinned = calloc(1, sizeof(*pinned));
    if (!pinned) {
        log_error("cannot pin memory: out of memory");
        return NULL;
    }
    *pinned = (struct pinned){
        .owner = {lends ? pinned_take : NULL, pinned_give, calls->acquire ? pinned_adopt : NULL},
        .context = context,
        .calls = calls,
    };
    pthread_mutex_init(&pinned->lock, NULL);
    pinned->queue = clCreateCommandQueue(context, device, 0, &result);
    if (compute_ok(result, "create an OpenCL command queue"))
        return &pinned->owner;
    pinned_close(&pinned->owner);
    return NULL;
}

void pinned_close(struct pages_owner *owner)
{
    struct pinned *pinned = (struct pinned *)owner;
    if (!pinned)
        return;
    if (pinned->queue)
        clReleaseCommandQueue(pinned->queue);
    pthread_mutex_destroy(&pinned->lock);
    free(pinned);
}
