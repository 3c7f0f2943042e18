// panes.c: sends frames through the panes' paths, and changes the paths when the settings or the state change
#include "stream/panes.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/thread.h"
#include "compute/tuned.h"
#include "matte/matte.h"
#include "path/opencl_chain.h"
#include "tune/live_tuning.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLOSE_PATIENCE_MS = 250, POLL_NS = 2000000, RGBA_BYTES = 4, IDLE_MS = 20000, PICTURE_MS = 5000 };

struct pane {
    struct path *path; // NULL: not open
    enum path_kind kind;
    struct device *device; // NULL for the cpu path
    unsigned measures;     // of the path
    struct chain chain;    // what the path runs
    enum split shows;      // the split view that the path was built for
    struct path_result result;
    bool has_result;
    bool stale;  // the settings may have changed: compare them
    bool reload; // kernel files have changed: build again
};

// Builds a path, or a chain for an open path, on a thread of its own.
struct build {
    struct pane *pane;       // NULL: no build
    enum split shows;        // pane.shows after the build
    struct path_setup setup; // setup.chain is set by the thread
    struct chain chain;
    struct path *path; // prepare the chain on this path, which must stay open until then; NULL: open a new path
    pthread_t thread;
    bool running;     // the thread must be joined
    atomic_bool done; // the members below are set
    bool ok;
    struct path *opened; // the new path; NULL if `path` was prepared for path_swap
    char *error;         // why the build failed; NULL if ok or if it was logged
};

struct flight {
    struct frame frame;
    int64_t taken_ns; // when the caller took it from the capture; 0: it was shown before
};

struct panes {
    struct panes_setup setup;
    struct live_tuning *tuning; // NULL: none
    struct tuned tuned;         // tuning results for the cpu path
    unsigned measures;          // of panes_measure; 0: the main pane returns pictures
    int strips;
    struct pane pane[PANES];
    struct build build;
    struct flight flight[PATH_DEPTH_MAX]; // oldest first
    int flights;
    struct frame held; // the frame of the results; valid if `holds`; see panes_submit_again
    bool holds;
    struct image readback; // RGBA; for panes_picture if the result is a texture
    bool rerun;            // see panes_rerun
    bool awaited;          // the path that the user named is being built
    bool trial;            // the build is one that the user has not asked for
    bool fitted;           // fit has said that it scales
    enum panes_news news;
};

struct panes *panes_create(const struct panes_setup *setup)
{
    struct panes *panes = xalloc(sizeof(*panes));
    panes->setup = *setup;
    tuned_init(&panes->tuned);
    return panes;
}

void panes_tune(struct panes *panes, struct live_tuning *tuning)
{
    panes->tuning = tuning;
}

// The main pane's path has another chain, or is closed.
static void end_tuning(struct panes *panes)
{
    if (panes->tuning)
        live_tuning_forget(panes->tuning);
}

static void pane_close(struct pane *pane)
{
    path_close(pane->path);
    pane->path = NULL;
    pane->has_result = false;
}

// Removes the filters that keep the size, but not the camera's mirror and flip. Then both panes of the split view show
// the same part of the picture. A main pane that only measures has no picture: then all filters are removed.
static void make_original(const struct panes *panes, struct chain *chain)
{
    for (int i = chain->count - 1; i >= 0; i--) {
        const struct stage *stage = &chain->stage[i];
        const bool turns = stage->filter->kind == FILTER_GEOMETRY && stage->part == PART_CAMERA;
        if (panes->measures || stage->filter->user || (stage->filter->kind != FILTER_WARP && !turns))
            chain_remove(chain, i);
    }
}

// Returns the YUV shape of the main pane's results; a virtual camera has an even size.
static struct image_shape encode_shape(const struct panes *panes, const struct chain *chain)
{
    struct image_shape shape = *panes->setup.encode;
    if (shape.width == 0)
        return shape;
    settings_size(chain, &source_info(panes->setup.source)->shape, &shape.width, &shape.height);
    shape.width &= ~1;
    shape.height &= ~1;
    return shape;
}

