// caches.c: the tests that read the same memory again and again: caches and local memory
#include "measure/bench_memory.h"

#include <stdio.h>
#include <string.h>

enum {
    ELEMENT = 16, // bytes: uint4
    LANES = 4,
    READS = 32, // per loop; as in the kernels
    CHECKED_LOOPS = 3,
    CHECKED_ITEMS = 7,
    SIZES = 9,
    GROUP = 256,
    TILE_BYTES = 16 << 10,
    WIDTHS = 5,
    LANES_MOST = 16,
};

struct again {
    const struct memory *memory;
    cl_uint mask, first, step;
    int lanes;    // uints of an element
    size_t bytes; // read again and again
};

// Computes what a work-item writes.
static void expect(const struct again *again, size_t item, cl_uint want[LANES_MOST])
{
    cl_uint at = (cl_uint)item * again->first, sums[4][LANES_MOST] = {{0}};
    for (cl_uint n = 0; n < CHECKED_LOOPS; n++) {
        for (cl_uint i = 0; i < READS; i++, at += again->step) {
            cl_uint value[LANES_MOST];
            const size_t bytes = (size_t)again->lanes * sizeof(cl_uint);
            memcpy(value, memory_random(again->memory, (at & again->mask) * bytes), bytes);
            for (int lane = 0; lane < again->lanes; lane++)
                sums[i % 4][lane] ^= value[lane];
        }
        for (int lane = 0; lane < again->lanes; lane++)
            sums[0][lane] += n;
    }
    for (int lane = 0; lane < again->lanes; lane++)
        want[lane] = sums[0][lane] ^ sums[1][lane] ^ sums[2][lane] ^ sums[3][lane];
}

// `local`: work-items of all groups read the same.
static bool check_items(struct bench_case *c, bool local)
{
    const struct again *again = c->data;
    const size_t bytes = (size_t)again->lanes * sizeof(cl_uint);
    bool ok = memory_clear(again->memory, c->session) && bench_kernel_once(c, CHECKED_LOOPS);
    for (size_t i = 0; ok && i < CHECKED_ITEMS; i++) {
        const size_t item = i * (c->size[0] - 1) / (CHECKED_ITEMS - 1);
        cl_uint want[LANES_MOST], got[LANES_MOST];
        expect(again, local ? item % c->local[0] : item, want);
        ok = memory_read(again->memory, c->session, item * bytes, got, bytes) && memcmp(got, want, bytes) == 0;
    }
    return ok;
}

static bool check_global(struct bench_case *c)
{
    return check_items(c, false);
}

static bool check_local(struct bench_case *c)
{
    return check_items(c, true);
}

// ---- caches ----

static void open_size(struct bench_case *c)
{
    struct again *again = c->data;
    const size_t bytes = again->bytes;
    const struct device_info *info = &c->session->device->info;
    const bool is_cpu = info->type & CL_DEVICE_TYPE_CPU;
    if (bytes > again->memory->bytes) {
        bench_skip(c, "this test uses at most %zu MiB of memory on this device", again->memory->bytes >> 20);
        return;
    }
    if (!bench_kernel(c, "-DTYPE=uint4", "again"))
        return;
    // On a CPU, a work-item reads one address after the other. On a GPU, neighbouring work-items read neighbouring
    // addresses.
    const size_t most = kernel_group_limit(info, c->kernel), units = (size_t)info->compute_units;
    c->local[0] = is_cpu ? 1 : most < GROUP ? most : GROUP;
    c->size[0] = is_cpu ? units : units * 8 * c->local[0];
    c->local[1] = c->size[1] = 1;
    const size_t elements = bytes / ELEMENT, share = elements / units;
    again->mask = (cl_uint)elements - 1;
    again->first = is_cpu ? (cl_uint)share : 1;
    again->step = is_cpu ? 1 : (cl_uint)c->size[0];
    again->lanes = LANES;
    bench_argument(c, &again->memory->from, sizeof(cl_mem));
    bench_argument(c, &again->memory->to, sizeof(cl_mem));
    bench_argument(c, &again->mask, sizeof(cl_uint));
    bench_argument(c, &again->first, sizeof(cl_uint));
    bench_argument(c, &again->step, sizeof(cl_uint));
    bench_argument(c, &c->loops, sizeof(c->loops));
    c->time = bench_kernel_time;
    c->check = check_global;
    c->work = (double)c->size[0] * READS * ELEMENT / 1e9;
    c->loops_most = 1 << 30;
    // Every run reads the whole memory at least twice.
    c->loops = (cl_uint)(2 * elements / (READS * c->size[0]) + 1);
}

