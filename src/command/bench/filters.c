// filters.c: the measurements `filters` and `variants`: whole chains and measures, each beside a plain copy or read
#include "command/bench/subject.h"

#include "base/log.h"
#include "base/workers.h"
#include "command/shared.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct copy_row {
    struct copy *copy;
    struct copy_setup setup;
    struct trial trial;
};

struct filters_row {
    const char *text;
    const struct chain *chain;           // NULL: a measure
    const struct bench_measure *measure; // NULL: a chain
    struct image_shape shape;
    enum path_kind path;
    int threads;
    const char *variant;           // NULL: the path chooses
    struct bench_subject *subject; // NULL: it cannot be built, or its output is wrong
    struct trial trial;
    struct copy_row *copy;
};

struct filters_bench {
    struct bench *bench;
    bool variants; // a row for the generic code, and for each variant that fits
    struct filters_row *row;
    struct copy_row *copy; // at most one for each row
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
} cases[] = {
    {"none", PIXFMT_NV21},   {"none", PIXFMT_YUYV},    {"gray", PIXFMT_RGBA},      {"maxrgb", PIXFMT_RGBA},
    {"blur=2", PIXFMT_RGBA}, {MATRIX, PIXFMT_RGBA},    {"emboss", PIXFMT_RGBA},    {"blur=2,gray,emboss", PIXFMT_NV21},
    {"otsu", PIXFMT_RGBA},   {"ridge=3", PIXFMT_RGBA}, {"warp=road", PIXFMT_RGBA},
};
enum { CASES = sizeof(cases) / sizeof(*cases) };

const struct bench_measure bench_measures[BENCH_MEASURES] = {
    {.name = "histogram", .measures = MEASURE_HISTOGRAM},
    {.name = "columns", .measures = MEASURE_COLUMNS},
    {.name = "rows", .measures = MEASURE_ROWS},
    {.name = "levels", .measures = MEASURE_HISTOGRAM, .levels = true},
};

static bool add_row(struct filters_bench *f, const struct filters_row *row)
{
    struct filters_row *grown = realloc(f->row, (size_t)(f->rows + 1) * sizeof(*grown));
    if (!grown) {
        log_error("cannot measure: out of memory");
        return false;
    }
    f->row = grown;
    f->row[f->rows++] = *row;
    return true;
}

// Adds the row. For `bench variants`, adds a row for each variant that fits the chain instead.
static bool add_variants(struct filters_bench *f, struct filters_row *row)
{
    const struct path_setup setup = {
        .kind = row->path, .device = f->bench->device, .input = row->shape, .chain = row->chain};
    const char *names[PATH_VARIANTS] = {NULL};
    const int count = f->variants ? path_variants(&setup, names) : 1;
    for (int i = 0; i < count; i++) {
        row->variant = names[i];
        if (!add_row(f, row))
            return false;
    }
    return true;
}

// Adds a row with this chain or measure in a format, at each size that its path is measured at, with each number of
// threads.
static bool add_rows(struct filters_bench *f, struct filters_row row, enum pixfmt format)
{
    static const struct option_size cpu_sizes[] = {{1920, 1080}, {3840, 2160}};
    static const struct option_size gpu_sizes[] = {{7680, 4320}}; // larger than every cache
    const struct bench *bench = f->bench;
    const enum path_kind path = row.path;
    const bool device = path_kind_info(path)->needs_device,
               on_gpu = device && !(bench->device->info.type & CL_DEVICE_TYPE_CPU);
    const struct option_size *size = bench->cases.sizes ? bench->cases.size : on_gpu ? gpu_sizes : cpu_sizes;
    const int sizes = bench->cases.sizes ? bench->cases.sizes : device ? 1 : 2;
    for (int s = 0; s < sizes; s++) {
        if (!cases_shape(&row.shape, format, size[s]))
            return false;
        for (int t = 0; t < bench_thread_counts(bench, path); t++) {
            row.threads = bench_threads(bench, path, t);
            if (!add_variants(f, &row))
                return false;
        }
    }
    return true;
}

// Adds the example of each filter as a chain.
static bool add_examples(struct bench *bench)
{
    for (int i = 0; filters[i]; i++) {
        if (!cases_add_chain(&bench->cases, filters[i]->example))
            return false;
    }
    return true;
}

