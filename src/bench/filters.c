// filters.c: the measurements `filters` and `variants`: chains on pictures in memory, beside a plain copy
#include "base/text.h"
#include "bench/session.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "bench/pool.h"
#include "compute/timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRIPS = 40 }; // of column sums, as `monocle lane` has

// A chain or a measure to time.
struct filter_row {
    const char *text;
    const struct chain *chain;             // NULL: a measure
    const struct picture_measure *measure; // NULL: a chain
    struct image_shape shape;
    enum path_kind kind;
    int threads;
    const char *variant;              // NULL: the path chooses
    struct bench_part host;           // by the host's clock
    const struct bench_case *copy;    // of as many bytes
    const struct bench_case *generic; // of a variant: the generic code
    char what[200];                   // for messages

    const struct pictures *pictures;
    int next;          // index of a picture
    struct path *path; // for kinds without a device, which read the host's pictures in place; else NULL
    struct rig *rig;
    struct opencl_chain *opened;
    struct measuring measuring;
    uint32_t *values; // of the measure
    struct workers *workers;
    struct rig_measures *rig_measures;
};

static bool open_path(struct filter_row *row, const struct bench_session *session, char **error)
{
    const struct path_setup setup = {
        .kind = row->kind,
        .input = row->shape,
        .chain = row->chain,
        .threads = row->threads,
        .tuned = session->tuned,
        .variant = row->variant,
        .gl = session->gl,
    };
    return (row->path = path_open(&setup, error)) != NULL;
}

// The measure runs on threads of the host, or on the device.
static bool open_measure(struct filter_row *row, char **error)
{
    const struct path_setup wanted = {.measures = row->measure->measures, .strips = STRIPS};
    measuring_open(&row->measuring, &wanted, row->shape.width, row->shape.height, !row->rig);
    row->values = xcalloc(measuring_values(&row->measuring), sizeof(*row->values));
    if (!row->rig) {
        row->workers = workers_open(row->threads);
        return true;
    }
    row->rig_measures = rig_measures_open(row->rig, &row->measuring, error);
    return row->rig_measures != NULL;
}

// On failure returns false, and *error has the reason or is NULL (logged); the caller frees it.
static bool open_subject(struct filter_row *row, const struct bench_session *session, char **error)
{
    const struct path_kind_info *kind = path_kind_info(row->kind);
    if (!(row->pictures = pool_pictures(session->pool, &row->shape)))
        return false;
    if (kind->needs_device) {
        // With images, kernels write images: GL's textures.
        const bool images = kind->shares_gl && session->device->info.images;
        if (!(row->rig = pool_rig(session->pool, session->device, &row->shape, images)))
            return false;
    }
    if (row->measure)
        return open_measure(row, error);
    if (!row->rig)
        return open_path(row, session, error);
    return (row->opened = rig_chain_open(row->rig, row->chain, row->variant, error)) != NULL;
}