static enum split split_of(const struct panes *panes)
{
    return panes->setup.state->split_failed ? SPLIT_OFF : panes->setup.settings->split;
}

struct path_offer panes_offer(const struct panes *panes)
{
    return devices_offer(panes->setup.devices, panes->setup.state, &panes->setup.settings->chain, panes->setup.gl);
}

enum path_kind panes_next_kind(const struct panes *panes)
{
    const struct path_offer offer = panes_offer(panes);
    return path_next(&offer, panes->setup.state->kind);
}

// Brings the chain's results to the fixed size, if there is one. Says once that it scales to a size that the user has
// not set.
static void fit(struct panes *panes, struct chain *chain)
{
    const struct image_shape *fixed = panes->setup.fixed, *from = &source_info(panes->setup.source)->shape;
    const int count = chain->count, width = fixed->width, height = fixed->height;
    if (width > 0 && !panes->measures && !settings_fit(chain, from, width, height, panes->setup.settings->output_fit))
        note_set(panes->setup.note, true, 0,
                 "the outputs have %dx%d; remove two filters, so that the image can be fitted", width, height);
    else if (chain->count > count && !panes->fitted && panes->setup.settings->output.width == 0)
        log_warn("%s", note_set(panes->setup.note, false, NOTE_S,
                                "the outputs stay %dx%d: the image is fitted; output_size and output_fit change this",
                                width, height));
    panes->fitted |= chain->count > count;
}

// Fills in the build that the settings and the state need. False: the pane must be closed.
static bool pane_wanted(struct panes *panes, int which, struct build *build)
{
    const struct settings *settings = panes->setup.settings;
    const struct stream_state *state = panes->setup.state;
    const enum split split = split_of(panes);
    if (which == PANE_OTHER && split == SPLIT_OFF)
        return false;
    *build = (struct build){.chain = settings->chain};
    settings_cut(settings, &build->chain);
    if (which == PANE_OTHER && split == SPLIT_ORIGINAL)
        make_original(panes, &build->chain);
    if (!settings_enlarge(settings, &build->chain, &source_info(panes->setup.source)->shape))
        note_set(panes->setup.note, true, 0, "the outputs cannot be zoomed; remove two filters");
    fit(panes, &build->chain);
    build->setup = (struct path_setup){
        .kind = state->kind,
        .input = source_info(panes->setup.source)->shape,
        .strips = 1,
        .chain = &build->chain,
        .depth = panes->setup.depth,
        .threads = panes->setup.threads,
        .tuned = &panes->tuned,
        .gl = panes->setup.gl,
        .textures = panes->setup.gl != NULL,
        .kernels = panes->setup.devices->kernels,
    };
    if (which == PANE_OTHER && split == SPLIT_PATH)
        build->setup.kind = panes_next_kind(panes);
    if (path_kind_info(build->setup.kind)->needs_device)
        build->setup.device = devices_open(panes->setup.devices, state->device);
    if (which == PANE_MAIN) {
        build->setup.encode = encode_shape(panes, &build->chain);
        build->setup.measures = settings_measures(settings);
    }
    if (which == PANE_MAIN && panes->measures) {
        build->setup.measures = panes->measures;
        build->setup.strips = panes->strips;
        build->setup.measured_only = true;
    }
    return true;
}

// Starts to use the result of a build.
static void pane_use_build(struct panes *panes, struct pane *pane, const struct build *build)
{
    if (build->opened) {
        pane_close(pane);
        pane->path = build->opened;
        pane->kind = build->setup.kind;
        pane->device = build->setup.device;
        pane->measures = build->setup.measures;
        if (pane == &panes->pane[PANE_MAIN]) {
            source_set_owner(panes->setup.source, pane->device ? pane->device->pages : NULL);
            meter_forget(panes->setup.meter); // the overlay shows the statistics beside the new path's name
        }
    } else {
        path_swap(pane->path);
        pane->has_result = false;
    }
    if (pane == &panes->pane[PANE_MAIN])
        end_tuning(panes);
    pane->chain = build->chain;
    panes->rerun = true;
}

