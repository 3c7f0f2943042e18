// outputs.c: writes recordings and frames for a virtual camera
#include "stream/outputs.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process.h"
#include "base/text.h"
#include "filter/chain.h"
#include "image/y4m.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { DEFAULT_RATE = 30, ANIMATION_S = 10 };
enum {
    QUEUE_BYTES = 128 << 20, // of frames that wait for the start of a recording
    QUEUE_LEAST = 4,         // of any size
    QUEUE_TURN = 2,          // so many of them are added at each turn of the loop, beside the new one
    IN_FLIGHT = 2,
};
static const int64_t late_ns = 1000000000;   // a later frame counts as missing: the last one is repeated
static const int64_t start_ns = 10000000000; // until a recording that the user has ended must have started

static void close_camera(struct outputs *o)
{
    virtual_camera_close(o->camera);
    o->camera = NULL;
    o->encode = (struct image_shape){0};
}

static bool open_camera(struct outputs *o)
{
    if (!o->nodes || o->nodes->count == 0)
        return true;
    o->camera = virtual_camera_open(o->nodes, o->width, o->height, o->info->rate);
    if (o->camera)
        o->encode = *virtual_camera_shape(o->camera);
    return o->camera;
}

bool outputs_open(struct outputs *o, const struct option_texts *nodes, const struct source_info *info, int width,
                  int height, struct meter *meter, struct note *note)
{
    *o = (struct outputs){.nodes = nodes, .info = info, .width = width, .height = height, .meter = meter, .note = note};
    return open_camera(o);
}

bool outputs_watch(struct outputs *o)
{
    o->on_demand = true;
    return virtual_camera_reports(o->camera);
}

void outputs_set_source(struct outputs *o, const struct source_info *info, bool was_live)
{
    o->shifted = !(info->live && was_live); // else both have the times of the clock
    o->info = info;
}

void outputs_close(struct outputs *o)
{
    outputs_end_recording(o, 0, true);
    close_camera(o);
}

static double rate_of(const struct outputs *o)
{
    return o->info->rate > 0 ? o->info->rate : DEFAULT_RATE;
}

static bool encode_with(struct outputs *o, double rate, int numerator, int denominator)
{
    struct outputs_file *file = &o->file;
    if (denominator == 0)
        y4m_rate(rate, &numerator, &denominator);
    file->rate = rate;
    file->measures = false;
    o->most = o->animation ? (uint64_t)(ANIMATION_S * rate) + 1 : 0;
    recording_start(file->recording, numerator, denominator, o->most);
    file->starting |= recording_state(file->recording) == RECORDING_STARTS;
    return recording_state(file->recording) != RECORDING_FAILED;
}

// Begins a video in o->file. `open_file`: the file, which this run has created, and which the video takes over; -1: it
// existed. On failure, removes the file if it was created.
static bool begin(struct outputs *o, int open_file, bool animation)
{
    const struct source_info *info = o->info;
    struct outputs_file *file = &o->file;
    o->animation = animation;
    file->own = file_id_open(open_file);
    file->rate = rate_of(o);
    file->frames = file->left_out = 0;
    file->measures = file->starting = info->live && (info->rate <= 0 || info->claimed);
    file->begun_ns = clock_now_ns();
    file->end_ns = 0;
    o->failure[0] = '\0';
    const bool alpha = info->alpha || (o->chain && chain_changes_alpha(o->chain));
    file->recording =
        recording_open(file->name, &(struct recording_setup){o->width, o->height, o->quality, open_file, alpha});
    if (file->recording && (file->measures || encode_with(o, rate_of(o), info->rate_numerator, info->rate_denominator)))
        return true;
    recording_close(file->recording);
    file->recording = NULL;
    file_remove(file->name, file->own);
    return false;
}

bool outputs_ending(const struct outputs *o)
{
    return o->endings > 0;
}

// Creates a file under the next name of the key `r`. Returns its descriptor; -1 is logged.
static int next_name(struct outputs *o, const char *suffix)
{
    return o->given[0] && output_is_file(o->given) ? output_name_after(o->file.name, o->given)
                                                   : output_new_name(o->file.name, suffix);
}

