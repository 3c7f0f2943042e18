// pinned.c: host memory that a device copies from by itself, lent to whoever fills pictures
#include "compute/pinned.h"

#include "base/log.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct piece {
    struct piece *next;
    cl_mem buffer;
    void *mapped;
    uint8_t *at; // the first whole page of it
    size_t bytes;
};

struct pinned {
    struct pages_owner owner;
    cl_context context;
    cl_command_queue queue;
    pthread_mutex_t lock; // over the members below; no driver is asked while holding it
    struct piece *pieces;
    bool refused; // there was no more
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
        log_info("the device has no pinned memory for %zu bytes (%s): frames are copied", bytes,
                 compute_result_name(result));
        piece_close(pinned, piece);
        return NULL;
    }
    piece->at = (uint8_t *)piece->mapped + (PAGE_BYTES - (uintptr_t)piece->mapped % PAGE_BYTES) % PAGE_BYTES;
    piece->bytes = whole;
    return piece;
}

static void *pinned_take(struct pages_owner *owner, size_t bytes)
{
    struct pinned *pinned = (struct pinned *)owner;
    pthread_mutex_lock(&pinned->lock);
    const bool refused = pinned->refused;
    pthread_mutex_unlock(&pinned->lock);
    struct piece *piece = refused ? NULL : piece_open(pinned, bytes);
    pthread_mutex_lock(&pinned->lock);
    if (piece) {
        piece->next = pinned->pieces;
        pinned->pieces = piece;
    }
    pinned->refused = !piece;
    pthread_mutex_unlock(&pinned->lock);
    return piece ? piece->at : NULL;
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

bool pinned_holds(struct pages_owner *owner, const void *at, size_t bytes)
{
    struct pinned *pinned = (struct pinned *)owner;
    if (!pinned)
        return false;
    const uintptr_t start = (uintptr_t)at;
    pthread_mutex_lock(&pinned->lock);
    const struct piece *piece = pinned->pieces;
    while (piece && !(start >= (uintptr_t)piece->at && start - (uintptr_t)piece->at <= piece->bytes &&
                      bytes <= piece->bytes - (start - (uintptr_t)piece->at)))
        piece = piece->next;
    pthread_mutex_unlock(&pinned->lock);
    return piece != NULL;
}

struct pages_owner *pinned_open(cl_context context, cl_device_id device)
{
    cl_int result;
    struct pinned *pinned = calloc(1, sizeof(*pinned));
    if (!pinned) {
        log_error("cannot pin memory: out of memory");
        return NULL;
    }
    *pinned = (struct pinned){.owner = {pinned_take, pinned_give}, .context = context};
    pthread_mutex_init(&pinned->lock, NULL);
    pinned->queue = clCreateCommandQueue(context, device, 0, &result);
    if (compute_ok(result, "make an OpenCL queue"))
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
