// outputs.c: writes screenshots, recordings and frames for a virtual camera
#include "command/live/outputs.h"

#include "base/clock.h"
#include "base/log.h"
#include "command/live/output_check.h"
#include "image/imagefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUMBERED_FILES = 10000, DEFAULT_RATE = 30 };

// Creates the first file STEM-NUMBERSUFFIX that does not exist yet. NUMBER counts from `first` and has at least
// `digits` digits.
static bool new_name(char name[OUTPUT_NAME], const char *stem, int first, int digits, const char *suffix)
{
    for (int i = first; i < NUMBERED_FILES; i++) {
        if (snprintf(name, OUTPUT_NAME, "%s-%0*d%s", stem, digits, i, suffix) >= OUTPUT_NAME)
            errno = ENAMETOOLONG;
        else {
            const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            if (fd >= 0) {
                close(fd);
                return true;
            }
        }
        if (errno != EEXIST) {
            log_error("cannot create %s%s: %s", name, strchr(name, '/') ? "" : " in the current directory",
                      strerror(errno));
            return false;
        }
    }
    log_error("no name is free: %s-%0*d%s to %s-%d%s exist; move some of them to another directory", stem, digits,
              first, suffix, stem, NUMBERED_FILES - 1, suffix);
    return false;
}

bool output_save_new(const struct image *picture, char name[OUTPUT_NAME])
{
    if (!new_name(name, "monocle", 1, 4, ".png"))
        return false;
    if (imagefile_write_png(name, picture))
        return true;
    unlink(name);
    return false;
}

bool output_new_possible(void)
{
    char name[OUTPUT_NAME];
    return new_name(name, "monocle", 1, 4, ".png") && unlink(name) == 0;
}

// Begins a video in recorder->name. On failure, removes the file if recorder->created.
static bool begin(struct recorder *recorder, const struct source_info *info)
{
    int numerator = info->rate_numerator, denominator = info->rate_denominator;
    if (denominator == 0)
        y4m_rate(info->rate > 0 ? info->rate : DEFAULT_RATE, &numerator, &denominator);
    recorder->frames = recorder->left_out = 0;
    recorder->writer = y4m_writer_open(recorder->name, info->shape.width, info->shape.height, numerator, denominator);
    if (!recorder->writer && recorder->created)
        unlink(recorder->name);
    return recorder->writer != NULL;
}

bool recorder_open(struct recorder *recorder, const char *path, const struct source_info *info)
{
    struct stat status;
    recorder->created = !path || (strcmp(path, "-") != 0 && lstat(path, &status) != 0);
    if (path)
        snprintf(recorder->name, sizeof(recorder->name), "%s", path);
    else if (!new_name(recorder->name, "monocle", 1, 4, ".y4m"))
        return false;
    memcpy(recorder->first, recorder->name, sizeof(recorder->first));
    return begin(recorder, info);
}

bool recorder_continue(struct recorder *recorder, const struct source_info *info)
{
    char stem[OUTPUT_NAME], suffix[OUTPUT_NAME] = "";
    struct stat status;
    snprintf(stem, sizeof(stem), "%s", recorder->first);
    char *dot = strrchr(stem, '.');
    const bool file = !output_is_stdout(stem) && stat(stem, &status) == 0 && S_ISREG(status.st_mode);
    if (!recorder_close(recorder))
        return false;
    if (!file) {
        log_error("a Y4M video has one frame size, and a second file cannot follow because %s is not a regular file",
                  stem);
        return false;
    }
    if (dot && !strchr(dot, '/')) {
        snprintf(suffix, sizeof(suffix), "%s", dot);
        *dot = '\0';
    }
    recorder->created = new_name(recorder->name, stem, 2, 1, suffix);
    return recorder->created && begin(recorder, info);
}

bool recorder_add(struct recorder *recorder, const struct image *rgba, bool wait)
{
    bool left_out = false;
    if (!y4m_writer_add(recorder->writer, rgba, wait ? NULL : &left_out))
        return false;
    recorder->frames += !left_out;
    recorder->left_out += left_out;
    return true;
}

bool recorder_close(struct recorder *recorder)
{
    struct y4m_writer *writer = recorder->writer;
    if (writer && recorder->left_out > 0)
        log_warn("%llu frames are missing from %s: its reader stalled", (unsigned long long)recorder->left_out,
                 recorder->name);
    recorder->writer = NULL;
    const bool ok = !writer || y4m_writer_close(writer);
    if (writer && ok && recorder->created && recorder->frames == 0 && unlink(recorder->name) == 0)
        log_warn("no frame was recorded; %s is removed", recorder->name);
    return ok;
}

static bool open_camera(struct outputs *o)
{
    const struct image_shape *shape = &o->info->shape;
    o->camera = o->node ? virtual_camera_open(o->node, shape->width, shape->height, o->info->rate) : NULL;
    return !o->node || o->camera;
}

