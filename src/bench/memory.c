// memory.c: tests of a device's memory: bandwidth, and the caches and local memory
#include "bench/session.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

// ---- the memory, which the cases of a test share ----

enum { MEMORY_PIECE = 1 << 20 }; // bytes; the size of the memory is a multiple of this

struct memory {
    cl_mem from, to; // of equal size
    size_t bytes;
    uint8_t *random; // 2 * MEMORY_PIECE bytes, from which memory_random takes each piece of `from`
};

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

// Returns the bytes of `from` at `at`, up to the next multiple of MEMORY_PIECE. Each piece has other bytes: an
// exclusive or of equal pieces would be 0, as if the kernel had not run.
static const uint8_t *memory_random(const struct memory *memory, size_t at)
{
    enum { STEP = 4099 }; // odd, so that 2^20 pieces begin at different bytes
    return memory->random + at / MEMORY_PIECE * STEP % MEMORY_PIECE + at % MEMORY_PIECE;
}

// Allocates much more than the caches have. False on failure (logged).
static bool memory_open(struct memory *memory, struct bench_session *session)
{
    *memory = (struct memory){.bytes = choose_bytes(session), .random = xmalloc(2 * (size_t)MEMORY_PIECE)};
    cl_int result = CL_SUCCESS;
    memory->from = bench_memory(session, memory->bytes, NULL);
    memory->to = bench_memory(session, memory->bytes, NULL);
    if (!memory->from || !memory->to)
        return false;
    random_fill(memory->random, 2 * (size_t)MEMORY_PIECE, 1);
    for (size_t at = 0; result == CL_SUCCESS && at < memory->bytes; at += MEMORY_PIECE)
        result = clEnqueueWriteBuffer(session->queue, memory->from, CL_TRUE, at, MEMORY_PIECE,
                                      memory_random(memory, at), 0, NULL, NULL);
    return compute_ok(result, "fill memory on the device");
}

// ---- bandwidth: memory that is read, written or copied once ----

enum { GROUP = 256, BYTES_MOST = 128 }; // work-items of a group; bytes of the largest element

enum access { ACCESS_READ, ACCESS_WRITE, ACCESS_COPY };
static const char *const kernel_names[] = {"read", "write", "copy"};

struct bandwidth {
    const struct memory *memory;
    enum access access;
    const char *number; // type
    int width;          // numbers of an element
    size_t element;     // bytes
    size_t result;      // bytes that a work-item writes when it reads
    int each;           // elements of a work-item
    int stride, offset; // of elements; in bytes
    size_t items;
    bool in_order;
};

// ---- the host's result ----

// As the macro ELEMENT of the kernels.
static size_t element_at(const struct bandwidth *b, size_t item, int i, size_t group)
{
    const size_t number = b->in_order ? item * (size_t)b->each + (size_t)i
                                      : item / group * group * (size_t)b->each + (size_t)i * group + item % group;
    return number * (size_t)b->stride;
}

// Compares the result that a work-item wrote with the exclusive or of the elements that it had to read.
static bool check_read(struct bench_case *c, size_t item)
{
    const struct bandwidth *b = c->data;
    const size_t bytes = b->result;
    uint8_t want[BYTES_MOST] = {0}, got[BYTES_MOST];
    for (int i = 0; i < b->each; i++) {
        const size_t at = element_at(b, item, i, c->local[0]) * b->element + (size_t)b->offset;
        for (size_t k = 0; k < b->element; k++)
            want[k % bytes] ^= *memory_random(b->memory, at + k);
    }
    return bench_read(c->session, b->memory->to, item * bytes, got, bytes) && memcmp(got, want, bytes) == 0;
}

// Compares the elements that a work-item wrote.
static bool check_written(struct bench_case *c, size_t item)
{
    const struct bandwidth *b = c->data;
    uint8_t got[BYTES_MOST];
    bool ok = true;
    for (int i = 0; ok && i < b->each; i++) {
        const size_t element = element_at(b, item, i, c->local[0]);
        const size_t from = b->access == ACCESS_COPY ? element : item % c->local[0];
        ok = bench_read(c->session, b->memory->to, element * b->element, got, b->element) &&
             memcmp(got, memory_random(b->memory, from * b->element), b->element) == 0;
    }
    return ok;
}

static bool check(struct bench_case *c)
{
    enum { CHECKED = 5 };
    const struct bandwidth *b = c->data;
    bool ok = bench_kernel_once(c, 1, b->memory->to, b->memory->bytes);
    for (size_t i = 0; ok && i < CHECKED; i++)
        ok = (b->access == ACCESS_READ ? check_read : check_written)(c, i * (b->items - 1) / (CHECKED - 1));
    return ok;
}