static void note_start(struct outputs *o)
{
    const bool plain = o->given[0] || recording_encodes(o->file.name);
    if (o->file.starting)
        note_set(o->note, false, 0, "starting to record %s", o->file.name);
    else
        note_set(o->note, false, NOTE_S, "recording %s%s", o->file.name,
                 text_if(!plain, ", lossless; --record NAME.mp4 makes small files"));
}

// Returns the frame's time in the recording. After a change of the source, the times continue.
static int64_t time_of(struct outputs *o, const struct frame *frame)
{
    if (o->shifted)
        o->shift_ns = o->time_ns + (int64_t)(1e9 / rate_of(o)) - frame->elapsed_ns;
    o->shifted = false;
    return frame->elapsed_ns + o->shift_ns;
}

static size_t queue_room(const struct outputs *o)
{
    const size_t fits = QUEUE_BYTES / ((size_t)o->width * (size_t)o->height * 4 + 1);
    const size_t most = sizeof(o->file.queue) / sizeof(*o->file.queue);
    if (fits > most)
        return most;
    return fits < QUEUE_LEAST ? QUEUE_LEAST : fits;
}

bool outputs_full(const struct outputs *o)
{
    const struct outputs_file *file = &o->file;
    return file->starting && !o->info->live && file->waits && file->queued + IN_FLIGHT >= queue_room(o);
}

static void drop_queued(struct outputs_file *file, size_t count)
{
    for (size_t i = 0; i < count; i++)
        image_free(&file->queue[i].picture);
    file->queued -= count;
    memmove(file->queue, file->queue + count, file->queued * sizeof(*file->queue));
}

static bool write_frame(const struct outputs *o, struct outputs_file *file, const struct image *rgba, int64_t time_ns)
{
    bool left_out = false;
    if (recording_frames(file->recording) == 0 && time_ns - file->first_ns > late_ns)
        log_warn("%s begins %.1f s late: ffmpeg needed that long to start", file->name,
                 (double)(time_ns - file->first_ns) / 1e9);
    const bool ok = recording_add(file->recording, rgba, time_ns, !o->info->live, file->waits ? NULL : &left_out);
    file->frames = recording_frames(file->recording);
    file->left_out += left_out;
    return ok;
}

// Adds the oldest frames that have waited. Returns false if the recording must end (logged).
static bool write_queued(const struct outputs *o, struct outputs_file *file, size_t most)
{
    bool ok = true;
    for (; ok && most > 0 && file->queued > 0; most--) {
        ok = write_frame(o, file, &file->queue[0].picture, file->queue[0].time_ns);
        drop_queued(file, 1);
    }
    return ok;
}

// Copies a frame that waits for the start. Without room, it replaces the oldest one.
static bool queue_frame(struct outputs *o, const struct image *rgba)
{
    struct outputs_file *file = &o->file;
    if (file->queued >= queue_room(o))
        drop_queued(file, 1);
    struct queued_frame *frame = &file->queue[file->queued];
    frame->time_ns = o->time_ns;
    if (!image_alloc(&frame->picture, &rgba->shape)) {
        log_error("cannot record to %s: out of memory", file->name);
        return false;
    }
    image_copy(&frame->picture, rgba);
    file->queued++;
    return true;
}

bool outputs_add_frame(struct outputs *o, const struct frame *frame, const struct image *rgba, bool wait)
{
    struct outputs_file *file = &o->file;
    const bool begins = file->queued == 0 && recording_frames(file->recording) == 0, first = o->shifted || begins;
    o->time_ns = time_of(o, frame);
    o->lag_ns = first ? clock_now_ns() - o->time_ns : o->lag_ns;
    o->rest_ns = o->info->timed ? (int64_t)(o->info->duration_s * 1e9) - frame->video_ns : 0;
    file->first_ns = begins ? o->time_ns : file->first_ns;
    file->waits = wait;
    if (file->measures && (frame->rate > 0 || (frame->rate == 0 && o->info->rate > 0)))
        encode_with(o, frame->rate > 0 ? frame->rate : o->info->rate, 0, 0);
    return file->starting || file->queued > 0 ? queue_frame(o, rgba) : write_frame(o, file, rgba, o->time_ns);
}

