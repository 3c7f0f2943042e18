// paths.c: the measurement of whole frames on each path
#include "command/bench/paths.h"

#include "base/log.h"
#include "base/workers.h"
#include "command/command.h"
#include "screen/window.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_size camera_sizes[] = {{640, 480}, {1280, 720}, {1920, 1080}, {3840, 2160}};
enum { CAMERA_SIZES = sizeof(camera_sizes) / sizeof(*camera_sizes), DEPTHS = 2 };

struct paths_row {
    const struct bench_chain *chain;
    struct image_shape shape;
    enum path_kind path;
    int threads, depth;
    struct frames_bench frames;
    struct trial trial;
};

struct paths_bench {
    struct bench_wish *wish;
    struct window *window; // NULL: none can be opened
    struct device *device;
    struct bench_memory *memory;
    struct paths_row **row; // a row with two frames in flight behind its like with one
    int rows;
    char cpu_name[128];
};

static bool add_rows(struct paths_bench *bench, const struct paths_row *like)
{
    struct paths_row **grown = realloc(bench->row, (size_t)(bench->rows + DEPTHS) * sizeof(*grown));
    if (grown)
        bench->row = grown;
    for (int depth = 1; grown && depth <= DEPTHS; depth++) {
        struct paths_row *added = malloc(sizeof(*added));
        if (!added) {
            grown = NULL;
            break;
        }
        *added = *like;
        added->depth = depth;
        bench->row[bench->rows++] = added;
    }
    if (!grown)
        log_error("cannot measure: out of memory");
    return grown != NULL;
}

static bool add_paths(struct paths_bench *bench, struct paths_row *row)
{
    const struct bench_wish *wish = bench->wish;
    const char *why;
    if (!pixfmt_size_ok(row->shape.format, row->shape.width, row->shape.height, &why)) {
        log_error("cannot measure %dx%d: %s", row->shape.width, row->shape.height, why);
        return false;
    }
    const struct color unknown = {0};
    row->shape.color =
        color_resolve(unknown, unknown, row->shape.format == PIXFMT_GREY, row->shape.width, row->shape.height);
    for (int p = 0; p < wish->paths; p++) {
        row->path = wish->path[p];
        const bool device = path_kind_info(row->path)->needs_device;
        for (int t = 0; t < (device ? 1 : wish->threads); t++) {
            row->threads = device ? bench_device_threads(bench->device) : wish->thread[t];
            if (!add_rows(bench, row))
                return false;
        }
    }
    return true;
}

static bool choose_rows(struct paths_bench *bench)
{
    struct bench_wish *wish = bench->wish;
    const struct option_size *size = wish->sizes ? wish->size : camera_sizes;
    const int sizes = wish->sizes ? wish->sizes : CAMERA_SIZES;
    if (wish->chains == 0 && !bench_add_chain(wish, "blur=2,gray,emboss"))
        return false;
    if (wish->formats == 0)
        wish->format[wish->formats++] = PIXFMT_NV21;
    struct paths_row row = {0};
    for (int s = 0; s < sizes; s++) {
        for (int c = 0; c < wish->chains; c++) {
            for (int f = 0; f < wish->formats; f++) {
                row.chain = &wish->chain[c];
                row.shape =
                    (struct image_shape){.format = wish->format[f], .width = size[s].width, .height = size[s].height};
                if (!add_paths(bench, &row))
                    return false;
            }
        }
    }
    return true;
}

static bool check(struct paths_bench *bench, struct paths_row *row)
{
    const struct image_shape rgba = {.width = row->shape.width, .height = row->shape.height};
    struct image got = {0}, want = {0};
    char what[200];
    snprintf(what, sizeof(what), "%.80s from %s %dx%d in sharing mode %s", row->chain->text,
             pixfmt_info(row->shape.format)->name, rgba.width, rgba.height, path_rung(row->frames.path));
    const bool same = image_alloc(&got, &rgba) &&
                      bench_expect(&row->frames.pictures->image[0], &row->chain->chain, &want) &&
                      frames_first(&row->frames, &got) && bench_same(&got, &want, what);
    image_free(&got);
    image_free(&want);
    return same;
}

