// filters.c: the measurements `filters` and `variants`: whole chains, as the paths run them or variant by variant
#include "command/bench/filters.h"

#include "base/log.h"
#include "command/command.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static bool measure(struct filters_bench *bench)
{
    struct trial **trials = calloc((size_t)(2 * bench->rows), sizeof(*trials));
    const struct bench_options *o = bench->wish->options;
    bool ok = trials != NULL;
    int count = 0;
    for (int i = 0; trials && i < bench->rows && !command_interrupted(); i++) {
        bench_progress("building and checking, %d of %d: %.60s", i + 1, bench->rows, bench->row[i]->chain->text);
        if (filters_open(bench, bench->row[i]))
            trials[count++] = &bench->row[i]->trial;
        else
            ok = false;
    }
    for (int i = 0; trials && i < bench->copies; i++)
        trials[count++] = &bench->copy[i]->trial;
    ok = trials && count > 0 && trials_run(trials, count, o->rounds, o->seconds) && ok;
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
static const struct filters_row *generic_of(const struct filters_bench *bench, int at)
{
    const struct filters_row *row = bench->row[at];
    while (at > 0 && strcmp(bench->row[at]->variant, "generic") != 0)
        at--;
    const struct filters_row *generic = bench->row[at];
    return generic->chain == row->chain && generic->trial.ms.count > 0 ? generic : NULL;
}

static void add_variant(json_t *json, const struct filters_bench *bench, int at)
{
    const struct filters_row *row = bench->row[at], *generic = generic_of(bench, at);
    json_object_set_new(json, "variant", json_string(row->variant));
    json_object_set_new(
        json, "speedup",
        generic ? json_real(samples_percentile(&generic->trial.ms, 50) / samples_percentile(&row->trial.ms, 50))
                : json_null());
}

static json_t *row_json(const struct filters_bench *bench, const struct filters_row *row)
{
    const double ms = samples_percentile(&row->trial.ms, 50);
    const double copy_ms = samples_percentile(&row->copy->trial.ms, 50);
    const double pixels = (double)row->shape.width * row->shape.height;
    const char *device = path_kind_info(row->path)->needs_device ? bench->device->info.name : bench->cpu_name;
    json_t *samples = json_array();
    for (int i = 0; i < row->trial.ms.count; i++)
        json_array_append_new(samples, json_real(row->trial.ms.value[i]));
    json_t *json = json_pack("{s:o,s:s,s:i,s:i,s:s,s:i,s:o,s:f,s:f,s:f,s:f}", "case", bench_json_text(row->chain->text),
                             "format", pixfmt_info(row->shape.format)->name, "width", row->shape.width, "height",
                             row->shape.height, "path", path_kind_name(row->path), "threads", row->threads, "device",
                             bench_json_text(device), "ms_median", ms, "ms_p95", samples_percentile(&row->trial.ms, 95),
                             "mpix_s", pixels / ms / 1e3, "copy_fraction", copy_ms / ms);
    json_object_update_new(json,
                           json_pack("{s:f,s:f,s:f,s:s,s:i,s:i,s:o}", "ms_p5", samples_percentile(&row->trial.ms, 5),
                                     "wall_ms_median", samples_percentile(&row->trial.wall_ms, 50), "copy_ms_median",
                                     copy_ms, "copy_way", bench_copy_way(row->copy->copy), "rounds",
                                     row->trial.ms.count, "runs", row->trial.runs, "samples_ms", samples));
    return json;
}

// A device's clock that counts more than the host's cannot be right.
static void check_clock(const struct filters_bench *bench)
{
    for (int i = 0; i < bench->rows; i++) {
        const struct trial *trial = &bench->row[i]->trial;
        if (samples_percentile(&trial->ms, 50) > 1.05 * samples_percentile(&trial->wall_ms, 50)) {
            log_warn("the clock of %s reports longer times than the host's clock; use the column 'wall ms'",
                     bench->device ? bench->device->info.name : bench->cpu_name);
            return;
        }
    }
}

static json_t *rows_json(const struct filters_bench *bench)
{
    json_t *rows = json_array();
    for (int i = 0; i < bench->rows; i++) {
        const struct filters_row *row = bench->row[i];
        if (!row->copy || row->trial.ms.count == 0 || row->copy->trial.ms.count == 0)
            continue;
        json_t *json = row_json(bench, row);
        if (bench->variants)
            add_variant(json, bench, i);
        json_array_append_new(rows, json);
    }
    return rows;
}

static void finish(struct filters_bench *bench)
{
    for (int i = 0; i < bench->rows; i++) {
        subject_close(bench->row[i]->subject);
        trial_finish(&bench->row[i]->trial);
        free(bench->row[i]);
    }
    for (int i = 0; i < bench->copies; i++) {
        bench_copy_close(bench->copy[i]->copy);
        trial_finish(&bench->copy[i]->trial);
        free(bench->copy[i]);
    }
    free(bench->row);
    free(bench->copy);
    bench_memory_close(bench->memory);
    device_close(bench->device);
}

static int run(struct bench_wish *wish, bool variants)
{
    struct filters_bench bench = {.wish = wish, .variants = variants};
    json_t *base = NULL;
    int code = EXIT_NOTHING;
    bench_cpu_name(bench.cpu_name);
    if (wish->options->compare && !(base = bench_base_read(wish->options->compare)))
        return code;
    if (!wish->options->paths) {
        wish->path[wish->paths++] = PATH_CPU;
        wish->path[wish->paths++] = PATH_OPENCL;
    }
    if (variants && wish->threads == 0)
        wish->thread[wish->threads++] = 1;
    bench_default_threads(wish);
    if (bench_open_device(wish, NULL, &bench.device) && (bench.memory = bench_memory_open(wish->options->pictures))) {
        code = EXIT_USAGE;
        if (filters_choose(&bench)) {
            const bool ok = measure(&bench);
            check_clock(&bench);
            code = bench_report(wish, rows_json(&bench), base, variants ? variant_columns : columns);
            code = code == EXIT_OK && !ok ? EXIT_FAILED_SOME : code;
        }
    }
    finish(&bench);
    json_decref(base);
    return code;
}

static int filters_run(struct bench_wish *wish)
{
    return run(wish, false);
}

static int variants_run(struct bench_wish *wish)
{
    return run(wish, true);
}

extern const struct measurement filters_measurement, variants_measurement;
const struct measurement filters_measurement = {.name = "filters", .run = filters_run};
const struct measurement variants_measurement = {.name = "variants", .run = variants_run};