bool panes_open(struct panes *panes, char **error)
{
    struct build build;
    pane_wanted(panes, PANE_MAIN, &build);
    build.opened = path_open(&build.setup, error);
    if (build.opened)
        pane_use_build(panes, &panes->pane[PANE_MAIN], &build);
    panes->pane[PANE_OTHER].stale = split_of(panes) != SPLIT_OFF;
    return build.opened != NULL;
}

static void *build_run(void *context)
{
    struct build *b = context;
    b->setup.chain = &b->chain;
    if (b->path)
        b->ok = path_prepare(b->path, &b->chain, &b->error);
    else
        b->ok = (b->opened = path_open(&b->setup, &b->error)) != NULL;
    b->done = true;
    return NULL;
}

static void build_join(struct build *b)
{
    if (b->running)
        pthread_join(b->thread, NULL);
    b->running = false;
    b->pane = NULL;
}

// Waits for the build, if there is one, and frees its result. Nothing can stop a driver's compiler: returns false if
// the build takes longer than `patience_ms`; -1: no limit.
static bool build_discard(struct build *b, int patience_ms)
{
    if (!b->pane)
        return true;
    const int64_t deadline_ns = clock_now_ns() + (int64_t)patience_ms * 1000000;
    for (; patience_ms >= 0 && !b->done; clock_sleep_until_ns(clock_now_ns() + POLL_NS)) {
        if (clock_now_ns() >= deadline_ns)
            return false;
    }
    build_join(b);
    path_close(b->opened);
    free(b->error);
    return true;
}

const struct image *panes_input(const struct panes *panes)
{
    return panes->holds ? &panes->held.image : NULL;
}

void panes_release(struct panes *panes)
{
    if (panes->holds)
        source_return(panes->setup.source, &panes->held);
    panes->holds = false;
}

void panes_close(struct panes *panes)
{
    build_discard(&panes->build, -1);
    for (int i = 0; i < PANES; i++)
        pane_close(&panes->pane[i]);
    panes->trial = false;
    end_tuning(panes);
    panes_release(panes);
    image_free(&panes->readback);
}

void panes_set_source(struct panes *panes, struct source *source)
{
    panes->setup.source = source;
}

void panes_measure(struct panes *panes, unsigned measures, int strips)
{
    panes->measures = measures;
    panes->strips = strips;
}

bool panes_finish(struct panes *panes)
{
    if (!panes)
        return true;
    if (!build_discard(&panes->build, CLOSE_PATIENCE_MS) || window_lost(panes->setup.window))
        return false;
    panes_close(panes);
    for (int i = 0; i < panes->flights; i++)
        source_return(panes->setup.source, &panes->flight[i].frame);
    tuned_finish(&panes->tuned);
    free(panes);
    return true;
}

// Returns how long filters may wait for other programs.
static int patience_ms(const struct panes *panes, const struct frame *frame)
{
    const struct source_info *info = source_info(panes->setup.source);
    const double rate = info->rate > 0 ? info->rate : SOURCE_DEFAULT_RATE;
    if (!info->live)
        return -1;
    if (info->pictures || info->still) // no later frame shows the matte
        return PICTURE_MS;
    if (panes->setup.settings->matte_wait >= 0)
        return (int)panes->setup.settings->matte_wait;
    return clock_ms_until(frame->captured_ns + (int64_t)(1e9 / rate));
}

struct frame_time panes_frame_time(const struct panes *panes, const struct frame *frame)
{
    return (struct frame_time){.number = frame->number,
                               .time_ns = frame->video_ns,
                               .source = frame->file ? frame->file : source_info(panes->setup.source)->name,
                               .previous = frame->follows,
                               .wait_ms = patience_ms(panes, frame)};
}

static bool submit(const struct panes *panes, struct path *path, const struct frame *frame)
{
    const struct frame_time frame_time = panes_frame_time(panes, frame);
    const bool ok = path_submit(path, &frame->image, &frame_time);
    matte_end(IDLE_MS); // the program of a filter that has left the chain
    return ok;
}