static void close_camera(struct outputs *o)
{
    virtual_camera_close(o->camera);
    o->camera = NULL;
}

bool outputs_open(struct outputs *o, const char *node, const struct source_info *info, struct meter *meter,
                  struct note *note)
{
    *o = (struct outputs){.node = node, .info = info, .meter = meter, .note = note};
    return open_camera(o);
}

void outputs_close(struct outputs *o)
{
    recorder_close(&o->recorder);
    close_camera(o);
}

bool outputs_start_recording(struct outputs *o, const char *path)
{
    return recorder_open(&o->recorder, path, o->info);
}

bool outputs_end_recording(struct outputs *o)
{
    return recorder_close(&o->recorder);
}

bool outputs_toggle_recording(struct outputs *o, bool still, bool frozen)
{
    struct recorder *recorder = &o->recorder;
    if (!recorder->writer) {
        if (still)
            note_set(o->note, false, NOTE_S, "a still image cannot be recorded; save a screenshot instead");
        else if (!outputs_start_recording(o, NULL))
            note_set(o->note, true, NOTE_S, "cannot start a recording; see standard error");
        return true;
    }
    const bool ok = recorder_close(recorder);
    if (ok && recorder->frames == 0)
        note_set(o->note, true, NOTE_S, "nothing recorded to %s: %s", recorder->name,
                 frozen ? "the view is frozen" : "no frame arrived");
    else
        note_set(o->note, !ok, NOTE_S, "recorded %llu frames to %s%s", (unsigned long long)recorder->frames,
                 recorder->name, ok ? "" : ", which is incomplete; see standard error");
    return ok;
}

bool outputs_record(struct outputs *o, struct lanes *lanes, bool wait)
{
    enum { STALL_S = 1 }; // how long the message stays after the last dropped frame
    struct recorder *recorder = &o->recorder;
    if (!recorder->writer)
        return true;
    const int64_t start = clock_now_ns();
    const struct image *picture = lanes_picture(lanes);
    const uint64_t left_out = recorder->left_out;
    const bool ok = picture && recorder_add(recorder, picture, wait);
    if (!ok) {
        note_set(o->note, true, 0, "recording to %s stopped after %llu frames", recorder->name,
                 (unsigned long long)recorder->frames);
        recorder_close(recorder);
    } else if (recorder->left_out > left_out) {
        note_set(o->note, true, STALL_S, "the reader of %s has stalled: %llu frames dropped", recorder->name,
                 (unsigned long long)recorder->left_out);
    }
    meter_host(o->meter, "main", "record", start, clock_now_ns());
    return ok;
}

bool outputs_send(struct outputs *o, const struct lanes *lanes)
{
    const struct path_result *result = lanes_result(lanes, LANE_MAIN);
    if (!o->camera || !result || !result->encoded.plane[0])
        return true;
    const int64_t start = clock_now_ns();
    const bool ok = virtual_camera_send(o->camera, &result->encoded);
    if (!ok) {
        note_set(o->note, true, 0, "virtual camera %s stopped: the device accepts no more frames",
                 virtual_camera_name(o->camera));
        close_camera(o);
    }
    meter_host(o->meter, "main", "virtual camera", start, clock_now_ns());
    return ok;
}

static bool continue_recording(struct outputs *o)
{
    struct recorder *recorder = &o->recorder;
    if (!recorder->writer)
        return true;
    const unsigned long long frames = recorder->frames;
    char before[OUTPUT_NAME];
    memcpy(before, recorder->name, sizeof(before));
    if (recorder_continue(recorder, o->info)) {
        log_warn("the frame size changed: %s ends after %llu frames, and the recording continues in %s", before, frames,
                 recorder->name);
        return true;
    }
    log_error("%s", note_set(o->note, true, 0, "the frame size changed: recording to %s stopped after %llu frames",
                             before, frames));
    return false;
}

bool outputs_resize(struct outputs *o)
{
    const bool ok = continue_recording(o);
    if (!o->camera)
        return ok;
    // A program that keeps the device open keeps the old size; opening then fails.
    close_camera(o);
    if (open_camera(o))
        return ok;
    note_set(o->note, true, 0, "the frame size changed: the virtual camera %s stopped", o->node);
    return false;
}

const struct image_shape *outputs_camera_shape(const struct outputs *o)
{
    return o->camera ? virtual_camera_shape(o->camera) : NULL;
}

struct outputs_facts outputs_describe(const struct outputs *o)
{
    struct outputs_facts facts = {0};
    if (o->recorder.writer) {
        facts.recording = o->recorder.name;
        facts.recorded = o->recorder.frames;
    }
    if (o->camera) {
        facts.camera = virtual_camera_name(o->camera);
        facts.camera_shape = *virtual_camera_shape(o->camera);
        facts.sent = virtual_camera_counts(o->camera);
    }
    return facts;
}
