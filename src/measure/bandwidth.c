// bandwidth.c: the tests of the device's memory that reads, writes and copies once: by type, stride and alignment
#include "measure/bench_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    return memory_read(b->memory, c->session, item * bytes, got, bytes) && memcmp(got, want, bytes) == 0;
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
        ok = memory_read(b->memory, c->session, element * b->element, got, b->element) &&
             memcmp(got, memory_random(b->memory, from * b->element), b->element) == 0;
    }
    return ok;
}

static bool check(struct bench_case *c)
{
    enum { CHECKED = 5 };
    const struct bandwidth *b = c->data;
    bool ok = memory_clear(b->memory, c->session) && bench_kernel_once(c, 1);
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
    snprintf(options, sizeof(options), "-DTYPE=%s -DNUMBER=%s -DFOLD=FOLD%d -DEACH=%d -DSTRIDE=%d %s%s", type,
             b->in_order ? type : b->number, b->in_order ? 1 : b->width, b->each, b->stride, offset,
             b->in_order ? " -DIN_ORDER" : "");
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
    c->time = bench_kernel_time;
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
    memory_close(&memory);
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
        snprintf(cases[i].figure.parameters, sizeof(cases[i].figure.parameters), "type=%s width=%d",
                 types[i / WIDTHS].name, width);
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
        snprintf(cases[i].figure.parameters, sizeof(cases[i].figure.parameters), "type=int stride=%d", strides[i]);
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
        snprintf(cases[i].figure.parameters, sizeof(cases[i].figure.parameters), "type=int4 offset=%d", offsets[i]);
    }
    measure_all(session, cases, all, CASES);
}

#define ROW(id, row_name, text, time_s)                                                                                \
    const struct measure_test measure_memory_##id = {                                                                  \
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