// Replaces the main pane's failed path by the cpu path and submits all frames in flight again. False if that fails, too
// (logged).
static bool recover(struct panes *panes)
{
    struct pane *pane = &panes->pane[PANE_MAIN];
    struct pane_facts facts;
    if (pane->kind == PATH_CPU) {
        log_error("the cpu path failed, and there is no other path");
        return false;
    }
    panes_describe(panes, PANE_MAIN, &facts);
    log_warn("%s", note_set(panes->setup.note, true, 0, "the %s path failed on %s; continuing on the cpu path",
                            facts.kind, facts.device));
    panes->setup.state->split_failed = true;
    panes_close(panes);
    panes->setup.state->kind = PATH_CPU;
    panes->setup.state->automatic = false;
    panes->setup.state->why = NULL;
    panes->news = PANES_CHANGED;
    bool ok = panes_open(panes, NULL);
    for (int i = 0; ok && i < panes->flights; i++)
        ok = submit(panes, pane->path, &panes->flight[i].frame);
    if (!ok)
        log_error("the cpu path cannot replace the %s path", facts.kind);
    return ok;
}

// Switches the split view off because its second path failed.
static void drop_other(struct panes *panes)
{
    if (panes->build.pane == &panes->pane[PANE_OTHER])
        build_discard(&panes->build, -1);
    pane_close(&panes->pane[PANE_OTHER]);
    panes->setup.state->split_failed = true;
    log_warn("%s", note_set(panes->setup.note, true, 0,
                            "the other pane of the split view failed; the split view is now off"));
    panes->news = PANES_CHANGED;
}

// If the failed frame ran a candidate of the tuning, submits it again for the path's own chain.
static bool submit_without_candidate(struct panes *panes)
{
    const struct frame *frame = &panes->flight[0].frame;
    struct path *path = panes->pane[PANE_MAIN].path;
    if (!panes->tuning || !live_tuning_frame_failed(panes->tuning))
        return false;
    path_try(path, NULL);
    return submit(panes, path, frame);
}

bool panes_submit(struct panes *panes, const struct frame *frame, int64_t taken_ns)
{
    struct pane *pane = &panes->pane[PANE_MAIN], *other = &panes->pane[PANE_OTHER];
    panes->flight[panes->flights++] = (struct flight){*frame, taken_ns};
    if (panes->tuning && live_tuning_submit(panes->tuning, pane->path, &frame->image) && panes->news == PANES_UNCHANGED)
        panes->news = PANES_CHANGED;
    if (!submit(panes, pane->path, frame) && !submit_without_candidate(panes))
        return recover(panes);
    if (other->path && !submit(panes, other->path, frame))
        drop_other(panes);
    return true;
}

bool panes_submit_again(struct panes *panes)
{
    const struct frame frame = panes->held;
    panes->holds = false;
    return panes_submit(panes, &frame, 0);
}

int panes_in_flight(const struct panes *panes)
{
    return panes->flights;
}

bool panes_ready(const struct panes *panes)
{
    for (int i = 0; i < PANES; i++) {
        if (panes->pane[i].path && !path_ready(panes->pane[i].path))
            return false;
    }
    return true;
}

// Adds the time that the source needed to fill the frame, and the time that the frame then waited in the mailbox. The
// capture thread writes the first to the trace; the second is a gap there.
static void add_arrival_times(struct meter *meter, const struct flight *flight)
{
    const struct frame *frame = &flight->frame;
    const int64_t arrived_ns = frame->decode_ns ? frame->decode_ns : frame->ready_ns;
    meter_host(meter, NULL, "capture", frame->captured_ns, arrived_ns);
    if (frame->decode_ns)
        meter_host(meter, NULL, "decode", frame->decode_ns, frame->ready_ns);
    meter_host(meter, NULL, "wait", frame->ready_ns, flight->taken_ns);
}

