// bench_subject.c: runs a chain, a measure, or a plain copy or read repeatedly, on pictures of one shape
#include "measure/bench_subject.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/workers.h"
#include "compute/copy.h"

#include <stdlib.h>
#include <string.h>

enum { STRIPS = 40 }; // of column sums, as `monocle lane` has

struct bench_subject {
    const struct pictures *pictures;
    const struct chain *chain;
    struct path *path; // for kinds without a device, which read the host's pictures in place; else NULL
    struct resident *resident;
    struct opencl_chain *opened;
    const struct picture_measure *measure; // NULL: a chain
    struct measuring measuring;
    uint32_t *values; // of the measure
    struct workers *workers;
    struct resident_measures *resident_measures;
    int next; // index of a picture
};

static bool open_path(struct bench_subject *subject, const struct bench_subject_setup *setup, char **error)
{
    const struct path_setup path = {
        .kind = setup->kind,
        .input = setup->shape,
        .chain = setup->chain,
        .threads = setup->threads,
        .tuned = setup->tuned,
        .variant = setup->variant,
        .gl = setup->gl,
    };
    return (subject->path = path_open(&path, error)) != NULL;
}

// The measure runs on threads of the host, or on the device.
static bool open_measure(struct bench_subject *subject, const struct bench_subject_setup *setup, char **error)
{
    const struct path_setup wanted = {.measures = setup->measure->measures, .strips = STRIPS};
    subject->measure = setup->measure;
    if (!measuring_open(&subject->measuring, &wanted, setup->shape.width, setup->shape.height, !subject->resident) ||
        !(subject->values = calloc(measuring_values(&subject->measuring), sizeof(*subject->values)))) {
        log_error("cannot measure: out of memory");
        return false;
    }
    if (!subject->resident) {
        subject->workers = workers_open(setup->threads);
        return true;
    }
    subject->resident_measures = resident_measures_open(subject->resident, &subject->measuring, error);
    return subject->resident_measures != NULL;
}

struct bench_subject *bench_subject_open(struct picture_pool *pool, const struct bench_subject_setup *setup,
                                         char **error)
{
    *error = NULL;
    const bool on_device = path_kind_info(setup->kind)->needs_device;
    struct bench_subject *subject = xalloc(sizeof(*subject));
    bool ok = (subject->pictures = pool_pictures(pool, &setup->shape));
    if (ok && on_device) {
        // With images, kernels write images: GL's textures.
        const bool images = path_kind_info(setup->kind)->shares_gl && setup->device->info.images;
        ok = (subject->resident = pool_resident(pool, setup->device, &setup->shape, images)) != NULL;
    }
    if (ok && setup->measure)
        ok = open_measure(subject, setup, error);
    else if (ok && !on_device)
        ok = open_path(subject, setup, error);
    else if (ok)
        ok = (subject->opened = resident_chain_open(subject->resident, setup->chain, setup->variant, error)) != NULL;
    if (ok) {
        subject->chain = setup->chain;
        return subject;
    }
    bench_subject_close(subject);
    return NULL;
}

void bench_subject_close(struct bench_subject *subject)
{
    if (!subject)
        return;
    path_close(subject->path);
    resident_chain_close(subject->opened);
    resident_measures_close(subject->resident_measures);
    workers_close(subject->workers);
    measuring_close(&subject->measuring);
    free(subject->values);
    free(subject);
}

// Adds the time of the gl path's draws on the GPU's clock; nothing on the cpu path.
static void add_draws(const struct path_result *result, double *ms)
{
    for (int i = 0; i < result->stages; i++) {
        const struct stage_time *stage = &result->stage[i];
        if (stage->clock == STAGE_DEVICE && strncmp(stage->name, "pass ", 5) == 0)
            *ms += (double)(stage->end_ns - stage->start_ns) / 1e6;
    }
}

static bool run_path(struct bench_subject *subject, int runs, struct path_result *result, double *draws_ms)
{
    bool ok = true;
    for (int i = 0; ok && i < runs; i++) {
        const struct image *picture = &subject->pictures->image[(subject->next + i) % subject->pictures->count];
        ok = path_submit(subject->path, picture, NULL) && path_collect(subject->path, result);
        if (ok)
            add_draws(result, draws_ms);
    }
    return ok;
}

static void run_measure(struct bench_subject *subject, int runs)
{
    struct path_measures measures;
    struct path_levels levels;
    for (int i = 0; i < runs; i++) {
        const struct image *picture = &subject->pictures->image[(subject->next + i) % subject->pictures->count];
        measuring_run(&subject->measuring, picture, subject->workers, subject->values);
        measuring_give(&subject->measuring, subject->values, &measures);
        if (subject->measure->levels)
            path_levels(measures.histogram, &levels);
    }
}

bool bench_subject_run(struct bench_subject *subject, int runs, struct timing *timing)
{
    bool ok = true;
    if (subject->resident) {
        ok = subject->measure ? resident_measures_run(subject->resident_measures, subject->next, runs, timing)
                              : resident_run(subject->resident, subject->opened, subject->next, runs, timing);
    } else {
        struct path_result result;
        double draws_ms = 0;
        const int64_t start_ns = clock_now_ns();
        if (subject->measure)
            run_measure(subject, runs);
        else
            ok = run_path(subject, runs, &result, &draws_ms);
        timing->wall_ms = clock_ms_since(start_ns) / runs;
        timing->device_ms = draws_ms > 0 ? draws_ms / runs : timing->wall_ms;
    }
    subject->next = (subject->next + runs) % subject->pictures->count;
    return ok;
}

