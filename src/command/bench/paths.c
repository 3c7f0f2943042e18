// paths.c: the measurement `paths`: whole frames through each path, from the source's memory to a texture
#include "command/bench/memory.h"
#include "command/bench/trial.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/workers.h"
#include "command/shared.h"
#include "screen/upload.h"
#include "screen/window.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_size camera_sizes[] = {{640, 480}, {1280, 720}, {1920, 1080}, {3840, 2160}};
enum { CAMERA_SIZES = sizeof(camera_sizes) / sizeof(*camera_sizes), DEPTHS = 2 };

// The times of a frame. Not every path has all of them.
enum frame_part {
    PART_LATENCY,  // from submit to the end
    PART_PINNED,   // from the time at which the pixels lie in memory that the device reaches, to the end
    PART_COPY_IN,  // by the host, to memory that the device reaches
    PART_UPLOAD,   // to the device
    PART_PASSES,   // the filters
    PART_SHARE,    // a texture acquired from GL and released
    PART_DOWNLOAD, // from the device, or mapped
    PART_TEXTURE,  // from memory to a texture, until GL has finished
    PARTS
};

static const char *const part_keys[PARTS] = {
    [PART_LATENCY] = "latency_ms",   [PART_PINNED] = "pinned_ms",   [PART_COPY_IN] = "copy_in_ms",
    [PART_UPLOAD] = "upload_ms",     [PART_PASSES] = "passes_ms",   [PART_SHARE] = "share_ms",
    [PART_DOWNLOAD] = "download_ms", [PART_TEXTURE] = "texture_ms",
};

struct paths_row {
    const struct case_chain *chain;
    struct image_shape shape;
    enum path_kind kind;
    int threads, depth;
    struct path *path;
    const struct bench_pictures *pictures;
    int next; // index of a picture
    bool gl;  // a frame ends in a texture
    struct upload upload;
    struct {
        double sum_ms; // of the measurement being made
        int count;
        struct samples ms; // one value per round
    } part[PARTS];
    struct trial trial;
};

struct paths_bench {
    struct bench *bench;
    struct window *window; // NULL: none can be opened
    struct paths_row *row; // DEPTHS rows for each case: with one frame in flight, then with two
    int rows;
};

// ---- frames in flight ----

// The beginnings of the stages' names in src/path/opencl.c.
static const struct {
    const char *stage;
    enum frame_part part;
} stage_parts[] = {
    {"copy in", PART_COPY_IN}, {"upload", PART_UPLOAD},     {"pass ", PART_PASSES}, {"acquire", PART_SHARE},
    {"release", PART_SHARE},   {"download", PART_DOWNLOAD}, {"map", PART_DOWNLOAD},
};

static double ms_between(int64_t start_ns, int64_t end_ns)
{
    return (double)(end_ns - start_ns) / 1e6;
}

static void add(struct paths_row *row, enum frame_part part, double ms)
{
    row->part[part].sum_ms += ms;
    row->part[part].count++;
}

// Adds each part of the frame once, even if several stages belong to it.
static void add_parts(struct paths_row *row, const struct path_result *result)
{
    double part_ms[PARTS] = {0};
    bool has[PARTS] = {false};
    for (int i = 0; i < result->stages; i++) {
        const struct stage_time *stage = &result->stage[i];
        for (size_t k = 0; k < sizeof(stage_parts) / sizeof(*stage_parts); k++) {
            if (strncmp(stage->name, stage_parts[k].stage, strlen(stage_parts[k].stage)) == 0) {
                part_ms[stage_parts[k].part] += ms_between(stage->start_ns, stage->end_ns);
                has[stage_parts[k].part] = true;
            }
        }
    }
    for (int i = 0; i < PARTS; i++) {
        if (has[i])
            add(row, (enum frame_part)i, part_ms[i]);
    }
}

// Returns the time at which the pixels lay in memory that the device reaches.
static int64_t pinned_ns(const struct path_result *result, int64_t submitted_ns)
{
    return result->stages > 0 && strcmp(result->stage[0].name, "copy in") == 0 ? result->stage[0].end_ns : submitted_ns;
}

// Waits for the oldest frame and returns the time at which it was finished; 0 on failure (logged).
static int64_t finish_frame(struct paths_row *row, int64_t submitted_ns)
{
    struct path_result result;
    bool lost;
    if (!path_collect(row->path, &result, &lost))
        return 0;
    int64_t end_ns = clock_now_ns();
    if (row->gl && !result.texture) {
        const int64_t start_ns = end_ns;
        if (!upload_picture(&row->upload, &result.image))
            return 0;
        if (!upload_wait()) {
            log_error("GL did not finish the upload of a frame to a texture");
            return 0;
        }
        end_ns = clock_now_ns();
        add(row, PART_TEXTURE, ms_between(start_ns, end_ns));
    }
    add_parts(row, &result);
    add(row, PART_LATENCY, ms_between(submitted_ns, end_ns));
    add(row, PART_PINNED, ms_between(pinned_ns(&result, submitted_ns), end_ns));
    return end_ns;
}

// Excludes the frames that fill the pipeline: time runs from the end of the last of these.
static bool run_frames(void *context, int runs, struct trial_time *time)
{
    struct paths_row *row = context;
    const int total = runs + row->depth;
    int64_t submitted_ns[PATH_DEPTH_MAX], first_ns = 0, end_ns = 0;
    bool lost;
    for (int i = 0; i < PARTS; i++)
        row->part[i].sum_ms = row->part[i].count = 0;
    for (int submitted = 0, done = 0; done < total; done++) {
        for (; submitted < total && submitted - done < row->depth; submitted++) {
            const struct image *picture = &row->pictures->image[row->next];
            row->next = (row->next + 1) % row->pictures->count;
            submitted_ns[submitted % row->depth] = clock_now_ns();
            if (!path_submit(row->path, picture, 0, &lost))
                return false;
        }
        end_ns = finish_frame(row, submitted_ns[done % row->depth]);
        if (end_ns == 0)
            return false;
        if (done == row->depth - 1)
            first_ns = end_ns;
    }
    time->ms = time->wall_ms = ms_between(first_ns, end_ns) / runs;
    return true;
}