// ---- the cases ----

static void open_case(struct bench_case *c)
{
    struct bandwidth *b = c->data;
    char options[160], type[16], offset[32] = "";
    const struct device_info *info = &c->session->device->info;
    b->in_order = info->type & CL_DEVICE_TYPE_CPU;
    // With fewer than 256 bytes, the launch of a work-item would take longer than its reads. More would fill the
    // registers and caches of GPUs, because neighbouring work-items read addresses one element apart.
    b->each = (int)(256 / b->element);
    if (b->in_order && b->each < 16)
        b->each = 16;
    snprintf(type, sizeof(type), b->width > 1 ? "%s%d" : "%s", b->number, b->width);
    if (b->offset >= 0)
        snprintf(offset, sizeof(offset), "-DOFFSET=%d", b->offset / 4);
    else
        b->offset = 0;
    // PoCL makes slower code for the loop over char2 and char4 if one number is the result.
    b->result = b->in_order ? b->element : b->element / (size_t)b->width;
    const char *number = b->in_order ? type : b->number;
    const char *order = b->in_order ? " -DIN_ORDER" : "";
    const int fold = b->in_order ? 1 : b->width;
    snprintf(options, sizeof(options), "-DTYPE=%s -DNUMBER=%s -DFOLD=FOLD%d -DEACH=%d -DSTRIDE=%d %s%s", type, number,
             fold, b->each, b->stride, offset, order);
    if (!bench_kernel(c, options, kernel_names[b->access]))
        return;
    const size_t most = kernel_group_limit(info, c->kernel);
    c->local[0] = most < GROUP ? most : GROUP;
    c->local[1] = c->size[1] = 1;
    // The last group would read past the end if there is an offset.
    const size_t groups = b->memory->bytes / (b->element * (size_t)b->each * (size_t)b->stride * c->local[0]);
    c->size[0] = b->items = (groups - (b->offset > 0)) * c->local[0];
    bench_argument(c, &b->memory->from, sizeof(cl_mem));
    bench_argument(c, &b->memory->to, sizeof(cl_mem));
    c->check = check;
    const double bytes = (double)b->items * b->each * (double)b->element;
    c->work = (b->access == ACCESS_COPY ? 2 * bytes : bytes) / 1e9;
}

static void measure_all(struct bench_session *session, struct bench_case *cases, struct bandwidth *all, int count)
{
    struct memory memory;
    const bool open = memory_open(&memory, session);
    for (int i = 0; i < count; i++) {
        cases[i].data = &all[i];
        all[i].memory = &memory;
    }
    bench_run(session, cases, count, open, open_case);
}

static void run_types(struct bench_session *session, enum access access)
{
    static const struct {
        const char *name;
        size_t bytes;
    } types[] = {{"char", 1}, {"int", 4}, {"long", 8}};
    static const int widths[] = {1, 2, 4, 8, 16};
    enum { TYPES = 3, WIDTHS = 5, CASES = TYPES * WIDTHS };
    struct bench_case cases[CASES] = {{0}};
    struct bandwidth all[CASES];
    for (int i = 0; i < CASES; i++) {
        const int width = widths[i % WIDTHS];
        all[i] = (struct bandwidth){.access = access,
                                    .number = types[i / WIDTHS].name,
                                    .width = width,
                                    .element = types[i / WIDTHS].bytes * (size_t)width,
                                    .stride = 1,
                                    .offset = -1};
        bench_name(&cases[i], "type=%s width=%d", types[i / WIDTHS].name, width);
    }
    measure_all(session, cases, all, CASES);
}

static void run_read(struct bench_session *session)
{
    run_types(session, ACCESS_READ);
}

static void run_write(struct bench_session *session)
{
    run_types(session, ACCESS_WRITE);
}

static void run_copy(struct bench_session *session)
{
    run_types(session, ACCESS_COPY);
}

static void run_stride(struct bench_session *session)
{
    static const int strides[] = {1, 2, 4, 8, 16, 32};
    enum { CASES = sizeof(strides) / sizeof(*strides) };
    struct bench_case cases[CASES] = {{0}};
    struct bandwidth all[CASES];
    for (int i = 0; i < CASES; i++) {
        all[i] = (struct bandwidth){
            .access = ACCESS_READ, .number = "int", .width = 1, .element = 4, .stride = strides[i], .offset = -1};
        bench_name(&cases[i], "type=int stride=%d", strides[i]);
    }
    measure_all(session, cases, all, CASES);
}

