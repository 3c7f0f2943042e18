// paths.c: the measurement `paths`: whole frames through each path, from the source's memory to a texture
#include "command/bench/memory.h"
#include "command/bench/trial.h"
#include "path/passes_json.h"

#include "base/log.h"
#include "base/workers.h"
#include "command/shared.h"
#include "measure/frames.h"
#include "measure/offscreen.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_size camera_sizes[] = {{640, 480}, {1280, 720}, {1920, 1080}, {3840, 2160}};
enum { CAMERA_SIZES = sizeof(camera_sizes) / sizeof(*camera_sizes), DEPTHS = 2 };

struct paths_row {
    const struct case_chain *chain;
    struct image_shape shape;
    enum path_kind kind;
    int threads, depth;
    struct frames frames;
    struct samples part_ms[FRAME_PARTS]; // one value per round
    struct trial trial;
};

struct paths_bench {
    struct bench *bench;
    struct offscreen offscreen;
    bool failed;           // there is no device
    struct paths_row *row; // DEPTHS rows for each case: with one frame in flight, then with two
    int rows;
};

static bool run_frames(void *context, int runs, struct trial_time *time)
{
    struct paths_row *row = context;
    const bool ok = frames_run(&row->frames, runs, &time->ms);
    time->wall_ms = time->ms;
    return ok;
}

static void keep_parts(void *context)
{
    struct paths_row *row = context;
    for (int i = 0; i < FRAME_PARTS; i++) {
        if (row->frames.part[i].count > 0)
            samples_add(&row->part_ms[i], row->frames.part[i].sum_ms / row->frames.part[i].count);
    }
}

// ---- what is measured ----

// Adds the row with each number of frames in flight.
static bool add_depths(struct paths_bench *p, struct paths_row *row)
{
    struct paths_row *grown = realloc(p->row, (size_t)(p->rows + DEPTHS) * sizeof(*grown));
    if (!grown) {
        log_error("cannot measure: out of memory");
        return false;
    }
    p->row = grown;
    for (row->depth = 1; row->depth <= DEPTHS; row->depth++)
        p->row[p->rows++] = *row;
    return true;
}

static bool add_paths(struct paths_bench *p, struct paths_row *row)
{
    const struct bench *bench = p->bench;
    for (int i = 0; i < bench->paths; i++) {
        row->kind = bench->path[i];
        for (int t = 0; t < bench_thread_counts(bench, row->kind); t++) {
            row->threads = bench_threads(bench, row->kind, t);
            if (!add_depths(p, row))
                return false;
        }
    }
    return true;
}

static bool choose_rows(struct paths_bench *p)
{
    struct bench *bench = p->bench;
    const struct option_size *size = bench->cases.sizes ? bench->cases.size : camera_sizes;
    const int sizes = bench->cases.sizes ? bench->cases.sizes : CAMERA_SIZES;
    if (bench->cases.chains == 0 && !cases_add_chain(&bench->cases, "blur=2,gray,emboss"))
        return false;
    if (bench->cases.formats == 0)
        bench->cases.format[bench->cases.formats++] = PIXFMT_NV21;
    for (int s = 0; s < sizes; s++) {
        for (int c = 0; c < bench->cases.chains; c++) {
            for (int f = 0; f < bench->cases.formats; f++) {
                struct paths_row row = {.chain = &bench->cases.chain[c]};
                if (!cases_shape(&row.shape, bench->cases.format[f], size[s]) || !add_paths(p, &row))
                    return false;
            }
        }
    }
    return true;
}

static bool open_row(struct paths_bench *p, struct paths_row *row)
{
    const struct path_setup setup = {
        .kind = row->kind,
        .device = path_kind_info(row->kind)->needs_device ? p->bench->device : NULL,
        .input = row->shape,
        .chain = &row->chain->chain,
        .depth = row->depth,
        .threads = row->threads,
        .tuned = &p->bench->tuned,
        .gl = p->bench->gl ? p->bench->gl : window_gl(p->offscreen.window),
        .textures = p->offscreen.window != NULL,
    };
    char what[200], *error = NULL;
    const struct pictures *pictures = bench_memory_pictures(p->bench->memory, &row->shape);
    if (!pictures || !frames_open(&row->frames, &setup, pictures, &error)) {
        log_error("cannot measure the %s path: %s", path_kind_name(row->kind), error ? error : "see above");
        free(error);
        return false;
    }
    row->trial = (struct trial){
        .run = run_frames,
        .keep = keep_parts,
        .context = row,
        .warm_runs = 4,
        .runs = 4, // so that frames in flight overlap with others
    };
    snprintf(what, sizeof(what), "%.80s from %s %dx%d in sharing mode %s", row->chain->text,
             pixfmt_info(row->shape.format)->name, row->shape.width, row->shape.height,
             path_info(row->frames.path)->sharing);
    return pictures_check(pictures, setup.chain, frames_first, &row->frames, what);
}

static bool measure(struct paths_bench *p)
{
    struct trial **trials = calloc((size_t)p->rows, sizeof(*trials));
    const struct bench_options *o = p->bench->options;
    bool ok = trials != NULL;
    int count = 0;
    for (int i = 0; trials && i < p->rows && !process_interrupted(); i++) {
        bench_progress("building and checking, %d of %d", i + 1, p->rows);
        if (open_row(p, &p->row[i]))
            trials[count++] = &p->row[i].trial;
        else
            ok = false;
    }
    ok = count > 0 && trials_run(trials, count, o->rounds, o->seconds) && ok;
    free(trials);
    return ok;
}

