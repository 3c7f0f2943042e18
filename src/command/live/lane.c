// lane.c: sends frames through the lanes' paths, and changes the paths when the wish changes
#include "command/live/live.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum path_kind live_next_kind(const struct live *live, enum path_kind kind)
{
    do
        kind = (enum path_kind)((kind + 1) % PATH_KINDS);
    while (path_kind_info(kind)->needs_device && live->wish.device < 0);
    return kind;
}

// Fills in the build that the wish needs. False: the lane must be closed.
static bool lane_wanted(const struct live *live, int which, struct build *build)
{
    const struct wish *wish = &live->wish;
    if (which == LANE_OTHER && wish->split == SPLIT_OFF)
        return false;
    enum path_kind kind = wish->kind;
    build->chain = wish->chain;
    if (which == LANE_OTHER && wish->split == SPLIT_ORIGINAL)
        build->chain.count = 0;
    else if (which == LANE_OTHER)
        kind = live_next_kind(live, kind);
    build->path = NULL;
    build->shows = which == LANE_OTHER ? wish->split : SPLIT_OFF;
    build->setup = (struct path_setup){
        .kind = kind,
        .device = path_kind_info(kind)->needs_device ? live->device[wish->device] : NULL,
        .input = live->info->shape,
        .chain = &build->chain,
        .depth = live->depth,
        .threads = live->options.threads,
        .gl = live->window != NULL,
    };
    if (which == LANE_MAIN && live->camera)
        build->setup.encode = *camera_output_shape(live->camera);
    return true;
}

static void lane_adopt(struct live *live, int which, struct path *path, const struct build *build)
{
    struct lane *lane = &live->lane[which];
    if (path) {
        lane_close(live, which);
        lane->path = path;
        lane->kind = build->setup.kind;
        lane->device = build->setup.device;
        if (which == LANE_MAIN) {
            source_place(live->source, lane->device ? lane->device->pages : NULL);
            meter_forget(&live->meter); // the overlay shows them beside the new path's name
        }
    } else {
        path_swap(lane->path);
        lane->has_result = false;
        lane->texture = 0;
    }
    lane->chain = build->chain;
    lane->shows = (enum split)build->shows;
    live->rerun = true;
}

bool lane_open(struct live *live, int which, char **error)
{
    struct build build;
    if (!lane_wanted(live, which, &build))
        return false;
    struct path *path = path_open(&build.setup, error);
    if (!path)
        return false;
    lane_adopt(live, which, path, &build);
    return true;
}

bool lane_ask(struct live *live, int which)
{
    struct build build;
    if (!lane_wanted(live, which, &build))
        return false;
    builder_ask(live->builder, which, &build);
    return true;
}

bool lane_asked(struct live *live, int which, bool *ok, char **error)
{
    struct build_result result;
    if (!builder_take(live->builder, which, &result, false))
        return false;
    *ok = result.ok;
    *error = result.error;
    if (result.ok)
        lane_adopt(live, which, result.opened, &result.build);
    return true;
}

void lane_close(struct live *live, int which)
{
    struct lane *lane = &live->lane[which];
    path_close(lane->path);
    lane->path = NULL;
    lane->has_result = false;
    lane->texture = 0;
}

// Waits until the builder no longer uses the lane's path, and discards the result. Call before the path is closed.
static void lane_settle(struct live *live, int which)
{
    struct lane *lane = &live->lane[which];
    struct build_result result;
    if (!lane->building)
        return;
    if (builder_take(live->builder, which, &result, true)) {
        path_close(result.opened);
        free(result.error);
    }
    lane->building = false;
}

void lanes_close(struct live *live)
{
    for (int i = 0; i < LANES; i++) {
        lane_settle(live, i);
        lane_close(live, i);
    }
}

// Replaces the main lane's failed path by the cpu path and submits all frames in flight again. False if that fails, too
// (logged, live->code set).
static bool recover(struct live *live)
{
    struct lane *lane = &live->lane[LANE_MAIN];
    const char *failed = path_kind_name(lane->kind);
    if (lane->kind == PATH_CPU) {
        log_error("the cpu path failed, and there is no other path");
        live->code = EXIT_DEVICE;
        return false;
    }
    log_warn("the %s path failed on %s; continuing on the cpu path", failed, live_device_name(live, lane));
    live_note(live, true, 0, "the %s path failed on %s; continuing on the cpu path", failed,
              live_device_name(live, lane));
    live->wish.split = SPLIT_OFF;
    lanes_close(live);
    live->wish.kind = PATH_CPU;
    bool ok = lane_open(live, LANE_MAIN, NULL);
    for (int i = 0; ok && i < live->flights; i++) {
        bool lost = false;
        ok = path_submit(lane->path, &live->flight[i].image, live->flight[i].number, &lost);
    }
    if (!ok) {
        log_error("the cpu path cannot replace the %s path", failed);
        live->code = EXIT_DEVICE;
    }
    report_state(live, "state");
    return ok;
}

// Switches the split view off because its second path failed.
static void drop_other(struct live *live)
{
    lane_settle(live, LANE_OTHER);
    lane_close(live, LANE_OTHER);
    live->wish.split = SPLIT_OFF;
    live_note(live, true, 0, "the other pane of the split view failed; the split view is now off");
    report_state(live, "state");
}

bool lanes_submit(struct live *live, const struct frame *frame)
{
    live->flight[live->flights++] = *frame;
    bool lost = false;
    struct lane *other = &live->lane[LANE_OTHER];
    if (!path_submit(live->lane[LANE_MAIN].path, &frame->image, frame->number, &lost))
        return recover(live);
    if (other->path && !path_submit(other->path, &frame->image, frame->number, &lost))
        drop_other(live);
    return true;
}

