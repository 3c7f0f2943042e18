// camera.c: the tests of the program's paths on camera frames: conversion on each path, its stages, and each filter
#include "measure/answer.h"
#include "measure/frames.h"
#include "measure/session.h"

#include <stdio.h>
#include <stdlib.h>

struct size {
    int width, height;
};
static const struct size sizes[] = {{640, 480}, {1280, 720}, {1920, 1080}};
enum { SIZES = sizeof(sizes) / sizeof(*sizes), STAGES = FRAME_PARTS - FRAME_COPY_IN, FRAMES_LEAST = 6 };

struct camera {
    struct frames frames;
    struct chain chain;
    struct session_part stage[STAGES];
};

// ---- one case ----

// Also sets the times of the stages. A stage that the path does not have gets no value.
static double time_frames(struct session_case *c, int runs)
{
    struct camera *camera = c->data;
    // The end of one frame may be noticed late, when the next one in flight has ended, too.
    const int least = camera->frames.depth > 1 ? FRAMES_LEAST : 1;
    double ms;
    if (!frames_run(&camera->frames, runs > least ? runs : least, &ms))
        return -1;
    for (int i = 0; i < c->parts; i++) {
        const int part = FRAME_COPY_IN + i, count = camera->frames.part[part].count;
        c->part[i].value = count > 0 ? camera->frames.part[part].sum_ms * 1e3 / count : -1;
    }
    return ms / 1e3;
}

static bool check(struct session_case *c)
{
    struct camera *camera = c->data;
    return pictures_check(camera->frames.pictures, &camera->chain, frames_first, &camera->frames, "the frame");
}

// Notes the GL of a path that needs it, and the sharing mode of a path that can share with GL.
static void note_path(struct session_case *c, const struct path_info *info)
{
    const struct session *session = c->session;
    const struct path_kind_info *kind = path_kind_info(info->kind);
    if (kind->needs_gl)
        snprintf(c->figure.note, sizeof(c->figure.note), "%s", session->gl->name);
    else if (kind->shares_gl)
        snprintf(c->figure.note, sizeof(c->figure.note), "sharing mode %s: %.170s", info->sharing,
                 session->window ? info->why : session->window_why);
}

// Opens the path for the chain of the case.
static void open_case(struct session_case *c, const struct pictures *pictures, enum path_kind kind, int depth)
{
    struct camera *camera = c->data;
    struct device *device = c->session->device;
    char *why = NULL;
    const struct path_setup setup = {
        .kind = kind,
        .device = path_kind_info(kind)->needs_device ? device : NULL,
        .input = pictures->image[0].shape,
        .chain = &camera->chain,
        .depth = depth,
        .tuned = &device->tuned,
        .gl = c->session->gl,
        .textures = c->session->window != NULL,
    };
    c->time = time_frames;
    c->check = check;
    if (path_kind_info(kind)->needs_gl && !setup.gl)
        session_skip(c, "no GL context: %s", c->session->gl_why);
    else if (frames_open(&camera->frames, &setup, pictures, &why))
        note_path(c, path_info(camera->frames.path));
    else
        session_fail_build(c, why);
    free(why);
}

// Writes the parameters of a case; all tests of camera frames have the size, `to` and the path.
static void name_case(struct figure *figure, const char *before, const struct session *session, const struct size *size,
                      enum path_kind kind, const char *after)
{
    snprintf(figure->parameters, sizeof(figure->parameters), "%ssize=%dx%d to=%s path=%s%s", before, size->width,
             size->height, session->window ? "texture" : "memory", path_kind_name(kind), after);
}

static bool make_pictures(struct session_case *c, struct pictures *pictures, const struct size *size)
{
    if (pictures->image || pictures_make_camera(pictures, size->width, size->height))
        return true;
    session_fail(c, "%s", c->session->error);
    return false;
}

// ---- each path ----