// ---- the report ----

static const struct bench_column columns[] = {
    {COLUMN_TEXT, "case", "case", 0},
    {COLUMN_SIZE, "width", "size", 0},
    {COLUMN_TEXT, "path", "path", 0},
    {COLUMN_TEXT, "rung", "rung", 0},
    {COLUMN_NUMBER, "in_flight", "in flight", 0},
    {COLUMN_NUMBER, "ms_median", "ms", 3},
    {COLUMN_NUMBER, "ms_p5", "p5", 3},
    {COLUMN_NUMBER, "ms_p95", "p95", 3},
    {COLUMN_NUMBER, "fps", "fps", 0},
    {COLUMN_NUMBER, "overlap", "overlap", 2},
    {COLUMN_NUMBER, "latency_ms", "latency", 3},
    {COLUMN_NUMBER, "pinned_ms", "after copy", 3},
    {COLUMN_NUMBER, "copy_in_ms", "copy in", 3},
    {COLUMN_NUMBER, "upload_ms", "upload", 3},
    {COLUMN_NUMBER, "passes_ms", "passes", 3},
    {COLUMN_NUMBER, "share_ms", "share", 3},
    {COLUMN_NUMBER, "download_ms", "download", 3},
    {COLUMN_NUMBER, "texture_ms", "texture", 3},
    {0},
};

static json_t *median_json(const struct samples *samples)
{
    return samples->count > 0 ? json_real(samples_percentile(samples, 50)) : json_null();
}

// `one` is the same case with one frame in flight.
static json_t *row_json(const struct paths_bench *p, const struct paths_row *row, const struct paths_row *one)
{
    const double ms = samples_percentile(&row->trial.ms, 50), one_ms = samples_percentile(&one->trial.ms, 50);
    json_t *json =
        json_pack("{s:o,s:s,s:i,s:i,s:s,s:s,s:o,s:i,s:i,s:o,s:o}", "case", text_json(row->chain->text), "format",
                  pixfmt_info(row->shape.format)->name, "width", row->shape.width, "height", row->shape.height, "path",
                  path_kind_name(row->kind), "rung", path_info(row->frames.path)->sharing, "why",
                  text_json(path_info(row->frames.path)->why), "in_flight", row->depth, "threads", row->threads,
                  "device", text_json(bench_device_name(p->bench, row->kind)), "gl",
                  p->offscreen.window ? text_json(window_gl_name(p->offscreen.window)) : json_null());
    json_object_update_new(json, json_pack("{s:f,s:f,s:f,s:f,s:f}", "ms_median", ms, "ms_p5",
                                           samples_percentile(&row->trial.ms, 5), "ms_p95",
                                           samples_percentile(&row->trial.ms, 95), "fps", 1e3 / ms, "overlap",
                                           one_ms > 0 ? one_ms / ms : 1.0));
    struct path_pass pass[PATH_PASSES];
    const int passes = path_passes(row->frames.path, pass);
    json_object_set_new(json, "passes", passes_json(pass, passes));
    for (int i = 0; i < FRAME_PARTS; i++) {
        char key[32];
        snprintf(key, sizeof(key), "%s_ms", frame_part_names[i]);
        json_object_set_new(json, key, median_json(&row->part_ms[i]));
    }
    json_object_set_new(json, "rounds", json_integer(row->trial.ms.count));
    json_object_set_new(json, "samples_ms", bench_samples_json(&row->trial.ms));
    return json;
}

static json_t *rows_json(const struct paths_bench *p)
{
    json_t *rows = json_array();
    for (int i = 0; i < p->rows; i++) {
        const struct paths_row *row = &p->row[i];
        if (row->trial.ms.count > 0)
            json_array_append_new(rows, row_json(p, row, &p->row[i - i % DEPTHS]));
    }
    return rows;
}

static struct device *open_device(void *context, const struct gl_handles *gl)
{
    struct paths_bench *p = context;
    p->failed = !bench_open_device(p->bench, gl);
    return p->bench->device;
}

static void finish(struct paths_bench *p)
{
    for (int i = 0; i < p->rows; i++) {
        struct paths_row *row = &p->row[i];
        frames_close(&row->frames);
        for (int k = 0; k < FRAME_PARTS; k++)
            samples_free(&row->part_ms[k]);
        trial_finish(&row->trial);
    }
    free(p->row);
    offscreen_close(&p->offscreen);
    p->bench->device = NULL;
}

static int paths_run(struct bench *bench)
{
    struct paths_bench p = {.bench = bench};
    int code = EXIT_NOTHING;
    for (int i = 0; bench->paths < PATH_KINDS && !bench->options->paths; i++)
        bench->path[bench->paths++] = (enum path_kind)i;
    if (bench->threads == 0)
        bench->thread[bench->threads++] = workers_available();
    offscreen_open(&p.offscreen, open_device, &p);
    if (p.offscreen.window)
        bench->gl_name = window_gl_name(p.offscreen.window);
    else if (!bench_open_gl(bench))
        p.failed = true;
    if (!p.failed) {
        if (!p.offscreen.window)
            log_warn("cannot open a window (%s); frames end in memory, not in textures", p.offscreen.why);
        code = EXIT_USAGE;
        if (choose_rows(&p)) {
            const bool ok = measure(&p);
            code = bench_report(bench, rows_json(&p), columns, ok);
        }
    }
    finish(&p);
    bench_close_gl(bench);
    return code;
}

const struct measurement paths_measurement = {.name = "paths", .run = paths_run};