static void keep_parts(void *context)
{
    struct paths_row *row = context;
    for (int i = 0; i < PARTS; i++) {
        if (row->part[i].count > 0)
            samples_add(&row->part[i].ms, row->part[i].sum_ms / row->part[i].count);
    }
}

// Filters the first picture alone.
static bool first_frame(void *context, struct image *rgba)
{
    const struct paths_row *row = context;
    struct path_result result;
    bool lost;
    return path_submit(row->path, &row->pictures->image[0], 0, &lost) && path_collect(row->path, &result, &lost) &&
           path_read(row->path, &result, rgba);
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
                struct paths_row row = {.chain = &bench->cases.chain[c], .gl = p->window != NULL};
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
        .gl = row->gl,
    };
    char what[200], *error = NULL;
    row->pictures = bench_memory_pictures(p->bench->memory, &row->shape);
    if (!row->pictures || !(row->path = path_open(&setup, &error))) {
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
             pixfmt_info(row->shape.format)->name, row->shape.width, row->shape.height, path_info(row->path)->sharing);
    return bench_check(row->pictures, setup.chain, first_frame, row, what);
}

static bool measure(struct paths_bench *p)
{
    struct trial **trials = calloc((size_t)p->rows, sizeof(*trials));
    const struct bench_options *o = p->bench->options;
    bool ok = trials != NULL;
    int count = 0;
    for (int i = 0; trials && i < p->rows && !command_interrupted(); i++) {
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
    {COLUMN_NUMBER, "pinned_ms", "pinned", 3},
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
    json_t *json = json_pack(
        "{s:o,s:s,s:i,s:i,s:s,s:s,s:o,s:i,s:i,s:o,s:o}", "case", text_json(row->chain->text), "format",
        pixfmt_info(row->shape.format)->name, "width", row->shape.width, "height", row->shape.height, "path",
        path_kind_name(row->kind), "rung", path_info(row->path)->sharing, "why", text_json(path_info(row->path)->why),
        "in_flight", row->depth, "threads", row->threads, "device", text_json(bench_device_name(p->bench, row->kind)),
        "gl", p->window ? text_json(window_gl_name(p->window)) : json_null());
    json_object_update_new(json, json_pack("{s:f,s:f,s:f,s:f,s:f}", "ms_median", ms, "ms_p5",
                                           samples_percentile(&row->trial.ms, 5), "ms_p95",
                                           samples_percentile(&row->trial.ms, 95), "fps", 1e3 / ms, "overlap",
                                           one_ms > 0 ? one_ms / ms : 1.0));
    for (int i = 0; i < PARTS; i++)
        json_object_set_new(json, part_keys[i], median_json(&row->part[i].ms));
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

// Opens a window, if possible, and the device.
static bool open_screen(struct paths_bench *p, bool egl)
{
    const struct window_setup setup = {.title = "monocle bench", .width = 64, .height = 64, .egl = egl, .hidden = true};
    char why[256] = "";
    p->window = window_open(&setup, why);
    if (!p->window)
        log_warn("cannot open a window (%s); frames end in memory, not in textures", why);
    const struct gl_handles gl = window_gl_handles(p->window);
    return bench_open_device(p->bench, &gl);
}

// Closes the device first, because it shares the window's GL context.
static void close_screen(struct paths_bench *p)
{
    bench_close_device(p->bench);
    window_close(p->window);
    p->window = NULL;
}

// As in the live view: if the GPU does not share over GLX, tries a window over EGL, and uses GLX if that is not better.
static bool choose_screen(struct paths_bench *p)
{
    if (!open_screen(p, false))
        return false;
    const struct device *device = p->bench->device;
    if (!p->window || !device || device->shares_gl || device->info.host_unified ||
        !window_gl_handles(p->window).glx_context)
        return true;
    close_screen(p);
    if (open_screen(p, true) && p->bench->device && p->bench->device->shares_gl)
        return true;
    close_screen(p);
    return open_screen(p, false);
}

static void finish(struct paths_bench *p)
{
    for (int i = 0; i < p->rows; i++) {
        struct paths_row *row = &p->row[i];
        path_close(row->path);
        if (row->gl)
            upload_finish(&row->upload);
        for (int k = 0; k < PARTS; k++)
            samples_free(&row->part[k].ms);
        trial_finish(&row->trial);
    }
    free(p->row);
    close_screen(p);
}

static int paths_run(struct bench *bench)
{
    struct paths_bench p = {.bench = bench};
    int code = EXIT_NOTHING;
    for (int i = 0; bench->paths < PATH_KINDS && !bench->options->paths; i++)
        bench->path[bench->paths++] = (enum path_kind)i;
    if (bench->threads == 0)
        bench->thread[bench->threads++] = workers_available();
    if (choose_screen(&p)) {
        code = EXIT_USAGE;
        if (choose_rows(&p)) {
            const bool ok = measure(&p);
            code = bench_report(bench, rows_json(&p), columns, ok);
        }
    }
    finish(&p);
    return code;
}

const struct measurement paths_measurement = {.name = "paths", .run = paths_run};