bool lanes_ready(const struct live *live)
{
    for (int i = 0; i < LANES; i++) {
        if (live->lane[i].path && !path_ready(live->lane[i].path))
            return false;
    }
    return true;
}

static void measure(struct live *live, int which, uint64_t frame)
{
    const struct lane *lane = &live->lane[which];
    const char *label = NULL;
    if (which == LANE_OTHER)
        label = lane->shows == SPLIT_ORIGINAL ? "original" : path_kind_name(lane->kind);
    for (int i = 0; i < lane->result.stages; i++) {
        const struct stage_time *time = &lane->result.stage[i];
        char track[METER_NAME] = "path"; // an OpenCL device overlaps several frames, so each step has its own track
        if (time->clock == STAGE_DEVICE)
            snprintf(track, sizeof(track), "device %s %.*s", label ? label : "", (int)strcspn(time->name, " "),
                     time->name);
        meter_add(&live->meter, track, label, time, frame);
    }
}

bool lanes_collect(struct live *live, struct frame *frame)
{
    bool lost = false;
    struct lane *lane = &live->lane[LANE_MAIN];
    struct lane *other = &live->lane[LANE_OTHER];
    lane->has_result = path_collect(lane->path, &lane->result, &lost);
    if (!lane->has_result) {
        if (!recover(live))
            return false;
        lane->has_result = path_collect(lane->path, &lane->result, &lost);
        if (!lane->has_result)
            return recover(live);
    }
    if (other->path && path_in_flight(other->path) > 0) {
        other->has_result = path_collect(other->path, &other->result, &lost);
        if (!other->has_result)
            drop_other(live);
    }
    *frame = live->flight[0];
    live->flights--;
    memmove(&live->flight[0], &live->flight[1], (size_t)live->flights * sizeof(live->flight[0]));
    for (int i = 0; i < LANES; i++) {
        if (live->lane[i].has_result)
            measure(live, i, frame->number);
    }
    return true;
}

void lanes_changed(struct live *live, bool reload)
{
    for (int i = 0; i < LANES; i++) {
        live->lane[i].stale = true;
        live->lane[i].reload = live->lane[i].reload || reload;
    }
    live->awaited = false;
}

bool lanes_building(const struct live *live)
{
    for (int i = 0; i < LANES; i++) {
        if (live->lane[i].building || live->lane[i].stale)
            return true;
    }
    return false;
}

static bool same_chain(const struct chain *a, const struct chain *b)
{
    char text_a[CHAIN_TEXT], text_b[CHAIN_TEXT];
    chain_print(a, text_a);
    chain_print(b, text_b);
    return strcmp(text_a, text_b) == 0;
}

static void start_build(struct live *live, int which)
{
    struct lane *lane = &live->lane[which];
    struct build build;
    const bool reload = lane->reload;
    lane->stale = false;
    lane->reload = false;
    if (!lane_wanted(live, which, &build)) {
        lane_close(live, which);
        return;
    }
    if (lane->path && lane->kind == build.setup.kind && lane->device == build.setup.device) {
        if (!reload && same_chain(&lane->chain, &build.chain)) {
            lane->shows = (enum split)build.shows;
            return;
        }
        build.path = lane->path;
    }
    builder_ask(live->builder, which, &build);
    lane->building = true;
}

static void trim(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
}

// Logs a failed build. The old path keeps running. A new path, device or split view is removed from the wish. A new
// chain stays in it, because the next save of a kernel may fix the build.
static void build_failed(struct live *live, int which, const struct build_result *result)
{
    char text[CHAIN_TEXT];
    chain_print(&result->build.chain, text);
    live->code = live->awaited ? EXIT_NOTHING : live->code;
    live_note(live, true, 0, "cannot build \"%s\" for the %s path\n%s", text, path_kind_name(result->build.setup.kind),
              result->error ? result->error : "see standard error");
    trim(live->note.text);
    log_error("%s", live->note.text);
    if (result->build.path)
        return;
    const struct lane *lane = &live->lane[which];
    if (which == LANE_OTHER) {
        live->wish.split = SPLIT_OFF;
        return;
    }
    live->wish.kind = lane->kind;
    for (int i = 0; i < live->devices; i++) {
        if (lane->device && live->device[i] == lane->device)
            live->wish.device = i;
    }
}

static void take_build(struct live *live, int which)
{
    struct lane *lane = &live->lane[which];
    struct build_result result;
    if (!builder_take(live->builder, which, &result, false))
        return;
    lane->building = false;
    if (result.ok) {
        lane_adopt(live, which, result.opened, &result.build);
        live->awaited = false;
        if (which == LANE_MAIN && live->note.error)
            live->note.text[0] = '\0';
    } else if (!lane->stale) {
        build_failed(live, which, &result);
    }
    free(result.error);
    live->redraw = true;
    report_state(live, "state");
}

void lanes_update(struct live *live)
{
    for (int i = 0; i < LANES; i++) {
        if (live->lane[i].building)
            take_build(live, i);
        if (live->lane[i].stale && !live->lane[i].building)
            start_build(live, i);
    }
}

const struct image *lane_picture(struct live *live)
{
    struct lane *lane = &live->lane[LANE_MAIN];
    if (!lane->has_result)
        return NULL;
    if (lane->result.image.plane[0])
        return &lane->result.image;
    if (window_lost(live->window))
        return NULL;
    if (!live->readback.memory) {
        const struct image_shape shape = {.width = lane->result.width, .height = lane->result.height};
        if (!image_alloc(&live->readback, &shape)) {
            log_error("cannot read the frame from the device: out of memory");
            return NULL;
        }
    }
    return path_read(lane->path, &lane->result, &live->readback) ? &live->readback : NULL;
}