// Returns the time at which the recording would end now. It does not depend on the last frame's lag, because a source
// that was held up is behind its schedule for a while.
static int64_t end_time(const struct outputs *o)
{
    const int64_t now_ns = o->info->live ? clock_now_ns() - o->lag_ns : 0;
    return now_ns > o->time_ns ? now_ns : o->time_ns;
}

// Repeats the last frame of a video for the rest of its time. A signal ends this.
static void add_rest(const struct outputs *o)
{
    struct recording *recording = o->file.recording;
    for (uint64_t before = UINT64_MAX; before != recording_frames(recording) && !process_interrupted();) {
        before = recording_frames(recording);
        recording_fill(recording, o->time_ns + o->rest_ns, NULL);
    }
}

// Ends a recording, if there is one. Removes a video without frames. Returns false if it is incomplete (logged).
static bool close_file(struct outputs_file *file)
{
    if (!file->recording)
        return true;
    const bool ok = recording_close(file->recording);
    file->recording = NULL;
    file->starting = file->measures = false;
    drop_queued(file, file->queued);
    if (file->left_out > 0)
        log_warn("%llu frames are missing from %s: its reader stalled", (unsigned long long)file->left_out, file->name);
    struct stat status;
    if (ok && file->frames == 0 && file_remove(file->name, file->own))
        log_warn("no frame was recorded; %s is removed", file->name);
    else if (!ok && stat(file->name, &status) == 0 && status.st_size == 0)
        file_remove(file->name, file->own); // a format that is unusable without its end
    return ok;
}

// Closes a recording, and keeps its failure. Returns false if it is incomplete (logged).
static bool close_kept(struct outputs *o, struct outputs_file *file)
{
    if (!file->recording)
        return true;
    snprintf(o->failure, sizeof(o->failure), "%s", recording_failure(file->recording));
    file->frames = recording_frames(file->recording); // with the repetitions at its end
    return close_file(file);
}

static void give_up(struct outputs *o, struct outputs_file *file)
{
    close_file(file);
    note_set(o->note, true, NOTE_S, "nothing recorded to %s: it had not started", file->name);
}

bool outputs_busy(const struct outputs *o)
{
    return o->endings > 0 || (o->file.starting && clock_now_ns() - o->file.begun_ns < OUTPUTS_START_NS);
}

// Returns true while ffmpeg starts.
static bool is_coming(const struct outputs_file *file)
{
    return file->starting && !file->measures && recording_state(file->recording) == RECORDING_STARTS;
}

// Follows the start of a recording. Returns false if it has failed (logged), and the user has not begun it during the
// run.
static bool take_started(struct outputs *o, struct outputs_file *file)
{
    if (!file->starting || file->measures || is_coming(file))
        return true;
    file->starting = false;
    if (recording_state(file->recording) == RECORDING_RUNS) {
        if (file->end_ns == 0 && file->asked)
            note_start(o);
        return true;
    }
    close_kept(o, file);
    note_set(o->note, true, NOTE_S, "cannot start a recording; see standard error");
    return file->asked;
}

static bool await_start(struct outputs *o, struct outputs_file *file, int64_t most_ns)
{
    enum { TURN_NS = 10000000 };
    const int64_t begun_ns = clock_now_ns();
    while (is_coming(file) && !process_interrupted() && clock_now_ns() - begun_ns < most_ns)
        recording_await(file->recording, clock_now_ns() + TURN_NS);
    return take_started(o, file);
}

bool outputs_await_start(struct outputs *o, int64_t most_ns)
{
    return await_start(o, &o->file, most_ns);
}