// Adds the chains of the default cases. `once`: each only once, because they are combined with formats.
static bool add_default_chains(struct bench *bench, bool once)
{
    for (int i = 0; i < CASES; i++) {
        bool seen = false;
        for (int k = 0; once && k < i; k++)
            seen = seen || strcmp(cases[k].chain, cases[i].chain) == 0;
        if (!seen && !cases_add_chain(&bench->cases, cases[i].chain))
            return false;
    }
    return true;
}

// Adds the measures to a path. The gl path has none of its own: the host computes them.
static bool add_measures(struct filters_bench *f, enum path_kind path)
{
    const struct path_kind_info *kind = path_kind_info(path);
    for (int i = 0; i < f->bench->measures; i++) {
        const struct bench_measure *measure = f->bench->measure[i];
        if (kind->needs_gl || (kind->needs_device && measure->levels))
            continue;
        if (!add_rows(f, (struct filters_row){.text = measure->name, .measure = measure, .path = path}, PIXFMT_RGBA))
            return false;
    }
    return true;
}

static bool choose_rows(struct filters_bench *f)
{
    struct bench *bench = f->bench;
    const bool measures = bench->measures > 0;
    // Chain i with its own format.
    const bool pairs = bench->cases.chains == 0 && bench->cases.formats == 0 && !f->variants && !measures;
    for (int i = 0; pairs && i < BENCH_MEASURES; i++)
        bench->measure[bench->measures++] = &bench_measures[i];
    if (bench->cases.chains == 0 && !measures &&
        !(f->variants ? add_examples(bench) : add_default_chains(bench, !pairs)))
        return false;
    if (bench->cases.formats == 0 && !pairs)
        bench->cases.format[bench->cases.formats++] = PIXFMT_RGBA;
    for (int p = 0; p < bench->paths; p++) {
        for (int c = 0; c < bench->cases.chains; c++) {
            for (int i = 0; i < (pairs ? 1 : bench->cases.formats); i++) {
                const struct case_chain *chain = &bench->cases.chain[c];
                const struct filters_row row = {.text = chain->text, .chain = &chain->chain, .path = bench->path[p]};
                if (!add_rows(f, row, pairs ? cases[c].format : bench->cases.format[i]))
                    return false;
            }
        }
        if (!add_measures(f, bench->path[p]))
            return false;
    }
    if (f->rows == 0)
        log_error("no path has these measures; use -p cpu");
    return f->rows > 0;
}

// Returns a copy that reads and writes half as many bytes each as the row reads and writes together, or a read of as
// many bytes as a measure on the host reads. NULL: logged.
static struct copy_row *copy_for(struct filters_bench *f, const struct filters_row *row, int pictures)
{
    struct image_shape rgba = {.width = row->shape.width, .height = row->shape.height};
    char why[CHAIN_ERROR];
    const bool on_device = path_kind_info(row->path)->needs_device, reads = row->measure && !on_device;
    if (row->chain)
        chain_output_size(row->chain, &rgba.width, &rgba.height, why); // the open path has this size
    const size_t bytes = image_bytes(&row->shape) + (row->chain ? image_bytes(&rgba) : 0);
    const struct copy_setup setup = {
        .device = on_device ? f->bench->device : NULL,
        .threads = row->threads,
        .bytes = reads ? bytes : bytes / 2,
        .sources = pictures,
        .reads = reads,
    };
    for (int i = 0; i < f->copies; i++) {
        const struct copy_setup *other = &f->copy[i].setup;
        if (other->device == setup.device && other->threads == setup.threads && other->bytes == setup.bytes &&
            other->sources == setup.sources && other->reads == setup.reads)
            return &f->copy[i];
    }
    struct copy_row *added = &f->copy[f->copies];
    if (!(added->copy = copy_open(f->bench->memory, &setup)))
        return NULL;
    added->setup = setup;
    added->trial = (struct trial){.run = copy_run, .context = added->copy, .warm_runs = 2};
    f->copies++;
    return added;
}

static void describe(const struct filters_row *row, char text[200])
{
    snprintf(text, 200, "%.80s from %s %dx%d on the %s path%s%s", row->text, pixfmt_info(row->shape.format)->name,
             row->shape.width, row->shape.height, path_kind_name(row->path), row->variant ? ", variant " : "",
             row->variant ? row->variant : "");
}