// ---- the check ----

// Filters the first picture and copies the output to `rgba`.
static bool filter_first(void *context, struct image *rgba)
{
    struct bench_subject *subject = context;
    struct path_result result;
    struct timing timing;
    double draws_ms = 0;
    subject->next = 0;
    if (subject->path)
        return run_path(subject, 1, &result, &draws_ms) && path_read(subject->path, &result, rgba);
    return resident_run(subject->resident, subject->opened, 0, 1, &timing) && resident_read(subject->resident, rgba);
}

// Computes the measure of the first picture by a single thread of the host in `values`. False: out of memory.
static bool expect_measure(const struct bench_subject *subject, uint32_t *values)
{
    const struct image *picture = &subject->pictures->image[0];
    const struct path_setup wanted = {.measures = subject->measure->measures, .strips = STRIPS};
    struct measuring measuring;
    const bool ok = values && measuring_open(&measuring, &wanted, picture->shape.width, picture->shape.height, true);
    if (ok) {
        measuring_run(&measuring, picture, NULL, values);
        measuring_close(&measuring);
    } else
        log_error("cannot check the results: out of memory");
    return ok;
}

static bool check_measure(struct bench_subject *subject, const char *what)
{
    const size_t count = measuring_values(&subject->measuring);
    uint32_t *want = xcalloc(count, sizeof(*want));
    struct timing timing;
    subject->next = 0;
    bool ok = expect_measure(subject, want) && bench_subject_run(subject, 1, &timing) &&
              (!subject->resident || resident_measures_read(subject->resident_measures, subject->values));
    for (size_t i = 0; ok && i < count; i++) {
        ok = subject->values[i] == want[i];
        if (!ok)
            log_error("%s differs from the cpu path: value %zu is %u instead of %u; this case is skipped", what, i,
                      subject->values[i], want[i]);
    }
    free(want);
    return ok;
}

bool bench_subject_check(struct bench_subject *subject, const char *what)
{
    return subject->measure ? check_measure(subject, what)
                            : pictures_check(subject->pictures, subject->chain, filter_first, subject, what);
}

// ---- plain copies and reads ----

struct bench_copy {
    struct picture_pool *pool;
    struct workers *workers;
    struct device_copy *device; // instead of workers
    size_t bytes;
    bool reads;         // it only reads
    int sources, next;  // next: number of the next run
    uint8_t *from, *to; // of the running copy
};

static void read_words(const uint8_t *from, size_t bytes)
{
    uint64_t sum = 0, word;
    for (size_t i = 0; i + sizeof(word) <= bytes; i += sizeof(word)) {
        memcpy(&word, from + i, sizeof(word));
        sum += word;
    }
    __asm__ volatile("" : : "r"(sum)); // or the compiler removes the loop
}

// One part per thread, because the C library copies large blocks faster.
static void copy_part(void *context, int part)
{
    const struct bench_copy *copy = context;
    const size_t parts = (size_t)workers_count(copy->workers);
    const size_t first = copy->bytes * (size_t)part / parts, end = copy->bytes * (size_t)(part + 1) / parts;
    if (copy->reads)
        read_words(copy->from + first, end - first);
    else
        memcpy(copy->to + first, copy->from + first, end - first);
}

// A copy has as many sources as its case has pictures, and as many targets as it has outputs.
static uint8_t *host_memory(struct bench_copy *copy)
{
    return pool_copies(copy->pool, copy->bytes * (size_t)(copy->sources + POOL_OUTPUTS));
}

static bool run_on_host(struct bench_copy *copy, int runs, struct timing *timing)
{
    uint8_t *memory = host_memory(copy);
    if (!memory)
        return false;
    const int64_t start_ns = clock_now_ns();
    for (int i = 0; i < runs; i++, copy->next++) {
        copy->from = memory + copy->bytes * (size_t)(copy->next % copy->sources);
        copy->to = memory + copy->bytes * (size_t)(copy->sources + copy->next % POOL_OUTPUTS);
        workers_run(copy->workers, copy_part, copy, workers_count(copy->workers));
    }
    timing->device_ms = timing->wall_ms = clock_ms_since(start_ns) / runs;
    return true;
}

bool bench_copy_run(struct bench_copy *copy, int runs, struct timing *timing)
{
    return copy->device ? device_copy_run(copy->device, runs, timing) : run_on_host(copy, runs, timing);
}

struct bench_copy *bench_copy_open(struct picture_pool *pool, const struct bench_copy_setup *setup)
{
    struct bench_copy *copy = xalloc(sizeof(*copy));
    copy->pool = pool;
    copy->bytes = setup->bytes;
    copy->reads = setup->reads;
    copy->sources = setup->sources;
    const bool ok = setup->device
                        ? (copy->device = device_copy_open(setup->device, setup->bytes, setup->sources)) != NULL
                        : host_memory(copy) != NULL && (copy->workers = workers_open(setup->threads)) != NULL;
    if (ok)
        return copy;
    bench_copy_close(copy);
    return NULL;
}

void bench_copy_close(struct bench_copy *copy)
{
    if (!copy)
        return;
    workers_close(copy->workers);
    device_copy_close(copy->device);
    free(copy);
}