// Returns the rate of the frames that wait.
static double queued_rate(const struct outputs_file *file, double usual)
{
    const int64_t time_ns = file->queued > 1 ? file->queue[file->queued - 1].time_ns - file->queue[0].time_ns : 0;
    return time_ns > 0 ? (double)(file->queued - 1) * 1e9 / (double)time_ns : usual;
}

// Waits for the start and the end of a recording, if there is one; see outputs_end_recording.
static bool complete(struct outputs *o, struct outputs_file *file, int64_t most_ns, bool quit)
{
    if (!file->recording || file->ends)
        return close_kept(o, file);
    if (quit && is_coming(file) && file->queued > 0)
        recording_await(file->recording, file->begun_ns + OUTPUTS_START_NS);
    const bool given_up = file->measures || (quit && is_coming(file));
    const bool ok =
        given_up || (await_start(o, file, INT64_MAX) && !is_coming(file) && write_queued(o, file, SIZE_MAX));
    if (file->recording && !given_up && file->end_ns == 0 && o->rest_ns > 0 && o->rest_ns <= most_ns)
        add_rest(o);
    else if (file->recording && !given_up)
        recording_set_end(file->recording, file->end_ns > 0 ? file->end_ns : end_time(o));
    return close_file(file) && ok;
}

// Removes recording `index` from `ending`.
static void drop_ending(struct outputs *o, int index)
{
    o->endings--;
    memmove(&o->ending[index], &o->ending[index + 1], (size_t)(o->endings - index) * sizeof(*o->ending));
}

// Adds the frames to a recording that has started, and lets a thread end it.
static void end_started(const struct outputs *o, struct outputs_file *file)
{
    if (file->starting || file->ends || !file->recording)
        return;
    write_queued(o, file, SIZE_MAX);
    recording_set_end(file->recording, file->end_ns);
    recording_end(file->recording);
    file->ends = true;
}

// Ends the recording, on a thread once it has started. While too many end, waits for the first of them.
static void start_ending(struct outputs *o)
{
    struct outputs_file *file = &o->file;
    if (file->measures && file->queued > 0)
        encode_with(o, queued_rate(file, rate_of(o)), 0, 0);
    if (file->starting && file->queued == 0) {
        give_up(o, file);
        return;
    }
    if (o->endings == OUTPUTS_ENDINGS) {
        o->incomplete |= !complete(o, &o->ending[0], 0, false);
        drop_ending(o, 0);
    }
    file->end_ns = end_time(o);
    o->ending[o->endings] = *file;
    file->recording = NULL;
    file->starting = file->measures = false;
    file->queued = 0;
    end_started(o, &o->ending[o->endings++]);
    note_set(o->note, false, 0, "finishing %s", file->name);
}

bool outputs_end_recording(struct outputs *o, int64_t most_ns, bool quit)
{
    struct outputs_file *file = &o->file;
    bool ok = !o->incomplete;
    o->incomplete = false;
    quit = quit || process_interrupted();
    if (file->measures && file->queued > 0)
        encode_with(o, queued_rate(file, rate_of(o)), 0, 0);
    for (; o->endings > 0; drop_ending(o, 0))
        ok = complete(o, &o->ending[0], most_ns, quit) && ok;
    return complete(o, file, most_ns, quit) && ok;
}

const char *outputs_failure(const struct outputs *o)
{
    return o->failure[0] ? o->failure : NULL;
}

bool outputs_start_recording(struct outputs *o, struct claim *claim, int quality)
{
    int file;
    char wanted[OUTPUT_NAME];
    memcpy(wanted, claim->path, sizeof(wanted));
    if (!claim_make(claim, &file)) {
        log_error("cannot record to %s: %s", wanted, strerror(errno));
        return false;
    }
    if (o->file.recording)
        start_ending(o);
    o->quality = quality;
    o->file.asked = false;
    memcpy(o->file.name, claim->path, sizeof(o->file.name));
    if (!begin(o, file, false))
        return false;
    memcpy(o->given, wanted, sizeof(o->given));
    return true;
}