static void run_misaligned(struct bench_session *session)
{
    static const int offsets[] = {0, 4, 8, 12, 32};
    enum { CASES = sizeof(offsets) / sizeof(*offsets) };
    struct bench_case cases[CASES] = {{0}};
    struct bandwidth all[CASES];
    for (int i = 0; i < CASES; i++) {
        all[i] = (struct bandwidth){
            .access = ACCESS_READ, .number = "int", .width = 4, .element = 16, .stride = 1, .offset = offsets[i]};
        bench_name(&cases[i], "type=int4 offset=%d", offsets[i]);
    }
    measure_all(session, cases, all, CASES);
}

#define ROW(id, row_name, text, time_s)                                                                                \
    const struct bench_test bench_test_memory_##id = {                                                                 \
        .name = row_name,                                                                                              \
        .unit = "GB/s",                                                                                                \
        .definition = text,                                                                                            \
        .file = "bench/memory.cl",                                                                                     \
        .seconds = time_s,                                                                                             \
        .run = run_##id,                                                                                               \
    }

ROW(read, "memory.read", "reads much more memory than the caches hold; counts the bytes read", 4);
ROW(write, "memory.write", "writes much more memory than the caches hold; counts the bytes written", 4);
ROW(copy, "memory.copy", "copies memory to memory; counts the bytes read and the bytes written", 4);
ROW(stride, "memory.stride", "reads one of every n ints (stride n); counts only the bytes of these ints", 2);
ROW(misaligned, "memory.misaligned", "reads int4 at addresses n bytes above a multiple of 64 (offset n)", 2);

// ---- caches: memory that is read again and again ----

enum {
    ELEMENT_BYTES = 16, // bytes: uint4
    LANES = 4,
    READS = 32, // per loop; as in the kernels
    CHECKED_LOOPS = 3,
    CHECKED_ITEMS = 7,
    CACHE_SIZES = 9,
    CACHE_GROUP = 256,
    TILE_BYTES = 16 << 10,
    CACHE_WIDTHS = 5,
    LANES_MOST = 16,
};

struct cached {
    const struct memory *memory;
    cl_uint mask, first, step;
    int lanes;    // uints of an element
    size_t bytes; // read again and again; 0: local memory, of which work-items of all groups read the same
};

// Computes what a work-item writes.
static void expect_cached(const struct cached *cached, size_t item, cl_uint want[LANES_MOST])
{
    cl_uint at = (cl_uint)item * cached->first, sums[4][LANES_MOST] = {{0}};
    for (cl_uint n = 0; n < CHECKED_LOOPS; n++) {
        for (cl_uint i = 0; i < READS; i++, at += cached->step) {
            cl_uint value[LANES_MOST];
            const size_t bytes = (size_t)cached->lanes * sizeof(cl_uint);
            memcpy(value, memory_random(cached->memory, (at & cached->mask) * bytes), bytes);
            for (int lane = 0; lane < cached->lanes; lane++)
                sums[i % 4][lane] ^= value[lane];
        }
        for (int lane = 0; lane < cached->lanes; lane++)
            sums[0][lane] += n;
    }
    for (int lane = 0; lane < cached->lanes; lane++)
        want[lane] = sums[0][lane] ^ sums[1][lane] ^ sums[2][lane] ^ sums[3][lane];
}

static bool check_cached(struct bench_case *c)
{
    const struct cached *cached = c->data;
    const size_t bytes = (size_t)cached->lanes * sizeof(cl_uint);
    bool ok = bench_kernel_once(c, CHECKED_LOOPS, cached->memory->to, cached->memory->bytes);
    for (size_t i = 0; ok && i < CHECKED_ITEMS; i++) {
        const size_t item = i * (c->size[0] - 1) / (CHECKED_ITEMS - 1);
        cl_uint want[LANES_MOST], got[LANES_MOST];
        expect_cached(cached, cached->bytes ? item : item % c->local[0], want);
        ok = bench_read(c->session, cached->memory->to, item * bytes, got, bytes) && memcmp(got, want, bytes) == 0;
    }
    return ok;
}

// ---- caches ----