static void add_pane_times(const struct panes *panes, int which)
{
    const struct pane *pane = &panes->pane[which];
    const char *label = NULL;
    if (which == PANE_OTHER)
        label = pane->shows == SPLIT_ORIGINAL ? "original" : path_kind_name(pane->kind);
    for (int i = 0; pane->has_result && i < pane->result.stages; i++) {
        const struct stage_time *time = &pane->result.stage[i];
        char track[METER_NAME] = "path"; // an OpenCL device overlaps several frames, so each step has its own track
        if (time->clock == STAGE_DEVICE)
            snprintf(track, sizeof(track), "device %s %.*s", label ? label : "", (int)strcspn(time->name, " "),
                     time->name);
        meter_add(panes->setup.meter, track, label, time);
    }
}

const struct frame *panes_collect(struct panes *panes)
{
    struct pane *pane = &panes->pane[PANE_MAIN], *other = &panes->pane[PANE_OTHER];
    while (!(pane->has_result = path_collect(pane->path, &pane->result))) {
        if (!submit_without_candidate(panes) && !recover(panes))
            return NULL;
    }
    if (panes->tuning)
        live_tuning_collect(panes->tuning, &pane->result);
    if (other->path && path_info(other->path)->in_flight > 0) {
        other->has_result = path_collect(other->path, &other->result);
        if (!other->has_result)
            drop_other(panes);
    }
    const struct flight flight = panes->flight[0];
    panes->flights--;
    memmove(&panes->flight[0], &panes->flight[1], (size_t)panes->flights * sizeof(panes->flight[0]));
    panes->rerun = false;
    meter_begin(panes->setup.meter, flight.frame.number);
    if (flight.taken_ns)
        add_arrival_times(panes->setup.meter, &flight);
    for (int i = 0; i < PANES; i++)
        add_pane_times(panes, i);
    panes_release(panes);
    panes->held = flight.frame;
    panes->holds = true;
    return &panes->held;
}

bool panes_warm_up(struct panes *panes)
{
    const struct image_shape *shape = &source_info(panes->setup.source)->shape;
    struct frame blank = {0};
    if (!image_alloc(&blank.image, shape)) {
        log_error("cannot start: out of memory");
        return false;
    }
    memset(blank.image.memory, 0, image_bytes(shape));
    const bool ok = panes_submit(panes, &blank, 0) && panes_collect(panes);
    panes->flights = 0;
    panes->holds = false;
    if (panes->pane[PANE_MAIN].path)
        path_forget(panes->pane[PANE_MAIN].path);
    panes->pane[PANE_MAIN].has_result = panes->pane[PANE_OTHER].has_result = false;
    meter_forget(panes->setup.meter);
    image_free(&blank.image);
    return ok;
}

const struct path_result *panes_result(const struct panes *panes, int which)
{
    return panes->pane[which].has_result ? &panes->pane[which].result : NULL;
}

const struct image *panes_picture(struct panes *panes)
{
    struct pane *pane = &panes->pane[PANE_MAIN];
    if (!pane->has_result)
        return NULL;
    if (pane->result.image.plane[0])
        return &pane->result.image;
    if (window_lost(panes->setup.window))
        return NULL;
    const struct image_shape shape = {.width = pane->result.width, .height = pane->result.height};
    if (!image_shape_equal(&panes->readback.shape, &shape))
        image_free(&panes->readback);
    if (!panes->readback.memory && !image_alloc(&panes->readback, &shape)) {
        log_error("cannot read the frame from the device: out of memory");
        return NULL;
    }
    return path_read(pane->path, &pane->result, &panes->readback) ? &panes->readback : NULL;
}