static void close_subject(struct filter_row *row)
{
    path_close(row->path);
    rig_chain_close(row->opened);
    rig_measures_close(row->rig_measures);
    workers_close(row->workers);
    measuring_close(&row->measuring);
    free(row->values);
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

static bool run_path(struct filter_row *row, int runs, struct path_result *result, double *draws_ms)
{
    bool ok = true;
    for (int i = 0; ok && i < runs; i++) {
        const struct image *picture = &row->pictures->image[(row->next + i) % row->pictures->count];
        ok = path_submit(row->path, picture, NULL) && path_collect(row->path, result);
        if (ok)
            add_draws(result, draws_ms);
    }
    return ok;
}

static void run_measure(struct filter_row *row, int runs)
{
    struct path_measures measures;
    struct path_levels levels;
    for (int i = 0; i < runs; i++) {
        const struct image *picture = &row->pictures->image[(row->next + i) % row->pictures->count];
        measuring_run(&row->measuring, picture, row->workers, row->values);
        measuring_give(&row->measuring, row->values, &measures);
        if (row->measure->levels)
            path_levels(measures.histogram, &levels);
    }
}

// Sets the average times of a run. Without a device's clock, both are the host's. False on failure (logged).
static bool run_subject(struct filter_row *row, int runs, struct timing *timing)
{
    bool ok = true;
    if (row->rig) {
        ok = row->measure ? rig_measures_run(row->rig_measures, row->next, runs, timing)
                          : rig_chain_run(row->rig, row->opened, row->next, runs, timing);
    } else {
        struct path_result result;
        double draws_ms = 0;
        const int64_t start_ns = clock_now_ns();
        if (row->measure)
            run_measure(row, runs);
        else
            ok = run_path(row, runs, &result, &draws_ms);
        timing->wall_ms = clock_ms_since(start_ns) / runs;
        timing->device_ms = draws_ms > 0 ? draws_ms / runs : timing->wall_ms;
    }
    row->next = (row->next + runs) % row->pictures->count;
    return ok;
}

// ---- the check ----

// Filters the first picture and copies the output to `rgba`.
static bool filter_first(void *context, struct image *rgba)
{
    struct filter_row *row = context;
    struct path_result result;
    struct timing timing;
    double draws_ms = 0;
    row->next = 0;
    if (row->path)
        return run_path(row, 1, &result, &draws_ms) && path_read(row->path, &result, rgba);
    return rig_chain_run(row->rig, row->opened, 0, 1, &timing) && rig_read(row->rig, rgba);
}

// Computes the measure of the first picture by a single thread of the host in `values`.
static void expect_measure(const struct filter_row *row, uint32_t *values)
{
    const struct image *picture = &row->pictures->image[0];
    const struct path_setup wanted = {.measures = row->measure->measures, .strips = STRIPS};
    struct measuring measuring;
    measuring_open(&measuring, &wanted, picture->shape.width, picture->shape.height, true);
    measuring_run(&measuring, picture, NULL, values);
    measuring_close(&measuring);
}

static bool check_measure(struct filter_row *row)
{
    const size_t count = measuring_values(&row->measuring);
    uint32_t *want = xcalloc(count, sizeof(*want));
    struct timing timing;
    row->next = 0;
    expect_measure(row, want);
    bool ok = run_subject(row, 1, &timing) && (!row->rig || rig_measures_read(row->rig_measures, row->values));
    for (size_t i = 0; ok && i < count; i++) {
        ok = row->values[i] == want[i];
        if (!ok)
            log_error("%s differs from the cpu path: value %zu is %u instead of %u; this case is skipped", row->what, i,
                      row->values[i], want[i]);
    }
    free(want);
    return ok;
}

// Runs on the first picture and compares the output with the cpu path's. Logs the first difference.
static bool check_row(struct bench_case *c)
{
    struct filter_row *row = c->data;
    return row->measure ? check_measure(row) : pictures_check(row->pictures, row->chain, filter_first, row, row->what);
}

// ---- plain copies and reads ----

// A copy reads `bytes` and writes as many.
struct plain_copy {
    struct picture_pool *pool;
    struct device *device; // copies in its memory; NULL: in the host's
    int threads;           // of the host
    size_t bytes;
    int sources; // used in turn
    bool reads;  // without a device: it only reads

    struct workers *workers;
    struct device_copy *on_device; // instead of workers
    int next;                      // number of the next run
    uint8_t *from, *to;            // of the running copy
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
    const struct plain_copy *copy = context;
    const size_t parts = (size_t)workers_count(copy->workers);
    const size_t first = copy->bytes * (size_t)part / parts, end = copy->bytes * (size_t)(part + 1) / parts;
    if (copy->reads)
        read_words(copy->from + first, end - first);
    else
        memcpy(copy->to + first, copy->from + first, end - first);
}

// A copy has as many sources as its case has pictures, and as many targets as it has outputs.
static uint8_t *host_memory(const struct plain_copy *copy)
{
    return pool_copies(copy->pool, copy->bytes * (size_t)(copy->sources + POOL_OUTPUTS));
}

static bool copy_on_host(struct plain_copy *copy, int runs, struct timing *timing)
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

static double time_copy(struct bench_case *c, int runs)
{
    struct plain_copy *copy = c->data;
    struct timing timing;
    const bool ok = copy->device ? device_copy_run(copy->on_device, runs, &timing) : copy_on_host(copy, runs, &timing);
    return ok ? timing.device_ms / 1e3 : -1;
}

// False on failure (logged).
static bool open_copy(struct plain_copy *copy)
{
    if (copy->device)
        return (copy->on_device = device_copy_open(copy->device, copy->bytes, copy->sources)) != NULL;
    return host_memory(copy) && (copy->workers = workers_open(copy->threads)) != NULL;
}

static void close_copy(struct plain_copy *copy)
{
    workers_close(copy->workers);
    device_copy_close(copy->on_device);
}

static bool same_copy(const struct plain_copy *a, const struct plain_copy *b)
{
    return a->device == b->device && a->threads == b->threads && a->bytes == b->bytes && a->sources == b->sources &&
           a->reads == b->reads;
}

// ---- the measurements ----

enum { TEST_TIME, TEST_COPY, TEST_MORE, TEST_HOST }; // of both measurements; TEST_MORE: pixels, speed

struct filter_bench {
    struct bench_session *session;
    bool variants; // a row for the generic code, and for each variant that fits
    struct filter_row *row;
    struct plain_copy *copy;  // at most one for each row
    struct bench_case *cases; // of the rows, then of the copies
    int rows, copies;
};

// ---- what is measured ----

// 25 numbers without a pattern, so that no shortcut helps.
#define MATRIX                                                                                                         \
    "convolve=0.11 -0.07 0.23 0.05 -0.13 0.31 0.17 -0.29 0.41 0.02 -0.19 0.37 0.83 -0.43 0.07 0.29 -0.11 0.53 0.13 "   \
    "-0.31 0.19 0.03 -0.23 0.09 -0.59"

// The cases if the user names neither chains nor formats.
static const struct {
    const char *chain;
    enum pixfmt format;
} usual[] = {
    {"none", PIXFMT_NV21},   {"none", PIXFMT_YUYV},    {"gray", PIXFMT_RGBA},      {"maxrgb", PIXFMT_RGBA},
    {"blur=2", PIXFMT_RGBA}, {MATRIX, PIXFMT_RGBA},    {"emboss", PIXFMT_RGBA},    {"blur=2,gray,emboss", PIXFMT_NV21},
    {"otsu", PIXFMT_RGBA},   {"ridge=3", PIXFMT_RGBA}, {"warp=road", PIXFMT_RGBA},
};
enum { USUAL = sizeof(usual) / sizeof(*usual) };

const struct picture_measure picture_measures[PICTURE_MEASURES] = {
    {.name = "histogram", .measures = MEASURE_HISTOGRAM},
    {.name = "columns", .measures = MEASURE_COLUMNS},
    {.name = "rows", .measures = MEASURE_ROWS},
    {.name = "levels", .measures = MEASURE_HISTOGRAM, .levels = true},
};

// Adds the row. For `variants`, adds a row for each variant that fits the chain instead.
static void add_variants(struct filter_bench *b, struct filter_row *row)
{
    const struct path_setup setup = {
        .kind = row->kind, .device = b->session->device, .input = row->shape, .chain = row->chain};
    const char *names[PATH_VARIANTS] = {NULL};
    const int count = b->variants ? path_variants(&setup, names) : 1;
    for (int i = 0; i < count; i++) {
        row->variant = names[i];
        b->row = xgrow(b->row, (size_t)b->rows, sizeof(*row));
        b->row[b->rows++] = *row;
    }
}

// Adds a row with this chain or measure in a format, at each size that its path is measured at, with each number of
// threads.
static bool add_rows(struct filter_bench *b, struct filter_row row, enum pixfmt format)
{
    static const struct option_size cpu_sizes[] = {{1920, 1080}, {3840, 2160}};
    static const struct option_size gpu_sizes[] = {{7680, 4320}}; // larger than every cache
    const struct chosen *chosen = b->session->chosen;
    const bool device = path_kind_info(row.kind)->needs_device,
               on_gpu = device && !(b->session->device->info.type & CL_DEVICE_TYPE_CPU);
    const struct option_size *usual_sizes = on_gpu ? gpu_sizes : cpu_sizes;
    const struct option_size *size = chosen->cases.sizes ? chosen->cases.size : usual_sizes;
    int sizes = chosen->cases.sizes;
    if (sizes == 0)
        sizes = device ? 1 : 2;
    for (int s = 0; s < sizes; s++) {
        if (!cases_shape(&row.shape, format, size[s]))
            return false;
        for (int t = 0; t < chosen_thread_counts(b->session, row.kind); t++) {
            row.threads = chosen_threads(b->session, row.kind, t);
            add_variants(b, &row);
        }
    }
    return true;
}

// Adds the example of each filter as a chain.
static bool add_examples(struct cases *cases)
{
    for (int i = 0; filters[i]; i++) {
        if (!cases_add_chain(cases, filters[i]->example))
            return false;
    }
    return true;
}

// Adds the usual chains. `once`: each only once, because they are combined with formats.
static bool add_usual_chains(struct cases *cases, bool once)
{
    for (int i = 0; i < USUAL; i++) {
        bool seen = false;
        for (int k = 0; once && k < i; k++)
            seen = seen || strcmp(usual[k].chain, usual[i].chain) == 0;
        if (!seen && !cases_add_chain(cases, usual[i].chain))
            return false;
    }
    return true;
}

// Adds the measures to a path. The gl path has none of its own: the host computes them.
static bool add_measures(struct filter_bench *b, enum path_kind path)
{
    const struct path_kind_info *kind = path_kind_info(path);
    const struct chosen *chosen = b->session->chosen;
    for (int i = 0; i < chosen->measures; i++) {
        const struct picture_measure *measure = chosen->measure[i];
        if (kind->needs_gl || (kind->needs_device && measure->levels))
            continue;
        if (!add_rows(b, (struct filter_row){.text = measure->name, .measure = measure, .kind = path}, PIXFMT_RGBA))
            return false;
    }
    return true;
}

static bool choose_rows(struct filter_bench *b)
{
    struct chosen *chosen = b->session->chosen;
    struct cases *cases = &chosen->cases;
    const bool measures = chosen->measures > 0;
    // Chain i with its own format.
    const bool pairs = cases->chains == 0 && cases->formats == 0 && !b->variants && !measures;
    for (int i = 0; pairs && i < PICTURE_MEASURES; i++)
        chosen->measure[chosen->measures++] = &picture_measures[i];
    if (cases->chains == 0 && !measures && !(b->variants ? add_examples(cases) : add_usual_chains(cases, !pairs)))
        return false;
    if (cases->formats == 0 && !pairs)
        cases->format[cases->formats++] = PIXFMT_RGBA;
    for (int p = 0; p < chosen->paths; p++) {
        for (int c = 0; c < cases->chains; c++) {
            for (int i = 0; i < (pairs ? 1 : cases->formats); i++) {
                const struct case_chain *chain = &cases->chain[c];
                const struct filter_row row = {.text = chain->text, .chain = &chain->chain, .kind = chosen->path[p]};
                if (!add_rows(b, row, pairs ? usual[c].format : cases->format[i]))
                    return false;
            }
        }
        if (!add_measures(b, chosen->path[p]))
            return false;
    }
    if (b->rows == 0)
        log_error("no path has these measures; use -p cpu");
    return b->rows > 0;
}

// ---- the cases ----

// Returns a copy that reads and writes half as many bytes each as the row reads and writes together, or a read of as
// many bytes as a measure on the host reads. NULL: logged.
static const struct bench_case *copy_for(struct filter_bench *b, const struct filter_row *row)
{
    struct image_shape rgba = {.width = row->shape.width, .height = row->shape.height};
    char why[CHAIN_ERROR];
    const bool on_device = path_kind_info(row->kind)->needs_device, reads = row->measure && !on_device;
    if (row->chain)
        chain_output_size(row->chain, &rgba.width, &rgba.height, why); // the open path has this size
    const size_t bytes = image_bytes(&row->shape) + (row->chain ? image_bytes(&rgba) : 0);
    struct device *const device = on_device ? b->session->device : NULL;
    struct plain_copy *added = &b->copy[b->copies];
    *added = (struct plain_copy){
        .pool = b->session->pool,
        .device = device,
        .threads = row->threads,
        .bytes = reads ? bytes : bytes / 2,
        .sources = row->pictures->count,
        .reads = reads,
    };
    for (int i = 0; i < b->copies; i++) {
        if (same_copy(&b->copy[i], added))
            return &b->cases[b->rows + i];
    }
    if (!open_copy(added))
        return NULL;
    struct bench_case *c = &b->cases[b->rows + b->copies++];
    *c = (struct bench_case){.session = b->session, .data = added, .time = time_copy, .silent = true, .warm_runs = 2};
    return c;
}

static double time_row(struct bench_case *c, int runs)
{
    struct filter_row *row = c->data;
    struct timing timing;
    if (!run_subject(row, runs, &timing))
        return -1;
    row->host.value = timing.wall_ms;
    return timing.device_ms / 1e3;
}

static void finish_row(struct bench_case *c)
{
    const struct filter_row *row = c->data;
    const double ms = c->figure.value;
    if (row->copy && row->copy->values.count > 0)
        bench_derive(c, TEST_COPY, 100 * row->copy->figure.value / ms);
    if (!row->variant)
        bench_derive(c, TEST_MORE, (double)row->shape.width * row->shape.height / ms / 1e3);
    else if (row->generic->values.count > 0)
        bench_derive(c, TEST_MORE, row->generic->figure.value / ms);
    if (c->parts && ms > 1.05 * row->host.figure.value)
        snprintf(c->figure.note, sizeof(c->figure.note),
                 "the device's clock reports longer times than the host's; use '%s'", row->host.figure.test);
}

static void name_row(const struct filter_row *row, struct figure *figure)
{
    char text[FIGURE_CASE];
    snprintf(figure->parameters, sizeof(figure->parameters), "case=%s format=%s path=%s threads=%d size=%dx%d%s%s",
             figure_case(row->text, text), pixfmt_info(row->shape.format)->name, path_kind_name(row->kind),
             row->threads, row->shape.width, row->shape.height, text_if(row->variant, " variant="),
             text_or(row->variant, ""));
}

// Builds the row's chain, and finds the copy to compare with.
static void open_row(struct filter_bench *b, struct bench_case *c, struct filter_row *row)
{
    const struct path_kind_info *kind = path_kind_info(row->kind);
    char *error = NULL;
    *c = (struct bench_case){.session = b->session,
                             .data = row,
                             .time = time_row,
                             .check = check_row,
                             .finish = finish_row,
                             .warm_runs = 4,
                             .part = &row->host,
                             .parts = kind->needs_device || kind->needs_gl};
    name_row(row, &c->figure);
    row->host.figure = c->figure;
    snprintf(row->host.figure.test, sizeof(row->host.figure.test), "%s", b->session->measurement->test[TEST_HOST].name);
    snprintf(row->what, sizeof(row->what), "%.80s from %s %dx%d on the %s path%s%s", row->text,
             pixfmt_info(row->shape.format)->name, row->shape.width, row->shape.height, path_kind_name(row->kind),
             text_if(row->variant, ", variant "), text_or(row->variant, ""));
    b->session->error[0] = '\0';
    const bool opened = open_subject(row, b->session, &error);
    if (!opened)
        bench_fail(c, "%s", error ? error : b->session->error);
    else if (!(row->copy = copy_for(b, row)))
        bench_fail(c, "%s", b->session->error);
    if (!opened)
        log_error("cannot measure %s: %s", row->what, error ? error : "see above");
    free(error);
}

static void measure(struct filter_bench *b)
{
    int opened = 0;
    for (; opened < b->rows && !b->session->stopped; opened++) {
        struct filter_row *row = &b->row[opened];
        bench_progress(b->session, "building, %d of %d: %.60s", opened + 1, b->rows, row->text);
        open_row(b, &b->cases[opened], row);
        if (row->variant && strcmp(row->variant, "generic") == 0)
            row->generic = &b->cases[opened];
        else
            row->generic = opened > 0 ? row[-1].generic : NULL;
    }
    if (opened == b->rows)
        bench_measure(b->session, b->cases, b->rows + b->copies);
}

static bool run(struct bench_session *session, bool variants)
{
    struct filter_bench b = {.session = session, .variants = variants};
    struct chosen *chosen = session->chosen;
    if (chosen->threads == 0) {
        chosen->thread[chosen->threads++] = 1;
        if (!variants && workers_available() > 1)
            chosen->thread[chosen->threads++] = workers_available();
    }
    const bool ok = choose_rows(&b);
    b.copy = xcalloc((size_t)b.rows + 1, sizeof(*b.copy));
    b.cases = xcalloc(2 * (size_t)b.rows + 1, sizeof(*b.cases));
    if (ok)
        measure(&b);
    for (int i = 0; i < b.rows; i++)
        close_subject(&b.row[i]);
    for (int i = 0; i < b.copies; i++)
        close_copy(&b.copy[i]);
    free(b.cases);
    free(b.copy);
    free(b.row);
    return ok;
}

static bool run_filters(struct bench_session *session)
{
    return run(session, false);
}

static bool run_variants(struct bench_session *session)
{
    return run(session, true);
}

#define TIME "time of a pass, from an image in memory to RGBA in memory; a device: in its memory, by its clock"
#define COPY                                                                                                           \
    "time of a plain copy of as many bytes, in % of the time of the case; a measure on the cpu path: of a plain read"
#define HOST "the time by the host's clock, for paths on a device"

const struct measurement measurement_filters = {
    .name = "filters",
    .details =
        "times whole passes, from an image in memory to RGBA in memory. On an OpenCL device, it uses the "
        "device's memory and clock; on gl, the clock of GL. 'filters.copy' is the time of a plain copy of the same "
        "number of bytes. A pass that reads its input once and writes its output once cannot be much faster than the "
        "copy. A measure only reads, so its limit is a plain read of the input on the cpu path, and a copy of half as "
        "many bytes on a device. 'levels' are the mean and the extremes, which the host computes from the histogram: "
        "only the cpu path has them. The gl path has no measures. Defaults: 11 standard chains, all measures; paths "
        "cpu and opencl; 1920x1080 and 3840x2160 on the cpu path, 7680x4320 on a GPU; 1 thread and one thread per CPU.",
    .test = {{.name = "filters", .unit = "ms", .definition = TIME},
             {.name = "filters.copy", .unit = "%", .definition = COPY},
             {.name = "filters.speed", .unit = "Mpixel/s", .definition = "pixels of the input in this time"},
             {.name = "filters.host", .unit = "ms", .definition = HOST}},
    .has_measures = true,
    .run = run_filters,
};

const struct measurement measurement_variants = {
    .name = "variants",
    .details =
        "times the generic code of each case, and each variant that fits. A variant computes the same bytes "
        "faster on some devices or processors. 'variants.speedup' shows how many times as fast it is. A chain of "
        "several passes uses the variant in every pass that it fits, and the generic code in the others. Defaults: the "
        "example of each filter; format rgba; paths and sizes as 'filters'; 1 thread.",
    .test = {{.name = "variants", .unit = "ms", .definition = TIME},
             {.name = "variants.copy", .unit = "%", .definition = COPY},
             {.name = "variants.speedup", .unit = "x", .definition = "speed divided by that of the generic code"},
             {.name = "variants.host", .unit = "ms", .definition = HOST}},
    .run = run_variants,
};