static void open_size(struct bench_case *c)
{
    struct cached *cached = c->data;
    const size_t bytes = cached->bytes;
    const struct device_info *info = &c->session->device->info;
    const bool is_cpu = info->type & CL_DEVICE_TYPE_CPU;
    if (bytes > cached->memory->bytes) {
        bench_skip(c, "this test uses at most %zu MiB of memory on this device", cached->memory->bytes >> 20);
        return;
    }
    if (!bench_kernel(c, "-DTYPE=uint4", "again"))
        return;
    // On a CPU, a work-item reads one address after the other. On a GPU, neighbouring work-items read neighbouring
    // addresses.
    const size_t most = kernel_group_limit(info, c->kernel), units = (size_t)info->compute_units;
    c->local[0] = most < CACHE_GROUP ? most : CACHE_GROUP;
    if (is_cpu)
        c->local[0] = 1;
    c->size[0] = is_cpu ? units : units * 8 * c->local[0];
    c->local[1] = c->size[1] = 1;
    const size_t elements = bytes / ELEMENT_BYTES, share = elements / units;
    cached->mask = (cl_uint)elements - 1;
    cached->first = is_cpu ? (cl_uint)share : 1;
    cached->step = is_cpu ? 1 : (cl_uint)c->size[0];
    cached->lanes = LANES;
    bench_argument(c, &cached->memory->from, sizeof(cl_mem));
    bench_argument(c, &cached->memory->to, sizeof(cl_mem));
    bench_argument(c, &cached->mask, sizeof(cl_uint));
    bench_argument(c, &cached->first, sizeof(cl_uint));
    bench_argument(c, &cached->step, sizeof(cl_uint));
    bench_argument(c, &c->loops, sizeof(c->loops));
    c->check = check_cached;
    c->work = (double)c->size[0] * READS * ELEMENT_BYTES / 1e9;
    c->loops_most = 1 << 30;
    // Every run reads the whole memory at least twice.
    c->loops = (cl_uint)(2 * elements / (READS * c->size[0]) + 1);
}

static void run_size(struct bench_session *session)
{
    struct bench_case cases[CACHE_SIZES] = {{0}};
    struct cached all[CACHE_SIZES];
    struct memory memory;
    const bool open = memory_open(&memory, session);
    for (int i = 0; i < CACHE_SIZES; i++) {
        const size_t kib = (size_t)4 << 2 * i; // 4 KiB to 256 MiB
        all[i] = (struct cached){.memory = &memory, .bytes = kib << 10};
        cases[i].data = &all[i];
        if (kib < 1024)
            bench_name(&cases[i], "type=uint4 size=%zuKiB", kib);
        else
            bench_name(&cases[i], "type=uint4 size=%zuMiB", kib / 1024);
    }
    bench_run(session, cases, CACHE_SIZES, open, open_size);
}

const struct bench_test bench_test_memory_size = {
    .name = "memory.size",
    .unit = "GB/s",
    .definition = "all compute units together read memory of this size again and again",
    .file = "bench/caches.cl",
    .seconds = 3,
    .run = run_size,
};

// ---- local memory ----

static void open_tile(struct bench_case *c)
{
    struct cached *cached = c->data;
    char options[64], type[16];
    const struct device_info *info = &c->session->device->info;
    const size_t bytes = (size_t)cached->lanes * sizeof(cl_uint);
    if (info->local_bytes < TILE_BYTES) {
        bench_skip(c, "the device has less than 16 KiB of local memory");
        return;
    }
    snprintf(type, sizeof(type), cached->lanes > 1 ? "uint%d" : "uint", cached->lanes);
    snprintf(options, sizeof(options), "-DTYPE=%s -DTILE=%zu", type, TILE_BYTES / bytes);
    if (!bench_kernel(c, options, "tile"))
        return;
    const size_t most = kernel_group_limit(info, c->kernel);
    c->local[0] = most < CACHE_GROUP ? most : CACHE_GROUP;
    c->size[0] = c->local[0] * (size_t)info->compute_units * 16;
    c->local[1] = c->size[1] = 1;
    cached->mask = (cl_uint)(TILE_BYTES / bytes) - 1;
    cached->first = cached->step = 1;
    bench_argument(c, &cached->memory->from, sizeof(cl_mem));
    bench_argument(c, &cached->memory->to, sizeof(cl_mem));
    bench_argument(c, &c->loops, sizeof(c->loops));
    c->check = check_cached;
    c->work = (double)c->size[0] * READS * (double)bytes / 1e9;
    c->loops_most = 1 << 30;
}

static void run_local(struct bench_session *session)
{
    static const int widths[CACHE_WIDTHS] = {1, 2, 4, 8, 16};
    struct bench_case cases[CACHE_WIDTHS] = {{0}};
    struct cached all[CACHE_WIDTHS];
    struct memory memory;
    const bool open = memory_open(&memory, session);
    for (int i = 0; i < CACHE_WIDTHS; i++) {
        all[i] = (struct cached){.memory = &memory, .lanes = widths[i]};
        cases[i].data = &all[i];
        bench_name(&cases[i], "type=uint width=%d", widths[i]);
    }
    bench_run(session, cases, CACHE_WIDTHS, open, open_tile);
}

const struct bench_test bench_test_memory_local = {
    .name = "memory.local",
    .unit = "GB/s",
    .definition = "each work-group reads 16 KiB of local memory again and again; width: numbers in a vector",
    .file = "bench/caches.cl",
    .seconds = 2,
    .run = run_local,
};