bool panes_compare(struct panes *panes, struct image *both)
{
    const struct image *after = panes_picture(panes);
    struct image before = {0};
    struct chain camera;
    chain_get_part(&panes->setup.settings->chain, PART_CAMERA, &camera);
    make_original(panes, &camera);
    const struct path_setup setup = {.kind = PATH_CPU, .input = panes->held.image.shape, .chain = &camera};
    if (!after || !panes->holds || !path_filter(&setup, &panes->held.image, &before, NULL))
        return false;
    const struct image_shape *left = &before.shape, *right = &after->shape;
    const struct image_shape shape = {.width = left->width + right->width,
                                      .height = left->height > right->height ? left->height : right->height};
    const bool ok = shape.width <= IMAGE_MAX_SIDE && image_alloc(both, &shape);
    if (!ok)
        log_error("cannot put two frames side by side: %s",
                  shape.width > IMAGE_MAX_SIDE ? "they are too wide" : "out of memory");
    for (size_t i = 0; ok && i < image_bytes(&shape); i++)
        both->plane[0][i] = i % RGBA_BYTES == RGBA_BYTES - 1 ? UINT8_MAX : 0;
    struct image pane = {.plane = {both->plane[0]}, .stride = {both->stride[0]}, .shape = *left};
    if (ok)
        image_copy(&pane, &before);
    pane.plane[0] += (size_t)RGBA_BYTES * (size_t)left->width;
    pane.shape = *right;
    if (ok)
        image_copy(&pane, after);
    image_free(&before);
    return ok;
}

void panes_changed(struct panes *panes, bool reload)
{
    for (int i = 0; i < PANES; i++) {
        panes->pane[i].stale = true;
        panes->pane[i].reload = panes->pane[i].reload || reload;
    }
    panes->awaited = panes->trial = false;
}

void panes_split_again(struct panes *panes)
{
    panes->setup.state->split_failed = false;
    panes_changed(panes, false);
}

void panes_await(struct panes *panes)
{
    panes_changed(panes, false);
    panes->awaited = true;
}

bool panes_busy(const struct panes *panes)
{
    return panes->build.pane || panes->pane[PANE_MAIN].stale || panes->pane[PANE_OTHER].stale;
}

bool panes_building(const struct panes *panes)
{
    return panes_busy(panes) && !panes->trial;
}

bool panes_build_runs(const struct panes *panes)
{
    return panes->build.pane && !panes->build.done;
}

bool panes_timed(const struct panes *panes)
{
    return panes->setup.state->timed;
}

bool panes_rerun(const struct panes *panes)
{
    return panes->rerun && panes->holds;
}

bool panes_split(const struct panes *panes)
{
    const struct pane *other = &panes->pane[PANE_OTHER];
    return split_of(panes) != SPLIT_OFF && other->path && other->shows == split_of(panes);
}

static bool same_chain(const struct chain *a, const struct chain *b)
{
    char text_a[CHAIN_TEXT], text_b[CHAIN_TEXT];
    bool same = true;
    for (enum chain_part part = PART_CAMERA; part <= PART_TITLES; part++) {
        chain_print_part(a, part, text_a);
        chain_print_part(b, part, text_b);
        same = same && strcmp(text_a, text_b) == 0;
    }
    return same;
}

// Returns true if the pane's path makes results of the chain's size.
static bool same_size(const struct panes *panes, const struct pane *pane, const struct chain *chain)
{
    int width, height;
    settings_size(chain, &source_info(panes->setup.source)->shape, &width, &height);
    return path_info(pane->path)->width == width && path_info(pane->path)->height == height;
}

// Starts the build that the pane needs, if it needs one. While another pane's build runs, the pane stays stale.
static void pane_update(struct panes *panes, int which)
{
    struct pane *pane = &panes->pane[which];
    struct build build;
    const bool wanted = pane_wanted(panes, which, &build);
    const bool reuse = wanted && pane->path && pane->kind == build.setup.kind && pane->device == build.setup.device &&
                       pane->measures == build.setup.measures && same_size(panes, pane, &build.chain);
    const bool same = reuse && !pane->reload && same_chain(&pane->chain, &build.chain);
    if (wanted && !same && panes->build.pane)
        return;
    pane->stale = pane->reload = false;
    if (!wanted)
        pane_close(pane);
    if (same)
        pane->shows = split_of(panes);
    if (!wanted || same)
        return;
    build.path = reuse ? pane->path : NULL;
    build.pane = pane;
    build.shows = split_of(panes);
    panes->build = build;
    panes->build.running = thread_start(&panes->build.thread, build_run, &panes->build, "builder");
    if (!panes->build.running)
        panes->build.done = true;
}