bool outputs_record_new(struct outputs *o, const char *path, int quality)
{
    struct stat status;
    struct claim claim = {.missing = true};
    snprintf(claim.path, sizeof(claim.path), "%s", path);
    if (strcmp(path, "-") == 0)
        log_error("cannot begin to record to standard output during the run; name a new file");
    else if (lstat(path, &status) == 0)
        log_error("%s exists; name another file", path);
    else if (output_check_recording(path)) {
        if (!outputs_start_recording(o, &claim, quality))
            return false;
        o->file.asked = true;
        note_start(o);
        return true;
    }
    return false;
}

void outputs_toggle_recording(struct outputs *o, const char *suffix, bool animation, bool still)
{
    if (animation && o->file.recording && !o->animation) {
        note_set(o->note, true, NOTE_S, "%s is being recorded; end it before you record a GIF", o->file.name);
    } else if (o->file.recording) {
        start_ending(o);
    } else if (still) {
        note_set(o->note, false, NOTE_S, "a still image cannot be recorded; save a screenshot instead");
    } else {
        const int file = animation ? output_new_name(o->file.name, ".gif") : next_name(o, suffix);
        o->file.asked = true;
        if (file >= 0 && begin(o, file, animation))
            note_start(o);
        else
            note_set(o->note, true, NOTE_S, "cannot start a recording; see standard error");
    }
}

// Call after recording_add or recording_fill. `ok`: its result; `left_out`: dropped frames before it. Returns `ok`.
static bool added(struct outputs *o, bool ok, uint64_t left_out)
{
    enum { STALL_S = 1 }; // how long the message stays after the last dropped frame
    struct outputs_file *file = &o->file;
    if (!ok) {
        note_set(o->note, true, 0, "recording to %s stopped after %llu frames", file->name,
                 (unsigned long long)file->frames);
        close_file(file);
    } else if (file->left_out > left_out) {
        note_set(o->note, true, STALL_S, "the reader of %s has stalled: %llu frames dropped", file->name,
                 (unsigned long long)file->left_out);
    }
    if (ok && o->most > 0 && file->frames >= o->most)
        start_ending(o);
    return ok;
}

bool outputs_recording(const struct outputs *o)
{
    return o->file.recording != NULL;
}

bool outputs_record(struct outputs *o, const struct frame *frame, const struct image *picture, bool wait)
{
    const uint64_t left_out = o->file.left_out;
    return added(o, picture && outputs_add_frame(o, frame, picture, wait), left_out);
}

// Adds frames that have waited, or repeats the last frame while none arrives. False on failure (logged).
static bool fill(struct outputs *o)
{
    struct recording *recording = o->file.recording;
    const uint64_t left_out = o->file.left_out;
    bool stalled;
    if (!recording || o->file.starting || (o->file.queued == 0 && !o->info->live))
        return true;
    const bool ok = o->file.queued > 0 ? write_queued(o, &o->file, QUEUE_TURN)
                                       : recording_fill(recording, end_time(o) - late_ns, &stalled);
    o->file.frames = recording_frames(recording);
    return added(o, ok, left_out);
}

// Follows a recording that ends; closes it if it has ended. Returns false if it is incomplete (logged).
static bool take_ended(struct outputs *o, struct outputs_file *file, bool paused)
{
    bool ok = take_started(o, file);
    end_started(o, file);
    if (file->starting && clock_now_ns() - file->begun_ns > start_ns)
        give_up(o, file);
    if (!file->recording || !file->ends || !recording_ended(file->recording))
        return ok;
    ok = close_kept(o, file);
    if (ok && file->frames == 0)
        note_set(o->note, true, NOTE_S, "nothing recorded to %s: %s", file->name,
                 paused ? "the view is paused" : "no frame arrived");
    else if (!ok)
        note_set(o->note, true, NOTE_S, "recording to %s failed; see standard error", file->name);
    else if (!o->file.recording) // else the message names the new recording
        note_set(o->note, false, NOTE_S, "recorded %.1f s to %s", (double)file->frames / file->rate, file->name);
    return ok;
}