static bool open_row(struct paths_bench *bench, struct paths_row *row)
{
    struct frames_bench *frames = &row->frames;
    const struct path_setup setup = {
        .kind = row->path,
        .device = path_kind_info(row->path)->needs_device ? bench->device : NULL,
        .input = row->shape,
        .chain = &row->chain->chain,
        .depth = row->depth,
        .threads = row->threads,
        .gl = bench->window != NULL,
    };
    frames->pictures = bench_memory_pictures(bench->memory, &row->shape);
    frames->gl = bench->window != NULL;
    frames->depth = row->depth;
    char *error = NULL;
    if (!frames->pictures || !(frames->path = path_open(&setup, &error))) {
        log_error("cannot measure the %s path: %s", path_kind_name(row->path), error ? error : "see above");
        free(error);
        return false;
    }
    row->trial = (struct trial){
        .run = frames_run,
        .keep = frames_keep,
        .context = frames,
        .warm_runs = 4,
        .runs = 4, // so that frames in flight have others to overlap with
    };
    return check(bench, row);
}

static bool measure(struct paths_bench *bench)
{
    struct trial **trials = calloc((size_t)bench->rows, sizeof(*trials));
    const struct bench_options *o = bench->wish->options;
    bool ok = trials != NULL;
    int count = 0;
    for (int i = 0; trials && i < bench->rows && !command_interrupted(); i++) {
        bench_progress("building and checking, %d of %d", i + 1, bench->rows);
        if (open_row(bench, bench->row[i]))
            trials[count++] = &bench->row[i]->trial;
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
    {COLUMN_NUMBER, "pinned_ms", "pinned", 3},
    {COLUMN_NUMBER, "copy_in_ms", "copy in", 3},
    {COLUMN_NUMBER, "upload_ms", "upload", 3},
    {COLUMN_NUMBER, "passes_ms", "passes", 3},
    {COLUMN_NUMBER, "share_ms", "share", 3},
    {COLUMN_NUMBER, "download_ms", "download", 3},
    {COLUMN_NUMBER, "texture_ms", "texture", 3},
    {0},
};

static const char *const part_keys[PARTS] = {
    [PART_COPY_IN] = "copy_in_ms", [PART_UPLOAD] = "upload_ms",     [PART_PASSES] = "passes_ms",
    [PART_SHARE] = "share_ms",     [PART_DOWNLOAD] = "download_ms", [PART_TEXTURE] = "texture_ms",
};

static json_t *median_json(const struct samples *samples)
{
    return samples->count > 0 ? json_real(samples_percentile(samples, 50)) : json_null();
}

// `one` is the like with one frame in flight.
static json_t *row_json(const struct paths_bench *bench, const struct paths_row *row, const struct paths_row *one)
{
    const struct frames_bench *frames = &row->frames;
    const double ms = samples_percentile(&row->trial.ms, 50), one_ms = samples_percentile(&one->trial.ms, 50);
    const char *device = path_kind_info(row->path)->needs_device ? bench->device->info.name : bench->cpu_name;
    json_t *samples = json_array();
    for (int i = 0; i < row->trial.ms.count; i++)
        json_array_append_new(samples, json_real(row->trial.ms.value[i]));
    json_t *json = json_pack("{s:o,s:s,s:i,s:i,s:s,s:s,s:o,s:i,s:i,s:o,s:o}", "case", bench_json_text(row->chain->text),
                             "format", pixfmt_info(row->shape.format)->name, "width", row->shape.width, "height",
                             row->shape.height, "path", path_kind_name(row->path), "rung", path_rung(frames->path),
                             "why", bench_json_text(path_why(frames->path)), "in_flight", row->depth, "threads",
                             row->threads, "device", bench_json_text(device), "gl",
                             bench->window ? bench_json_text(window_gl_name(bench->window)) : json_null());
    json_object_update_new(json, json_pack("{s:f,s:f,s:f,s:f,s:f}", "ms_median", ms, "ms_p5",
                                           samples_percentile(&row->trial.ms, 5), "ms_p95",
                                           samples_percentile(&row->trial.ms, 95), "fps", 1e3 / ms, "overlap",
                                           one_ms > 0 ? one_ms / ms : 1.0));
    json_object_set_new(json, "latency_ms", median_json(&frames->latency.ms));
    json_object_set_new(json, "pinned_ms", median_json(&frames->pinned.ms));
    for (int i = 0; i < PARTS; i++)
        json_object_set_new(json, part_keys[i], median_json(&frames->part[i].ms));
    json_object_set_new(json, "rounds", json_integer(row->trial.ms.count));
    json_object_set_new(json, "samples_ms", samples);
    return json;
}

static json_t *rows_json(const struct paths_bench *bench)
{
    json_t *rows = json_array();
    for (int i = 0; i < bench->rows; i++) {
        const struct paths_row *row = bench->row[i];
        if (row->trial.ms.count > 0)
            json_array_append_new(rows, row_json(bench, row, bench->row[i - i % DEPTHS]));
    }
    return rows;
}

// A window, or none, and the device.
static bool open_screen(struct paths_bench *bench, bool egl)
{
    const struct window_setup setup = {.title = "monocle bench", .width = 64, .height = 64, .egl = egl, .hidden = true};
    struct device_gl gl = {0};
    char why[256] = "";
    bench->window = window_open(&setup, why);
    if (bench->window) {
        const struct window_native native = window_native(bench->window);
        gl = (struct device_gl){native.glx_context, native.glx_display, native.egl_context, native.egl_display};
    } else {
        log_warn("cannot open a window (%s); frames end in memory, not in textures", why);
    }
    return bench_open_device(bench->wish, &gl, &bench->device);
}

// The device goes before the window whose GL context it shares.
static void close_screen(struct paths_bench *bench)
{
    device_close(bench->device);
    window_close(bench->window);
    bench->device = NULL;
    bench->window = NULL;
}

// As in the live view, a GPU that does not share over GLX gets a window over EGL, and the first one back where that is
// no better.
static bool choose_screen(struct paths_bench *bench)
{
    if (!open_screen(bench, false))
        return false;
    if (!bench->window || !bench->device || bench->device->shares_gl || bench->device->info.host_unified ||
        !window_native(bench->window).glx_context)
        return true;
    close_screen(bench);
    if (open_screen(bench, true) && bench->device && bench->device->shares_gl)
        return true;
    close_screen(bench);
    return open_screen(bench, false);
}

static void finish(struct paths_bench *bench)
{
    for (int i = 0; i < bench->rows; i++) {
        frames_finish(&bench->row[i]->frames);
        trial_finish(&bench->row[i]->trial);
        free(bench->row[i]);
    }
    free(bench->row);
    bench_memory_close(bench->memory);
    close_screen(bench);
}

static int paths_run(struct bench_wish *wish)
{
    struct paths_bench bench = {.wish = wish};
    json_t *base = NULL;
    int code = EXIT_NOTHING;
    bench_cpu_name(bench.cpu_name);
    if (wish->options->compare && !(base = bench_base_read(wish->options->compare)))
        return code;
    for (int i = 0; wish->paths < PATH_KINDS && !wish->options->paths; i++)
        wish->path[wish->paths++] = (enum path_kind)i;
    if (wish->threads == 0)
        wish->thread[wish->threads++] = workers_available();
    if (choose_screen(&bench) && (bench.memory = bench_memory_open(wish->options->pictures))) {
        code = EXIT_USAGE;
        if (choose_rows(&bench)) {
            const bool ok = measure(&bench);
            code = bench_report(wish, rows_json(&bench), base, columns);
            code = code == EXIT_OK && !ok ? EXIT_FAILED_SOME : code;
        }
    }
    finish(&bench);
    json_decref(base);
    return code;
}

extern const struct measurement paths_measurement;
const struct measurement paths_measurement = {.name = "paths", .run = paths_run};