// Logs a failed build. The old path keeps running. A new path, device, split view or edited filter is removed from the
// state. A new chain stays in the settings, because the next save of a kernel may fix the build.
static void build_failed(struct panes *panes, const struct pane *pane)
{
    char text[CHAIN_TEXT];
    if (panes->trial) {
        log_info("auto: the %s path cannot be built: %s", path_kind_name(panes->build.setup.kind),
                 panes->build.error ? panes->build.error : "see above");
        panes->setup.state->kind = pane->kind;
        return;
    }
    chain_print(&panes->build.chain, text);
    if (panes->awaited)
        panes->news = PANES_FAILED;
    log_message(LOG_ERROR + LOG_LINES, "%s",
                note_set(panes->setup.note, true, 0, "cannot build \"%s\" for the %s path\n%s", text,
                         path_kind_name(panes->build.setup.kind),
                         panes->build.error ? panes->build.error : "see standard error"));
    if (pane == &panes->pane[PANE_MAIN])
        settings_restore_filters(panes->setup.settings, &pane->chain);
    if (panes->build.path)
        return;
    if (pane == &panes->pane[PANE_OTHER]) {
        panes->setup.state->split_failed = true;
        return;
    }
    panes->setup.state->kind = pane->kind;
    if (pane->device)
        panes->setup.state->device = devices_index(panes->setup.devices, pane->device);
}

static void take_build(struct panes *panes)
{
    struct pane *pane = panes->build.pane;
    build_join(&panes->build);
    if (panes->news != PANES_FAILED)
        panes->news = PANES_CHANGED;
    if (panes->build.ok) {
        pane_use_build(panes, pane, &panes->build);
        pane->shows = panes->build.shows;
        panes->awaited = false;
        if (pane == &panes->pane[PANE_MAIN])
            note_clear(panes->setup.note, true);
    } else if (!pane->stale) {
        build_failed(panes, pane);
    }
    panes->trial = panes->trial && panes->pane[PANE_MAIN].stale;
    free(panes->build.error);
}

void panes_update(struct panes *panes)
{
    int first = PANE_MAIN;
    if (panes->build.pane && panes->build.done) {
        first = panes->build.pane == &panes->pane[PANE_MAIN] ? PANE_OTHER
                                                             : PANE_MAIN; // take turns, or one pane would starve
        take_build(panes);
    }
    for (int i = 0; i < PANES; i++) {
        const int which = (first + i) % PANES;
        if (panes->pane[which].stale && panes->build.pane != &panes->pane[which])
            pane_update(panes, which);
    }
}

enum panes_news panes_take_news(struct panes *panes)
{
    const enum panes_news news = panes->news;
    panes->news = PANES_UNCHANGED;
    return news;
}

void panes_describe(const struct panes *panes, int which, struct pane_facts *facts)
{
    const struct pane *pane = &panes->pane[which];
    const char *kind = path_kind_name(pane->kind), *sharing = pane->path ? path_info(pane->path)->sharing : "";
    const bool two = pane->path && strcmp(kind, sharing) != 0;
    *facts = (struct pane_facts){.open = pane->path != NULL,
                                 .result = panes_result(panes, which),
                                 .chain = &pane->chain,
                                 .kind = kind,
                                 .sharing = sharing,
                                 .why = "",
                                 .input = "",
                                 .device = "cpu"};
    if (strcmp(sharing, "gl") == 0)
        facts->device = panes->setup.gl->name;
    else if (pane->device && strcmp(sharing, "cpu") != 0)
        facts->device = pane->device->info.name;
    snprintf(facts->words, sizeof(facts->words), "%s%s%s", kind, text_if(two, "/"), text_if(two, sharing));
    if (pane->path) {
        facts->why = path_info(pane->path)->why;
        facts->input = path_info(pane->path)->input;
        facts->passes = path_passes(pane->path, facts->pass);
    }
    if (panes->setup.state->why && pane->kind == panes->setup.state->kind)
        facts->why = panes->setup.state->why;
    if (strcmp(facts->input, "host-ptr") == 0 && source_health(panes->setup.source).userptr)
        facts->input = "userptr";
    if (pane->kind != panes->setup.state->kind && panes_building(panes)) {
        snprintf(facts->until, sizeof(facts->until), "until the %s path is built",
                 path_kind_name(panes->setup.state->kind));
        facts->why = facts->until;
    }
}

