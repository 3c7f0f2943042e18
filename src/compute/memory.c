// memory.c: host memory that a device copies without the host: pinned buffers, lent memory, imported dma-bufs
#include "compute/memory.h"

#include "base/alloc.h"
#include "base/log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- dma-bufs ----

enum { QCOM_DMABUF_HOST_PTR = 0x411D }; // CL_MEM_DMABUF_HOST_PTR_QCOM

// cl_mem_dmabuf_host_ptr, which Khronos's headers do not have.
struct qcom_dmabuf {
    cl_mem_ext_host_ptr external;
    int fd;
    void *at;
};

// Intel's driver lists cl_khr_external_memory, and not the extension of each type of handle.
static bool imports_khr(cl_device_id device, const char *extensions)
{
    cl_external_memory_handle_type_khr types[16];
    size_t bytes = 0;
    if (compute_lists(extensions, "cl_khr_external_memory_dma_buf"))
        return true;
    if (!compute_lists(extensions, "cl_khr_external_memory") ||
        clGetDeviceInfo(device, CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR, sizeof(types), types, &bytes) !=
            CL_SUCCESS)
        return false;
    for (size_t i = 0; i < bytes / sizeof(*types) && i < sizeof(types) / sizeof(*types); i++)
        if (types[i] == CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR)
            return true;
    return false;
}

enum dmabuf_way dmabuf_find_way(cl_device_id device, const char *extensions, const char *version)
{
    if (strncmp(version, "OpenCL 3.", 9) == 0 && imports_khr(device, extensions))
        return DMABUF_KHR;
    if (compute_lists(extensions, "cl_arm_import_memory_dma_buf"))
        return DMABUF_ARM;
    return compute_lists(extensions, "cl_qcom_dmabuf_host_ptr") ? DMABUF_QCOM : DMABUF_NONE;
}

struct dmabuf_importer dmabuf_importer(cl_platform_id platform, cl_device_id device, enum dmabuf_way way)
{
    struct dmabuf_importer importer = {.way = way};
    cl_uint padding = 0;
    bool ok = way != DMABUF_NONE;
    if (way == DMABUF_KHR) {
        importer.acquire = (clEnqueueAcquireExternalMemObjectsKHR_fn)clGetExtensionFunctionAddressForPlatform(
            platform, "clEnqueueAcquireExternalMemObjectsKHR");
        importer.release = (clEnqueueReleaseExternalMemObjectsKHR_fn)clGetExtensionFunctionAddressForPlatform(
            platform, "clEnqueueReleaseExternalMemObjectsKHR");
        ok = importer.acquire && importer.release;
    } else if (way == DMABUF_ARM) {
        *(void **)&importer.import_arm = clGetExtensionFunctionAddressForPlatform(platform, "clImportMemoryARM");
        ok = importer.import_arm;
    } else if (way == DMABUF_QCOM) {
        ok = clGetDeviceInfo(device, CL_DEVICE_EXT_MEM_PADDING_IN_BYTES_QCOM, sizeof(padding), &padding, NULL) ==
             CL_SUCCESS;
        importer.padding = padding;
    }
    return ok ? importer : (struct dmabuf_importer){.way = DMABUF_NONE};
}

// The driver keeps caches consistent with the host's writes, or does not know this property: older ones.
static cl_mem import_arm(const struct dmabuf_importer *importer, cl_context context, int fd, size_t bytes,
                         cl_int *result)
{
    const cl_import_properties_arm properties[] = {CL_IMPORT_TYPE_ARM, CL_IMPORT_TYPE_DMA_BUF_ARM,
                                                   CL_IMPORT_DMA_BUF_DATA_CONSISTENCY_WITH_HOST_ARM, CL_TRUE, 0};
    const cl_import_properties_arm fewer[] = {CL_IMPORT_TYPE_ARM, CL_IMPORT_TYPE_DMA_BUF_ARM, 0};
    const cl_mem buffer = importer->import_arm(context, CL_MEM_READ_ONLY, properties, &fd, bytes, result);
    return buffer ? buffer : importer->import_arm(context, CL_MEM_READ_ONLY, fewer, &fd, bytes, result);
}

cl_mem dmabuf_import(const struct dmabuf_importer *importer, cl_context context, int fd, void *at, size_t *bytes,
                     bool *taken, cl_int *result)
{
    const cl_mem_properties khr[] = {CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, (cl_mem_properties)fd, 0};
    struct qcom_dmabuf qcom = {{QCOM_DMABUF_HOST_PTR, CL_MEM_HOST_WRITEBACK_QCOM}, fd, at};
    cl_mem buffer = NULL;
    *result = CL_INVALID_BUFFER_SIZE;
    *taken = false;
    switch (importer->way) {
    case DMABUF_KHR:
        buffer = clCreateBufferWithProperties(context, khr, CL_MEM_READ_ONLY, *bytes, NULL, result);
        *taken = buffer;
        break;
    case DMABUF_ARM:
        buffer = import_arm(importer, context, fd, *bytes, result);
        break;
    case DMABUF_QCOM:
        if (*bytes <= importer->padding)
            break;
        *bytes -= importer->padding;
        buffer = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR | CL_MEM_EXT_HOST_PTR_QCOM, *bytes,
                                &qcom, result);
        break;
    case DMABUF_NONE:
        break;
    }
    return buffer;
}

// ---- memory ----

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