static void run_paths(struct session *session, bool stages)
{
    enum { CASES = SIZES * PATH_KINDS };
    struct session_case cases[CASES] = {{0}};
    struct pictures pictures[SIZES] = {{0}};
    struct camera *cameras = calloc(CASES, sizeof(*cameras));
    for (int i = 0; cameras && i < CASES; i++) {
        const struct size *size = &sizes[i / PATH_KINDS];
        const enum path_kind kind = (enum path_kind)(i % PATH_KINDS);
        cases[i] = (struct session_case){.session = session, .data = &cameras[i], .work = stages ? 0 : 1};
        name_case(&cases[i].figure, "", session, size, kind, stages ? " stage=frame" : "");
        for (int k = 0; stages && k < STAGES; k++) {
            char word[32];
            snprintf(word, sizeof(word), " stage=%s", frame_part_names[FRAME_COPY_IN + k]);
            name_case(&cameras[i].stage[k].figure, "", session, size, kind, word);
        }
        cases[i].part = cameras[i].stage;
        cases[i].parts = stages ? STAGES : 0;
        if (make_pictures(&cases[i], &pictures[i / PATH_KINDS], size))
            open_case(&cases[i], &pictures[i / PATH_KINDS], kind, stages ? 1 : 2);
    }
    if (cameras)
        session_measure(session, cases, CASES);
    for (int i = 0; cameras && i < CASES; i++)
        frames_close(&cameras[i].frames);
    for (int i = 0; i < SIZES; i++)
        pictures_free(&pictures[i]);
    free(cameras);
}

static void run_speed(struct session *session)
{
    run_paths(session, false);
}

static void run_stages(struct session *session)
{
    run_paths(session, true);
}

// ---- each filter ----

static int count_filters(void)
{
    int count = 0;
    while (filters[count])
        count++;
    return count;
}

// Returns the frame size for the test of filters: the largest, or the smallest if the device needs more than 0.1 s to
// convert the largest.
static const struct size *choose_size(struct session *session)
{
    struct pictures pictures = {0};
    struct camera camera = {.chain.count = 0};
    struct session_case c = {.session = session, .data = &camera};
    double ms = 0;
    if (make_pictures(&c, &pictures, &sizes[SIZES - 1])) {
        open_case(&c, &pictures, PATH_DEFAULT, 1);
        if (camera.frames.path && !(frames_run(&camera.frames, 1, &ms) && frames_run(&camera.frames, 1, &ms)))
            ms = 0; // each filter will have the reason
    }
    frames_close(&camera.frames);
    pictures_free(&pictures);
    return ms > 100 ? &sizes[0] : &sizes[SIZES - 1];
}

static void run_filters(struct session *session)
{
    const int count = count_filters();
    const struct size *size = choose_size(session);
    struct session_case *cases = calloc((size_t)count, sizeof(*cases));
    struct camera *cameras = calloc((size_t)count, sizeof(*cameras));
    struct pictures pictures = {0};
    for (int i = 0; cases && cameras && i < count; i++) {
        char word[32], error[CHAIN_ERROR];
        snprintf(word, sizeof(word), "filter=%s ", filters[i]->name);
        cases[i] = (struct session_case){.session = session, .data = &cameras[i], .work = 1};
        name_case(&cases[i].figure, word, session, size, PATH_DEFAULT, "");
        answer_progress("%s: building %s", session->test->name, filters[i]->name);
        if (!chain_parse(&cameras[i].chain, filters[i]->name, error))
            session_fail(&cases[i], "%s", error);
        else if (make_pictures(&cases[i], &pictures, size))
            open_case(&cases[i], &pictures, PATH_DEFAULT, 2);
    }
    if (cases && cameras)
        session_measure(session, cases, count);
    for (int i = 0; cameras && i < count; i++)
        frames_close(&cameras[i].frames);
    pictures_free(&pictures);
    free(cameras);
    free(cases);
}

const struct measure_test measure_camera_path = {
    .name = "camera.path",
    .unit = "frames/s",
    .definition =
        "converts NV21 frames to RGBA on each path, two in flight, from the host's memory to a GL texture or, without "
        "a display, to memory",
    .seconds = 1,
    .gl = true,
    .run = run_speed,
};

const struct measure_test measure_camera_stage = {
    .name = "camera.stage",
    .unit = "µs",
    .definition =
        "time of a frame of 'camera.path', one in flight (frame), and of its stages; copy_in: copy by the host; "
        "upload: copy to the device; passes: conversion; share: GL acquire and release; download: copy or map from "
        "the device; texture: upload to a GL texture; an empty cell: the path does not have this stage",
    .seconds = 1,
    .gl = true,
    .run = run_stages,
};

const struct measure_test measure_camera_filter = {
    .name = "camera.filter",
    .unit = "frames/s",
    .definition = "as 'camera.path', with one filter, on the default path",
    .seconds = 2,
    .gl = true,
    .run = run_filters,
};