// ---- -p auto: times the frames of a stream on each kind of path, and continues on the fastest ----

// A change of the path would reset a filter that gets its previous output or input.
static bool has_previous(const struct chain *chain)
{
    bool has = false;
    for (int i = 0; i < chain->count; i++)
        has = has || filter_gets_previous(chain->stage[i].filter);
    return has;
}

// Writes the kinds for the main pane's chain, the one in use first. Other kinds do not run on a device that the user
// named, nor exactly the user's kernels.
static int find_candidates(const struct panes *panes, enum path_kind kinds[PATH_KINDS])
{
    const struct panes_setup *with = &panes->setup;
    const struct devices *d = with->devices;
    struct path_offer offer = panes_offer(panes);
    offer.cpu = offer.cpu && !d->named;
    offer.gl_gpu = offer.gl_gpu && !d->named;
    kinds[0] = panes->pane[PANE_MAIN].kind;
    return d->kernels || has_previous(&with->settings->chain) ? 1 : path_candidates(&offer, kinds[0], kinds);
}

// Follows a change of the main pane.
static void follow_work(struct automatic *a, const struct panes *panes)
{
    const struct panes_setup *with = &panes->setup;
    struct path_choice *c = &a->choice;
    const struct image_shape *shape = &source_info(with->source)->shape;
    const struct path_work work = {with->settings->chain, shape->width, shape->height,
                                   settings_measures(with->settings), with->state->device};
    const enum path_change change = c->count == 0 ? WORK_MUCH : path_work_compare(&c->work, &work);
    enum path_kind kinds[PATH_KINDS];
    a->rebuilt = false;
    if (change == WORK_LITTLE && !path_choice_times(c))
        path_choice_check(c, &work);
    else if (change != WORK_SAME)
        path_choice_begin(c, kinds, find_candidates(panes, kinds), &work);
    if (c->count == 1 && with->state->why == c->why)
        with->state->why = NULL;
}

// Reports the choice after the last candidate. False: it is not made yet, or there was none to make.
static bool report_choice(const struct path_choice *c, struct stream_state *state)
{
    if (path_choice_times(c) || !c->why[0])
        return false;
    state->kind = path_choice_kind(c);
    state->why = c->why;
    log_info("%s", c->why);
    return true;
}

bool automatic_follow(struct automatic *a, struct panes *panes)
{
    const struct panes_setup *with = &panes->setup;
    struct path_choice *c = &a->choice;
    bool chosen = false;
    with->state->timed = false;
    if (!with->state->automatic) {
        c->count = c->at = 0;
        a->tries = false;
        return false;
    }
    // A second pane, and the candidates of a tuning, would change the times.
    if (with->settings->tune || with->settings->split != SPLIT_OFF || panes_busy(panes))
        return false;
    if (a->rebuilt || c->count == 0)
        follow_work(a, panes);
    if (a->tries && panes->pane[PANE_MAIN].kind != path_choice_kind(c)) {
        path_choice_refuse(c);
        chosen = report_choice(c, with->state);
    }
    a->tries = panes->pane[PANE_MAIN].kind != path_choice_kind(c);
    with->state->timed = path_choice_times(c) && !a->tries;
    if (a->tries) {
        with->state->kind = path_choice_kind(c);
        if (path_choice_times(c))
            with->state->why = NULL;
        panes->pane[PANE_MAIN].stale = panes->trial = true;
    }
    return chosen;
}

bool automatic_add(struct automatic *a, struct panes *panes, int64_t collected_ns)
{
    const struct panes_setup *with = &panes->setup;
    if (!with->state->timed)
        return false;
    path_choice_add(&a->choice,
                    (double)(collected_ns - a->submitted_ns) / 1e6 + meter_shown_ms(with->meter, "texture upload"));
    return report_choice(&a->choice, with->state);
}

bool automatic_busy(const struct automatic *a)
{
    return path_choice_times(&a->choice) || a->tries;
}
