// memory.c: host memory that a device copies without the host: pinned buffers, lent memory, imported dma-bufs
#include "compute/memory.h"

#include "base/alloc.h"
#include "base/log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROOF_BYTES = 64 };

// Memory that was lent to a source or imported from another driver.
struct piece {
    struct piece *next;
    struct pinned pinned; // pinned.at NULL: imported
    int fd;               // of imported memory that the driver has not taken; else -1
    uint8_t *at;          // first byte; lent memory is page-aligned
    size_t bytes;
};

struct lender {
    struct pages_owner owner;
    cl_context context;
    cl_command_queue queue;
    const struct dmabuf_importer *importer;
    pthread_mutex_t lock; // guards the members below; not held during calls of the driver
    struct piece *pieces;
    bool cannot_lend, cannot_import; // an attempt failed
};

// ---- buffers ----

void memory_release(cl_mem memory)
{
    if (memory)
        clReleaseMemObject(memory);
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

// ---- dma-bufs ----

// Writes the last bytes of the memory and has the device read them. Returns why that fails, or NULL.
static const char *disprove(const struct lender *lender, const struct piece *piece)
{
    uint8_t sent[PROOF_BYTES], seen[PROOF_BYTES] = {0};
    const cl_mem *buffer = &piece->pinned.buffer;
    const size_t bytes = piece->bytes < PROOF_BYTES ? piece->bytes : PROOF_BYTES, start = piece->bytes - bytes;
    for (size_t i = 0; i < PROOF_BYTES; i++)
        sent[i] = (uint8_t)(37 * i + 11);
    memcpy(piece->at + start, sent, bytes);
    const struct dmabuf_importer *importer = lender->importer;
    cl_int result = importer->acquire ? importer->acquire(lender->queue, 1, buffer, 0, NULL, NULL) : CL_SUCCESS;
    if (result == CL_SUCCESS)
        result = clEnqueueReadBuffer(lender->queue, *buffer, CL_TRUE, start, bytes, seen, 0, NULL, NULL);
    if (result == CL_SUCCESS && importer->release)
        result = importer->release(lender->queue, 1, buffer, 0, NULL, NULL);
    if (result == CL_SUCCESS)
        result = compute_finish(lender->queue);
    if (result != CL_SUCCESS)
        return compute_result_name(result);
    return memcmp(sent, seen, bytes) == 0 ? NULL : "it reads wrong bytes";
}

// Makes the piece's buffer from the descriptor, which belongs to the piece or the driver then.
static bool import(const struct lender *lender, struct piece *piece, int fd)
{
    cl_int result;
    bool taken;
    piece->pinned.buffer =
        dmabuf_import(lender->importer, lender->context, fd, piece->at, &piece->bytes, &taken, &result);
    piece->fd = taken ? -1 : fd;
    const char *why = piece->pinned.buffer ? disprove(lender, piece) : compute_result_name(result);
    if (why)
        log_info("the device cannot import the camera's dma-buf (%s); monocle copies the frames", why);
    return !why;
}

// ---- the pieces of a lender ----

static void piece_close(struct lender *lender, struct piece *piece)
{
    pinned_close(&piece->pinned, lender->queue);
    clFlush(lender->queue);
    if (piece->fd >= 0)
        close(piece->fd);
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

static struct piece *piece_open(struct lender *lender, const bool *cannot)
{
    pthread_mutex_lock(&lender->lock);
    const bool tries = !*cannot;
    pthread_mutex_unlock(&lender->lock);
    struct piece *piece = tries ? xalloc(sizeof(*piece)) : NULL;
    if (piece)
        piece->fd = -1;
    return piece;
}

// Adds the piece if the attempt succeeded (`ok`). Otherwise closes it (NULL: none) and sets *cannot. Returns its
// memory.
static void *piece_keep(struct lender *lender, struct piece *piece, bool *cannot, bool ok)
{
    pthread_mutex_lock(&lender->lock);
    if (ok) {
        piece->next = lender->pieces;
        lender->pieces = piece;
    }
    *cannot = !ok;
    pthread_mutex_unlock(&lender->lock);
    if (!ok && piece)
        piece_close(lender, piece);
    return ok ? piece->at : NULL;
}

static void *lender_take(struct pages_owner *owner, size_t bytes)
{
    struct lender *lender = (struct lender *)owner;
    struct piece *piece = piece_open(lender, &lender->cannot_lend);
    return piece_keep(lender, piece, &lender->cannot_lend, piece && lend(lender, piece, bytes));
}

static bool lender_import(struct pages_owner *owner, void *memory, size_t bytes, int dmabuf)
{
    struct lender *lender = (struct lender *)owner;
    struct piece *piece = piece_open(lender, &lender->cannot_import);
    if (piece)
        *piece = (struct piece){.fd = -1, .at = memory, .bytes = bytes};
    else
        close(dmabuf);
    return piece_keep(lender, piece, &lender->cannot_import, piece && import(lender, piece, dmabuf)) != NULL;
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

bool lender_find(struct pages_owner *owner, const void *at, size_t bytes, cl_mem *imported)
{
    struct lender *lender = (struct lender *)owner;
    *imported = NULL;
    if (!lender)
        return false;
    pthread_mutex_lock(&lender->lock);
    const struct piece *piece = lender->pieces;
    for (; piece; piece = piece->next) {
        const size_t offset = (uintptr_t)at - (uintptr_t)piece->at; // huge if the bytes begin before the piece
        if (offset <= piece->bytes && bytes <= piece->bytes - offset)
            break;
    }
    bool found = piece && (piece->pinned.at || piece->at == at);
    if (found && !piece->pinned.at) {
        found = clRetainMemObject(piece->pinned.buffer) == CL_SUCCESS;
        *imported = found ? piece->pinned.buffer : NULL;
    }
    pthread_mutex_unlock(&lender->lock);
    return found;
}

struct pages_owner *lender_open(cl_context context, cl_device_id device, bool lends,
                                const struct dmabuf_importer *importer)
{
    cl_int result;
    struct lender *lender = xalloc(sizeof(*lender));
    *lender = (struct lender){
        .owner = {lends ? lender_take : NULL, lender_give, importer->way != DMABUF_NONE ? lender_import : NULL},
        .context = context,
        .importer = importer,
    };
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
