// paths.c: the measurement `paths`: whole frames through each path, from the source's memory to a texture
#include "base/text.h"
#include "bench/pool.h"
#include "bench/session.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/thread.h"

#include <stdio.h>
#include <stdlib.h>

static const struct option_size camera_sizes[] = {{640, 480}, {1280, 720}, {1920, 1080}, {3840, 2160}};
enum { CAMERA_SIZES = sizeof(camera_sizes) / sizeof(*camera_sizes), DEPTHS = 2 };
enum { TEST_TIME, TEST_STAGE, TEST_SPEED };
enum { FRAMES_LEAST = 4 }; // so that frames in flight overlap with others

struct path_row {
    const struct case_chain *chain;
    struct image_shape shape;
    enum path_kind kind;
    int threads, depth;
    struct frames frames;
    struct bench_part part[FRAME_PARTS];
    char what[200]; // for messages
};

struct path_rows {
    struct bench_session *session;
    struct path_row *row; // DEPTHS rows for each case: with one frame in flight, then with two
    int count;
};

// ---- one case ----

// Also sets the times of the stages. A stage that the path does not have gets no value.
static double time_frames(struct bench_case *c, int runs)
{
    struct path_row *row = c->data;
    double ms;
    // A multiple of the depth, because frames in flight may end together.
    const int least = runs > FRAMES_LEAST ? runs : FRAMES_LEAST;
    if (!frames_run(&row->frames, (least + row->depth - 1) / row->depth * row->depth, &ms))
        return -1;
    for (int i = 0; i < FRAME_PARTS; i++) {
        const int count = row->frames.part[i].count;
        row->part[i].value = count > 0 ? row->frames.part[i].sum_ms / count : -1;
    }
    return ms / 1e3;
}

static bool check(struct bench_case *c)
{
    struct path_row *row = c->data;
    return pictures_check(row->frames.pictures, &row->chain->chain, frames_first, &row->frames, row->what);
}

static void finish(struct bench_case *c)
{
    bench_derive(c, TEST_SPEED, 1e3 / c->figure.value);
}

static void name_row(const struct path_row *row, const struct bench_session *session, struct figure *figure, int test,
                     const char *stage)
{
    char text[FIGURE_CASE];
    snprintf(figure->test, sizeof(figure->test), "%s", session->measurement->test[test].name);
    snprintf(figure->parameters, sizeof(figure->parameters),
             "case=%s format=%s to=%s path=%s threads=%d frames=%d size=%dx%d%s%s", figure_case(row->chain->text, text),
             pixfmt_info(row->shape.format)->name, session->window ? "texture" : "memory", path_kind_name(row->kind),
             row->threads, row->depth, row->shape.width, row->shape.height, text_if(stage, " stage="),
             text_or(stage, ""));
}

static void open_row(struct bench_case *c, struct path_row *row)
{
    struct bench_session *session = c->session;
    const struct path_kind_info *kind = path_kind_info(row->kind);
    const struct path_setup setup = {
        .kind = row->kind,
        .device = kind->needs_device ? session->device : NULL,
        .input = row->shape,
        .chain = &row->chain->chain,
        .depth = row->depth,
        .threads = row->threads,
        .tuned = session->tuned,
        .gl = session->gl,
        .textures = session->window != NULL,
    };
    char *error = NULL;
    session->error[0] = '\0';
    const struct pictures *pictures = pool_pictures(session->pool, &row->shape);
    if (!pictures || !frames_open(&row->frames, &setup, pictures, &error)) {
        bench_fail(c, "%s", error ? error : session->error);
        log_error("cannot measure the %s path: %s", path_kind_name(row->kind), error ? error : "see above");
        free(error);
        return;
    }
    const struct path_info *info = path_info(row->frames.path);
    snprintf(row->what, sizeof(row->what), "%.80s from %s %dx%d in sharing mode %s", row->chain->text,
             pixfmt_info(row->shape.format)->name, row->shape.width, row->shape.height, info->sharing);
    if (kind->needs_gl)
        snprintf(c->figure.note, sizeof(c->figure.note), "%s", session->gl->name);
    else if (kind->needs_device)
        snprintf(c->figure.note, sizeof(c->figure.note), "sharing mode %s: %.170s", info->sharing, info->why);
}