// Builds the row's chain, checks its output, and finds the copy to compare with. False: logged.
static bool open_row(struct filters_bench *f, struct filters_row *row)
{
    const struct bench_subject_setup setup = {
        .kind = row->path,
        .device = f->bench->device,
        .gl = f->bench->gl,
        .threads = row->threads,
        .tuned = &f->bench->tuned,
        .shape = row->shape,
        .chain = row->chain,
        .variant = row->variant,
        .measure = row->measure,
    };
    char what[200], *error = NULL;
    describe(row, what);
    struct bench_subject *subject = bench_subject_open(f->bench->memory, &setup, &error);
    if (!subject) {
        log_error("cannot measure %s: %s", what, error ? error : "see above");
        free(error);
        return false;
    }
    if (!bench_subject_check(subject, what)) {
        bench_subject_close(subject);
        return false;
    }
    row->subject = subject;
    row->trial = (struct trial){.run = bench_subject_run, .context = subject, .warm_runs = 4};
    return (row->copy = copy_for(f, row, bench_memory_pictures(f->bench->memory, &row->shape)->count)) != NULL;
}

static bool measure(struct filters_bench *f)
{
    struct trial **trials = calloc((size_t)(2 * f->rows), sizeof(*trials));
    const struct bench_options *o = f->bench->options;
    f->copy = calloc((size_t)f->rows, sizeof(*f->copy));
    bool ok = trials && f->copy;
    int count = 0;
    for (int i = 0; trials && f->copy && i < f->rows && !process_interrupted(); i++) {
        bench_progress("building and checking, %d of %d: %.60s", i + 1, f->rows, f->row[i].text);
        if (open_row(f, &f->row[i]))
            trials[count++] = &f->row[i].trial;
        else
            ok = false;
    }
    for (int i = 0; i < f->copies; i++)
        trials[count++] = &f->copy[i].trial;
    ok = count > 0 && trials_run(trials, count, o->rounds, o->seconds) && ok;
    free(trials);
    return ok;
}

// ---- the report ----

static const struct bench_column columns[] = {
    {COLUMN_TEXT, "case", "case", 0},
    {COLUMN_TEXT, "format", "format", 0},
    {COLUMN_SIZE, "width", "size", 0},
    {COLUMN_TEXT, "path", "path", 0},
    {COLUMN_NUMBER, "threads", "threads", 0},
    {COLUMN_NUMBER, "ms_median", "ms", 3},
    {COLUMN_NUMBER, "ms_p5", "p5", 3},
    {COLUMN_NUMBER, "ms_p95", "p95", 3},
    {COLUMN_NUMBER, "mpix_s", "Mpixel/s", 0},
    {COLUMN_NUMBER, "wall_ms_median", "wall ms", 3},
    {COLUMN_NUMBER, "copy_ms_median", "copy ms", 3},
    {COLUMN_PERCENT, "copy_fraction", "of copy", 0},
    {COLUMN_TEXT, "copy_way", "copy by", 0},
    {0},
};

static const struct bench_column variant_columns[] = {
    {COLUMN_TEXT, "case", "case", 0},
    {COLUMN_TEXT, "format", "format", 0},
    {COLUMN_SIZE, "width", "size", 0},
    {COLUMN_TEXT, "path", "path", 0},
    {COLUMN_NUMBER, "threads", "threads", 0},
    {COLUMN_WORD, "variant", "variant", 0},
    {COLUMN_NUMBER, "ms_median", "ms", 3},
    {COLUMN_NUMBER, "ms_p5", "p5", 3},
    {COLUMN_NUMBER, "ms_p95", "p95", 3},
    {COLUMN_NUMBER, "mpix_s", "Mpixel/s", 0},
    {COLUMN_NUMBER, "speedup", "x generic", 2},
    {COLUMN_PERCENT, "copy_fraction", "of copy", 0},
    {0},
};

// Returns the row of the generic code, the first row of a variant's case. NULL if it was not measured.
static const struct filters_row *generic_of(const struct filters_bench *f, int at)
{
    const struct filters_row *row = &f->row[at];
    while (at > 0 && strcmp(f->row[at].variant, "generic") != 0)
        at--;
    const struct filters_row *generic = &f->row[at];
    return generic->chain == row->chain && generic->trial.ms.count > 0 ? generic : NULL;
}