static void run_size(struct bench_session *session)
{
    struct bench_case cases[SIZES] = {{0}};
    struct again all[SIZES];
    struct memory memory;
    const bool open = memory_open(&memory, session);
    for (int i = 0; i < SIZES; i++) {
        const size_t kib = (size_t)4 << 2 * i; // 4 KiB to 256 MiB
        all[i] = (struct again){.memory = &memory, .bytes = kib << 10};
        cases[i].data = &all[i];
        snprintf(cases[i].figure.parameters, sizeof(cases[i].figure.parameters), "type=uint4 size=%zu%s",
                 kib < 1024 ? kib : kib / 1024, kib < 1024 ? "KiB" : "MiB");
    }
    bench_run(session, cases, SIZES, open, open_size);
    memory_close(&memory);
}

const struct measure_test measure_memory_size = {
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
    struct again *again = c->data;
    char options[64], type[16];
    const struct device_info *info = &c->session->device->info;
    const size_t bytes = (size_t)again->lanes * sizeof(cl_uint);
    if (info->local_bytes < TILE_BYTES) {
        bench_skip(c, "the device has less than 16 KiB of local memory");
        return;
    }
    snprintf(type, sizeof(type), again->lanes > 1 ? "uint%d" : "uint", again->lanes);
    snprintf(options, sizeof(options), "-DTYPE=%s -DTILE=%zu", type, TILE_BYTES / bytes);
    if (!bench_kernel(c, options, "tile"))
        return;
    const size_t most = kernel_group_limit(info, c->kernel);
    c->local[0] = most < GROUP ? most : GROUP;
    c->size[0] = c->local[0] * (size_t)info->compute_units * 16;
    c->local[1] = c->size[1] = 1;
    again->mask = (cl_uint)(TILE_BYTES / bytes) - 1;
    again->first = again->step = 1;
    bench_argument(c, &again->memory->from, sizeof(cl_mem));
    bench_argument(c, &again->memory->to, sizeof(cl_mem));
    bench_argument(c, &c->loops, sizeof(c->loops));
    c->time = bench_kernel_time;
    c->check = check_local;
    c->work = (double)c->size[0] * READS * (double)bytes / 1e9;
    c->loops_most = 1 << 30;
}

static void run_local(struct bench_session *session)
{
    static const int widths[WIDTHS] = {1, 2, 4, 8, 16};
    struct bench_case cases[WIDTHS] = {{0}};
    struct again all[WIDTHS];
    struct memory memory;
    const bool open = memory_open(&memory, session);
    for (int i = 0; i < WIDTHS; i++) {
        all[i] = (struct again){.memory = &memory, .lanes = widths[i]};
        cases[i].data = &all[i];
        snprintf(cases[i].figure.parameters, sizeof(cases[i].figure.parameters), "type=uint width=%d", widths[i]);
    }
    bench_run(session, cases, WIDTHS, open, open_tile);
    memory_close(&memory);
}

const struct measure_test measure_memory_local = {
    .name = "memory.local",
    .unit = "GB/s",
    .definition = "each work-group reads 16 KiB of local memory again and again; width: numbers in a vector",
    .file = "bench/caches.cl",
    .seconds = 2,
    .run = run_local,
};