static void measure(struct path_rows *rows, struct bench_case *cases)
{
    struct bench_session *session = rows->session;
    for (int i = 0; i < rows->count; i++) {
        struct path_row *row = &rows->row[i];
        cases[i] = (struct bench_case){.session = session,
                                       .data = row,
                                       .time = time_frames,
                                       .check = check,
                                       .finish = finish,
                                       .part = row->part,
                                       .parts = FRAME_PARTS};
        name_row(row, session, &cases[i].figure, TEST_TIME, NULL);
        for (int k = 0; k < FRAME_PARTS; k++)
            name_row(row, session, &row->part[k].figure, TEST_STAGE, frame_part_names[k]);
        bench_progress(session, "building, %d of %d", i + 1, rows->count);
        if (session->stopped)
            return;
        open_row(&cases[i], row);
    }
    bench_measure(session, cases, rows->count);
}

// ---- what is measured ----

static void add_paths(struct path_rows *rows, struct path_row row)
{
    const struct chosen *chosen = rows->session->chosen;
    for (int i = 0; i < chosen->paths * DEPTHS; i++) {
        row.kind = chosen->path[i / DEPTHS];
        row.depth = 1 + i % DEPTHS;
        for (int t = 0; t < chosen_thread_counts(rows->session, row.kind); t++) {
            row.threads = chosen_threads(rows->session, row.kind, t);
            rows->row = xgrow(rows->row, (size_t)rows->count, sizeof(row));
            rows->row[rows->count++] = row;
        }
    }
}

static bool choose_rows(struct path_rows *rows)
{
    struct cases *cases = &rows->session->chosen->cases;
    const struct option_size *size = cases->sizes ? cases->size : camera_sizes;
    const int sizes = cases->sizes ? cases->sizes : CAMERA_SIZES;
    if (cases->chains == 0 && !cases_add_chain(cases, "blur=2,gray,emboss"))
        return false;
    if (cases->formats == 0)
        cases->format[cases->formats++] = PIXFMT_NV21;
    for (int s = 0; s < sizes; s++) {
        for (int c = 0; c < cases->chains; c++) {
            for (int f = 0; f < cases->formats; f++) {
                struct path_row row = {.chain = &cases->chain[c]};
                if (!cases_shape(&row.shape, cases->format[f], size[s]))
                    return false;
                add_paths(rows, row);
            }
        }
    }
    return true;
}

static bool run(struct bench_session *session)
{
    struct path_rows rows = {.session = session};
    if (session->chosen->threads == 0)
        session->chosen->thread[session->chosen->threads++] = workers_available();
    const bool ok = choose_rows(&rows);
    struct bench_case *cases = xcalloc((size_t)rows.count, sizeof(*cases));
    if (ok)
        measure(&rows, cases);
    for (int i = 0; i < rows.count; i++)
        frames_close(&rows.row[i].frames);
    free(rows.row);
    free(cases);
    return ok;
}

const struct measurement measurement_paths = {
    .name = "paths",
    .details = "times whole frames, from the source's memory to a texture, with one and with two frames in flight. The "
               "stages are wait, copy in, upload, passes, download or sharing, and texture upload. Stages of two "
               "frames in flight "
               "overlap. The stage 'pinned' is the latency without copy in, as for frames in pinned memory. Without a "
               "display, frames end in memory. Defaults: chain blur=2,gray,emboss; format nv21; all paths; "
               "640x480, 1280x720, 1920x1080 and 3840x2160; one thread per CPU.",
    .test = {{.name = "paths",
              .unit = "ms",
              .definition = "time of many frames / their number; frames: number in flight"},
             {.name = "paths.stage",
              .unit = "ms",
              .definition =
                  "latency: from the start of a frame to its end; pinned: the same after copy_in, a copy by the host; "
                  "wait: "
                  "for earlier frames in flight, before copy_in; "
                  "upload: copy to the device; passes: the filters; share: GL acquire and release; download: copy or "
                  "map from the device; texture: upload to a GL texture"},
             {.name = "paths.speed", .unit = "frames/s", .definition = "frames of 'paths' in a second"}},
    .frames = true,
    .run = run,
};