static void add_variant(json_t *json, const struct filters_bench *f, int at)
{
    const struct filters_row *row = &f->row[at], *generic = generic_of(f, at);
    json_object_set_new(json, "variant", json_string(row->variant));
    json_object_set_new(
        json, "speedup",
        generic ? json_real(samples_percentile(&generic->trial.ms, 50) / samples_percentile(&row->trial.ms, 50))
                : json_null());
}

static json_t *row_json(const struct filters_bench *f, const struct filters_row *row)
{
    const double ms = samples_percentile(&row->trial.ms, 50);
    const double copy_ms = samples_percentile(&row->copy->trial.ms, 50);
    const double pixels = (double)row->shape.width * row->shape.height;
    json_t *json =
        json_pack("{s:o,s:s,s:i,s:i,s:s,s:i,s:o,s:f,s:f,s:f,s:f}", "case", text_json(row->text), "format",
                  pixfmt_info(row->shape.format)->name, "width", row->shape.width, "height", row->shape.height, "path",
                  path_kind_name(row->path), "threads", row->threads, "device",
                  text_json(bench_device_name(f->bench, row->path)), "ms_median", ms, "ms_p95",
                  samples_percentile(&row->trial.ms, 95), "mpix_s", pixels / ms / 1e3, "copy_fraction", copy_ms / ms);
    json_object_update_new(json,
                           json_pack("{s:f,s:f,s:f,s:s,s:i,s:i,s:o}", "ms_p5", samples_percentile(&row->trial.ms, 5),
                                     "wall_ms_median", samples_percentile(&row->trial.wall_ms, 50), "copy_ms_median",
                                     copy_ms, "copy_way", copy_way(row->copy->copy), "rounds", row->trial.ms.count,
                                     "runs", row->trial.runs, "samples_ms", bench_samples_json(&row->trial.ms)));
    return json;
}

// Warns if a device's clock reports longer times than the host's: it must be wrong.
static void check_clock(const struct filters_bench *f)
{
    for (int i = 0; i < f->rows; i++) {
        const struct trial *trial = &f->row[i].trial;
        if (samples_percentile(&trial->ms, 50) > 1.05 * samples_percentile(&trial->wall_ms, 50)) {
            log_warn("the clock of %s reports longer times than the host's clock; use the column 'wall ms'",
                     f->bench->device ? f->bench->device->info.name : f->bench->cpu_name);
            return;
        }
    }
}

static json_t *rows_json(const struct filters_bench *f)
{
    json_t *rows = json_array();
    for (int i = 0; i < f->rows; i++) {
        const struct filters_row *row = &f->row[i];
        if (!row->copy || row->trial.ms.count == 0 || row->copy->trial.ms.count == 0)
            continue;
        json_t *json = row_json(f, row);
        if (f->variants)
            add_variant(json, f, i);
        json_array_append_new(rows, json);
    }
    return rows;
}

static void finish(struct filters_bench *f)
{
    for (int i = 0; i < f->rows; i++) {
        bench_subject_close(f->row[i].subject);
        trial_finish(&f->row[i].trial);
    }
    for (int i = 0; i < f->copies; i++) {
        copy_close(f->copy[i].copy);
        trial_finish(&f->copy[i].trial);
    }
    free(f->row);
    free(f->copy);
}

static int run(struct bench *bench, bool variants)
{
    struct filters_bench f = {.bench = bench, .variants = variants};
    int code = EXIT_USAGE;
    if (bench->paths == 0) {
        bench->path[bench->paths++] = PATH_CPU;
        bench->path[bench->paths++] = PATH_OPENCL;
    }
    if (bench->threads == 0) {
        bench->thread[bench->threads++] = 1;
        if (!variants && workers_available() > 1)
            bench->thread[bench->threads++] = workers_available();
    }
    if (!bench_open_device(bench, NULL) || !bench_open_gl(bench))
        return EXIT_NOTHING;
    if (choose_rows(&f)) {
        const bool ok = measure(&f);
        check_clock(&f);
        code = bench_report(bench, rows_json(&f), variants ? variant_columns : columns, ok);
    }
    finish(&f);
    bench_close_gl(bench);
    return code;
}

static int filters_run(struct bench *bench)
{
    return run(bench, false);
}

static int variants_run(struct bench *bench)
{
    return run(bench, true);
}

const struct measurement filters_measurement = {.name = "filters", .run = filters_run};
const struct measurement variants_measurement = {.name = "variants", .run = variants_run};