bool outputs_follow(struct outputs *o, bool paused)
{
    bool ok = take_started(o, &o->file) && !o->incomplete;
    o->incomplete = false;
    ok = fill(o) && ok;
    for (int i = 0; i < o->endings; i++) {
        ok = take_ended(o, &o->ending[i], paused) && ok;
        if (!o->ending[i].recording)
            drop_ending(o, i--);
    }
    return ok;
}

bool outputs_send(struct outputs *o, const struct panes *panes)
{
    const struct path_result *result = panes_result(panes, PANE_MAIN);
    if (!o->camera || o->resting || !result || !result->encoded.plane[0])
        return true;
    const int64_t start = clock_now_ns();
    const bool ok =
        image_shape_equal(&result->encoded.shape, &o->encode) && virtual_camera_send(o->camera, &result->encoded);
    if (!ok) {
        note_set(o->note, true, 0, "virtual camera %s stopped: the device accepts no more frames",
                 virtual_camera_name(o->camera));
        close_camera(o);
    } else if (!o->node_failed && virtual_camera_state(o->camera).failed) {
        o->node_failed = true;
        note_set(o->note, true, 0, "a virtual camera stopped: the device accepts no more frames; %s goes on",
                 virtual_camera_name(o->camera));
    }
    meter_host(o->meter, "main", "virtual camera", start, clock_now_ns());
    return ok;
}

bool outputs_send_again(struct outputs *o, const struct panes *panes)
{
    const struct path_result *result = panes_result(panes, PANE_MAIN);
    const bool fits = o->camera && result && result->width == o->width && result->height == o->height;
    return !fits || !virtual_camera_state(o->camera).lacks || outputs_send(o, panes);
}

bool outputs_rest_changed(struct outputs *o)
{
    static const int64_t patience_ns = 2000000000; // programs close and open a camera to change its mode
    const int64_t now_ns = clock_now_ns();
    if (!o->on_demand)
        return false;
    if (!o->camera || virtual_camera_state(o->camera).watched > 0)
        o->watched_ns = now_ns;
    const bool rest = o->watched_ns == 0 || now_ns - o->watched_ns > patience_ns;
    if (rest == o->resting)
        return false;
    o->resting = rest;
    if (!o->camera)
        return true;
    if (rest)
        virtual_camera_blank(o->camera);
    log_info(rest ? "no program reads the virtual camera %s: the camera is closed"
                  : "a program reads the virtual camera %s: the camera is opened",
             virtual_camera_name(o->camera));
    return true;
}

bool outputs_resize(struct outputs *o, int width, int height)
{
    if (o->camera || o->file.recording)
        return o->width == width && o->height == height;
    o->width = width;
    o->height = height;
    return true;
}

bool outputs_reopen(struct outputs *o, int width, int height)
{
    const int before_width = o->width, before_height = o->height;
    if (!o->camera || (before_width == width && before_height == height))
        return true;
    close_camera(o);
    o->width = width;
    o->height = height;
    if (open_camera(o))
        return true;
    o->width = before_width;
    o->height = before_height;
    if (!open_camera(o))
        note_set(o->note, true, 0, "the virtual camera stopped");
    return false;
}

void outputs_stop_recording(struct outputs *o)
{
    if (!o->file.recording)
        return;
    log_error("%s", note_set(o->note, true, 0, "the frame size changed: recording to %s stopped after %llu frames",
                             o->file.name, (unsigned long long)o->file.frames));
    close_file(&o->file);
}

struct outputs_facts outputs_describe(const struct outputs *o)
{
    struct outputs_facts facts = {.recorded = o->file.frames};
    if (o->file.recording) {
        facts.recording = o->file.name;
        facts.recorded_s = (int)((double)o->file.frames / o->file.rate);
    }
    if (o->endings > 0)
        facts.ending = o->ending[0].name;
    if (o->camera) {
        facts.camera = virtual_camera_name(o->camera);
        facts.camera_shape = o->encode;
        facts.at = virtual_camera_state(o->camera);
        facts.on_demand = o->on_demand;
        facts.resting = o->resting;
    }
    return facts;
}
