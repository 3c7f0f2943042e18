// lanes.c: sends frames through the lanes' paths, and changes the paths when the wish changes
#include "stream/lanes.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "image/convert.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLOSE_PATIENCE_MS = 250, POLL_NS = 2000000, RGBA_BYTES = 4 };

struct lane {
    struct path *path; // NULL: not open
    enum path_kind kind;
    struct device *device; // NULL for the cpu path
    unsigned measures;     // of the path
    struct chain chain;    // what the path runs
    enum split shows;      // the split view that the path was built for
    struct path_result result;
    bool has_result;
    bool stale;  // the wish may have changed: compare them
    bool reload; // kernel files have changed: build again
};

// Builds a path, or a chain for an open path, on a thread of its own.
struct build {
    struct lane *lane;       // NULL: no build
    enum split shows;        // lane.shows after the build
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

struct lanes {
    struct lanes_setup set;
    struct online *online;     // NULL: none
    struct tuned tuned;        // tuning results for the cpu path
    struct image_shape encode; // format and colour of the main lane's YUV results; width 0: none
    unsigned measures;         // of lanes_measure; 0: the main lane returns pictures
    int strips;
    struct lane lane[LANES];
    struct build build;
    struct flight flight[PATH_DEPTH_MAX]; // oldest first
    int flights;
    struct frame held; // the frame of the results; valid if `holds`; see lanes_submit_again
    bool holds;
    struct image readback; // RGBA; for lanes_picture if the result is a texture
    bool rerun;            // see lanes_rerun
    bool awaited;          // the path that the user named is being built
    bool trial;            // of lanes_try
    enum lanes_news news;
};

struct lanes *lanes_create(const struct lanes_setup *setup)
{
    struct lanes *l = calloc(1, sizeof(*l));
    if (!l) {
        log_error("cannot start: out of memory");
        return NULL;
    }
    l->set = *setup;
    tuned_init(&l->tuned);
    lanes_set_encode(l, setup->encode);
    return l;
}

void lanes_tune(struct lanes *l, struct online *online)
{
    l->online = online;
}

// The main lane's path has another chain, or is closed.
static void end_tuning(struct lanes *l)
{
    if (l->online)
        online_forget(l->online);
}

static void lane_close(struct lane *lane)
{
    path_close(lane->path);
    lane->path = NULL;
    lane->has_result = false;
}

// Removes the filters that keep the size. Then both panes of the split view show the same part of the picture.
static void keep_warps(struct chain *chain)
{
    for (int i = chain->count - 1; i >= 0; i--) {
        if (chain->stage[i].filter->kind != FILTER_WARP || chain->stage[i].filter->user)
            chain_remove(chain, i);
    }
}

// Sets the size of the chain's results. If the chain is impossible, the size of the input: path_open then refuses it.
static void size_of(const struct lanes *l, const struct chain *chain, int *width, int *height)
{
    const struct image_shape *input = &source_info(l->set.source)->shape;
    char why[CHAIN_ERROR];
    *width = input->width;
    *height = input->height;
    chain_output_size(chain, width, height, why);
}

// Returns the YUV shape of the main lane's results; a virtual camera has an even size.
static struct image_shape encode_shape(const struct lanes *l, const struct chain *chain)
{
    struct image_shape shape = l->encode;
    if (shape.width == 0)
        return shape;
    size_of(l, chain, &shape.width, &shape.height);
    shape.width &= ~1;
    shape.height &= ~1;
    return shape;
}

// Fills in the build that the wish needs. False: the lane must be closed.
static bool lane_wanted(struct lanes *l, int which, struct build *build)
{
    const struct wish *wish = l->set.wish;
    if (which == LANE_OTHER && wish->split == SPLIT_OFF)
        return false;
    const unsigned measured = which == LANE_MAIN ? l->measures : 0;
    const enum path_kind kind = which == LANE_OTHER && wish->split == SPLIT_PATH ? wish_next_kind(wish) : wish->kind;
    *build = (struct build){.chain = wish->chain};
    if (which == LANE_OTHER && wish->split == SPLIT_ORIGINAL)
        keep_warps(&build->chain);
    build->setup = (struct path_setup){
        .kind = kind,
        .device = path_kind_info(kind)->needs_device ? devices_open(l->set.devices, wish->device) : NULL,
        .input = source_info(l->set.source)->shape,
        .encode = which == LANE_MAIN ? encode_shape(l, &build->chain) : (struct image_shape){0},
        .measures = measured             ? measured
                    : which == LANE_MAIN ? wish_measures(wish)
                                         : 0,
        .strips = measured ? l->strips : 1,
        .measured_only = measured != 0,
        .chain = &build->chain,
        .depth = l->set.depth,
        .threads = l->set.threads,
        .tuned = &l->tuned,
        .gl = l->set.gl,
        .textures = l->set.gl != NULL,
        .kernels = l->set.devices->kernels,
    };
    return true;
}

// Starts to use the result of a build.
static void lane_use_build(struct lanes *l, struct lane *lane, const struct build *build)
{
    if (build->opened) {
        lane_close(lane);
        lane->path = build->opened;
        lane->kind = build->setup.kind;
        lane->device = build->setup.device;
        lane->measures = build->setup.measures;
        if (lane == &l->lane[LANE_MAIN]) {
            source_place(l->set.source, lane->device ? lane->device->pages : NULL);
            meter_forget(l->set.meter); // the overlay shows the statistics beside the new path's name
        }
    } else {
        path_swap(lane->path);
        lane->has_result = false;
    }
    if (lane == &l->lane[LANE_MAIN])
        end_tuning(l);
    lane->chain = build->chain;
    l->rerun = true;
}

bool lanes_open(struct lanes *l, char **error)
{
    struct build build;
    lane_wanted(l, LANE_MAIN, &build);
    build.opened = path_open(&build.setup, error);
    if (build.opened)
        lane_use_build(l, &l->lane[LANE_MAIN], &build);
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
    b->lane = NULL;
}

// Waits for the build, if there is one, and frees its result. Nothing can stop a driver's compiler: returns false if
// the build takes longer than `patience_ms`; -1: no limit.
static bool build_discard(struct build *b, int patience_ms)
{
    if (!b->lane)
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

void lanes_release(struct lanes *l)
{
    if (l->holds)
        source_return(l->set.source, &l->held);
    l->holds = false;
}

void lanes_close(struct lanes *l)
{
    build_discard(&l->build, -1);
    for (int i = 0; i < LANES; i++)
        lane_close(&l->lane[i]);
    l->trial = false;
    end_tuning(l);
    lanes_release(l);
    image_free(&l->readback);
}

void lanes_set_source(struct lanes *l, struct source *source)
{
    l->set.source = source;
}

void lanes_set_encode(struct lanes *l, const struct image_shape *shape)
{
    l->encode = shape ? *shape : (struct image_shape){0};
}

void lanes_measure(struct lanes *l, unsigned measures, int strips)
{
    l->measures = measures;
    l->strips = strips;
}

bool lanes_finish(struct lanes *l)
{
    if (!l)
        return true;
    if (!build_discard(&l->build, CLOSE_PATIENCE_MS) || window_lost(l->set.window))
        return false;
    lanes_close(l);
    for (int i = 0; i < l->flights; i++)
        source_return(l->set.source, &l->flight[i].frame);
    tuned_finish(&l->tuned);
    free(l);
    return true;
}

// Tells a path the number of the frame that it gets next. Its time follows from the source's rate, so that every run
// and every path have the same.
static void set_time(const struct lanes *l, struct path *path, const struct frame *frame)
{
    const double rate = source_info(l->set.source)->rate;
    path_source(path, source_info(l->set.source)->name);
    path_time(path, frame->number, (int64_t)((double)frame->number * 1e9 / (rate > 0 ? rate : SOURCE_DEFAULT_RATE)));
}

// Replaces the main lane's failed path by the cpu path and submits all frames in flight again. False if that fails, too
// (logged).
static bool recover(struct lanes *l)
{
    struct lane *lane = &l->lane[LANE_MAIN];
    struct lane_facts facts;
    if (lane->kind == PATH_CPU) {
        log_error("the cpu path failed, and there is no other path");
        return false;
    }
    lanes_describe(l, LANE_MAIN, &facts);
    log_warn("%s", note_set(l->set.note, true, 0, "the %s path failed on %s; continuing on the cpu path", facts.kind,
                            facts.device));
    l->set.wish->split = SPLIT_OFF;
    lanes_close(l);
    l->set.wish->kind = PATH_CPU;
    l->set.wish->automatic = false;
    l->news = LANES_CHANGED;
    bool ok = lanes_open(l, NULL);
    for (int i = 0; ok && i < l->flights; i++) {
        bool lost = false;
        set_time(l, lane->path, &l->flight[i].frame);
        ok = path_submit(lane->path, &l->flight[i].frame.image, l->flight[i].frame.number, &lost);
    }
    if (!ok)
        log_error("the cpu path cannot replace the %s path", facts.kind);
    return ok;
}

// Switches the split view off because its second path failed.
static void drop_other(struct lanes *l)
{
    if (l->build.lane == &l->lane[LANE_OTHER])
        build_discard(&l->build, -1);
    lane_close(&l->lane[LANE_OTHER]);
    l->set.wish->split = SPLIT_OFF;
    note_set(l->set.note, true, 0, "the other pane of the split view failed; the split view is now off");
    l->news = LANES_CHANGED;
}

// If the failed frame ran a candidate of the tuning, submits it again for the path's own chain.
static bool submit_without_candidate(struct lanes *l)
{
    const struct frame *frame = &l->flight[0].frame;
    struct path *path = l->lane[LANE_MAIN].path;
    bool lost = false;
    if (!l->online || !online_frame_failed(l->online))
        return false;
    path_try(path, NULL);
    return path_submit(path, &frame->image, frame->number, &lost);
}

bool lanes_submit(struct lanes *l, const struct frame *frame, int64_t taken_ns)
{
    bool lost = false;
    struct lane *lane = &l->lane[LANE_MAIN], *other = &l->lane[LANE_OTHER];
    l->flight[l->flights++] = (struct flight){*frame, taken_ns};
    if (l->online && online_submit(l->online, lane->path, &frame->image) && l->news == LANES_UNCHANGED)
        l->news = LANES_CHANGED;
    set_time(l, lane->path, frame);
    if (!path_submit(lane->path, &frame->image, frame->number, &lost) && !submit_without_candidate(l))
        return recover(l);
    if (other->path)
        set_time(l, other->path, frame);
    if (other->path && !path_submit(other->path, &frame->image, frame->number, &lost))
        drop_other(l);
    return true;
}

bool lanes_submit_again(struct lanes *l)
{
    const struct frame frame = l->held;
    l->holds = false;
    return lanes_submit(l, &frame, 0);
}

int lanes_in_flight(const struct lanes *l)
{
    return l->flights;
}

bool lanes_ready(const struct lanes *l)
{
    for (int i = 0; i < LANES; i++) {
        if (l->lane[i].path && !path_ready(l->lane[i].path))
            return false;
    }
    return true;
}

// Measures how long the source needed to fill the frame, and how long the frame then waited in the mailbox. The capture
// thread writes the first to the trace; the second is a gap there.
static void measure_arrival(struct meter *meter, const struct flight *flight)
{
    const struct frame *frame = &flight->frame;
    const int64_t arrived_ns = frame->decode_ns ? frame->decode_ns : frame->ready_ns;
    meter_host(meter, NULL, "capture", frame->captured_ns, arrived_ns);
    if (frame->decode_ns)
        meter_host(meter, NULL, "decode", frame->decode_ns, frame->ready_ns);
    meter_host(meter, NULL, "wait", frame->ready_ns, flight->taken_ns);
}

static void measure_lane(const struct lanes *l, int which)
{
    const struct lane *lane = &l->lane[which];
    const char *label = NULL;
    if (which == LANE_OTHER)
        label = lane->shows == SPLIT_ORIGINAL ? "original" : path_kind_name(lane->kind);
    for (int i = 0; lane->has_result && i < lane->result.stages; i++) {
        const struct stage_time *time = &lane->result.stage[i];
        char track[METER_NAME] = "path"; // an OpenCL device overlaps several frames, so each step has its own track
        if (time->clock == STAGE_DEVICE)
            snprintf(track, sizeof(track), "device %s %.*s", label ? label : "", (int)strcspn(time->name, " "),
                     time->name);
        meter_add(l->set.meter, track, label, time);
    }
}

const struct frame *lanes_collect(struct lanes *l)
{
    bool lost = false;
    struct lane *lane = &l->lane[LANE_MAIN], *other = &l->lane[LANE_OTHER];
    while (!(lane->has_result = path_collect(lane->path, &lane->result, &lost))) {
        if (!submit_without_candidate(l) && !recover(l))
            return NULL;
    }
    if (l->online)
        online_collect(l->online, &lane->result);
    if (other->path && path_info(other->path)->in_flight > 0) {
        other->has_result = path_collect(other->path, &other->result, &lost);
        if (!other->has_result)
            drop_other(l);
    }
    const struct flight flight = l->flight[0];
    l->flights--;
    memmove(&l->flight[0], &l->flight[1], (size_t)l->flights * sizeof(l->flight[0]));
    l->rerun = false;
    meter_begin(l->set.meter, flight.frame.number);
    if (flight.taken_ns)
        measure_arrival(l->set.meter, &flight);
    for (int i = 0; i < LANES; i++)
        measure_lane(l, i);
    lanes_release(l);
    l->held = flight.frame;
    l->holds = true;
    return &l->held;
}

bool lanes_warm_up(struct lanes *l)
{
    const struct image_shape *shape = &source_info(l->set.source)->shape;
    struct frame blank = {0};
    if (!image_alloc(&blank.image, shape)) {
        log_error("cannot start: out of memory");
        return false;
    }
    memset(blank.image.memory, 0, image_bytes(shape));
    const bool ok = lanes_submit(l, &blank, 0) && lanes_collect(l);
    l->flights = 0;
    l->holds = false;
    if (l->lane[LANE_MAIN].path)
        path_forget(l->lane[LANE_MAIN].path);
    l->lane[LANE_MAIN].has_result = l->lane[LANE_OTHER].has_result = false;
    meter_forget(l->set.meter);
    image_free(&blank.image);
    return ok;
}

const struct path_result *lanes_result(const struct lanes *l, int which)
{
    return l->lane[which].has_result ? &l->lane[which].result : NULL;
}

const struct image *lanes_picture(struct lanes *l)
{
    struct lane *lane = &l->lane[LANE_MAIN];
    if (!lane->has_result)
        return NULL;
    if (lane->result.image.plane[0])
        return &lane->result.image;
    if (window_lost(l->set.window))
        return NULL;
    const struct image_shape shape = {.width = lane->result.width, .height = lane->result.height};
    if (!image_shape_equal(&l->readback.shape, &shape))
        image_free(&l->readback);
    if (!l->readback.memory && !image_alloc(&l->readback, &shape)) {
        log_error("cannot read the frame from the device: out of memory");
        return NULL;
    }
    return path_read(lane->path, &lane->result, &l->readback) ? &l->readback : NULL;
}

bool lanes_compare(struct lanes *l, struct image *both)
{
    const struct image *after = lanes_picture(l), *before = &l->held.image;
    if (!after || !l->holds)
        return false;
    const struct image_shape *left = &before->shape, *right = &after->shape;
    const struct image_shape shape = {.width = left->width + right->width,
                                      .height = left->height > right->height ? left->height : right->height};
    if (shape.width > IMAGE_MAX_SIDE || !image_alloc(both, &shape)) {
        log_error("cannot put two frames side by side: %s",
                  shape.width > IMAGE_MAX_SIDE ? "they are too wide" : "out of memory");
        return false;
    }
    for (size_t i = 0; i < image_bytes(&shape); i++)
        both->plane[0][i] = i % RGBA_BYTES == RGBA_BYTES - 1 ? UINT8_MAX : 0;
    struct image pane = {.plane = {both->plane[0]}, .stride = {both->stride[0]}};
    pane.shape = (struct image_shape){.width = left->width, .height = left->height};
    convert_to_rgba(&pane, before);
    pane.plane[0] += (size_t)RGBA_BYTES * (size_t)left->width;
    pane.shape = *right;
    image_copy(&pane, after);
    return true;
}

void lanes_changed(struct lanes *l, bool reload)
{
    for (int i = 0; i < LANES; i++) {
        l->lane[i].stale = true;
        l->lane[i].reload = l->lane[i].reload || reload;
    }
    l->awaited = l->trial = false;
}

void lanes_await(struct lanes *l)
{
    lanes_changed(l, false);
    l->awaited = true;
}

void lanes_try(struct lanes *l)
{
    l->lane[LANE_MAIN].stale = l->trial = true;
}

bool lanes_busy(const struct lanes *l)
{
    return l->build.lane || l->lane[LANE_MAIN].stale || l->lane[LANE_OTHER].stale;
}

bool lanes_building(const struct lanes *l)
{
    return lanes_busy(l) && !l->trial;
}

enum path_kind lanes_kind(const struct lanes *l)
{
    return l->lane[LANE_MAIN].kind;
}

bool lanes_build_runs(const struct lanes *l)
{
    return l->build.lane && !l->build.done;
}

bool lanes_rerun(const struct lanes *l)
{
    return l->rerun && l->holds;
}

bool lanes_split(const struct lanes *l)
{
    const struct lane *other = &l->lane[LANE_OTHER];
    return l->set.wish->split != SPLIT_OFF && other->path && other->shows == l->set.wish->split;
}

static bool same_chain(const struct chain *a, const struct chain *b)
{
    char text_a[CHAIN_TEXT], text_b[CHAIN_TEXT];
    chain_print(a, text_a);
    chain_print(b, text_b);
    return strcmp(text_a, text_b) == 0;
}

// Returns true if the lane's path makes results of the chain's size.
static bool same_size(const struct lanes *l, const struct lane *lane, const struct chain *chain)
{
    int width, height;
    size_of(l, chain, &width, &height);
    return path_info(lane->path)->width == width && path_info(lane->path)->height == height;
}

// Starts the build that the lane needs, if it needs one. While another lane's build runs, the lane stays stale.
static void lane_update(struct lanes *l, int which)
{
    struct lane *lane = &l->lane[which];
    struct build build;
    const bool wanted = lane_wanted(l, which, &build);
    const bool reuse = wanted && lane->path && lane->kind == build.setup.kind && lane->device == build.setup.device &&
                       lane->measures == build.setup.measures && same_size(l, lane, &build.chain);
    const bool same = reuse && !lane->reload && same_chain(&lane->chain, &build.chain);
    if (wanted && !same && l->build.lane)
        return;
    lane->stale = lane->reload = false;
    if (!wanted)
        lane_close(lane);
    if (same)
        lane->shows = l->set.wish->split;
    if (!wanted || same)
        return;
    build.path = reuse ? lane->path : NULL;
    build.lane = lane;
    build.shows = l->set.wish->split;
    l->build = build;
    l->build.running = thread_start(&l->build.thread, build_run, &l->build, "builder");
    if (!l->build.running)
        l->build.done = true;
}

// Logs a failed build. The old path keeps running. A new path, device, split view or edited filter is removed from the
// wish. A new chain stays in it, because the next save of a kernel may fix the build.
static void build_failed(struct lanes *l, const struct lane *lane)
{
    char text[CHAIN_TEXT];
    if (l->trial) {
        log_info("auto: the %s path cannot be built: %s", path_kind_name(l->build.setup.kind),
                 l->build.error ? l->build.error : "see above");
        l->set.wish->kind = lane->kind;
        return;
    }
    chain_print(&l->build.chain, text);
    if (l->awaited)
        l->news = LANES_FAILED;
    log_error("%s",
              note_set(l->set.note, true, 0, "cannot build \"%s\" for the %s path\n%s", text,
                       path_kind_name(l->build.setup.kind), l->build.error ? l->build.error : "see standard error"));
    if (lane == &l->lane[LANE_MAIN])
        wish_restore_filters(l->set.wish, &lane->chain);
    if (l->build.path)
        return;
    if (lane == &l->lane[LANE_OTHER]) {
        l->set.wish->split = SPLIT_OFF;
        return;
    }
    l->set.wish->kind = lane->kind;
    if (lane->device)
        l->set.wish->device = devices_index(l->set.devices, lane->device);
}

static void take_build(struct lanes *l)
{
    struct lane *lane = l->build.lane;
    build_join(&l->build);
    if (l->news != LANES_FAILED)
        l->news = LANES_CHANGED;
    if (l->build.ok) {
        lane_use_build(l, lane, &l->build);
        lane->shows = l->build.shows;
        l->awaited = false;
        if (lane == &l->lane[LANE_MAIN])
            note_clear(l->set.note, true);
    } else if (!lane->stale) {
        build_failed(l, lane);
    }
    l->trial = l->trial && l->lane[LANE_MAIN].stale;
    free(l->build.error);
}

void lanes_update(struct lanes *l)
{
    int first = LANE_MAIN;
    if (l->build.lane && l->build.done) {
        first = l->build.lane == &l->lane[LANE_MAIN] ? LANE_OTHER : LANE_MAIN; // take turns, or one lane would starve
        take_build(l);
    }
    for (int i = 0; i < LANES; i++) {
        const int which = (first + i) % LANES;
        if (l->lane[which].stale && l->build.lane != &l->lane[which])
            lane_update(l, which);
    }
}

enum lanes_news lanes_take_news(struct lanes *l)
{
    const enum lanes_news news = l->news;
    l->news = LANES_UNCHANGED;
    return news;
}

void lanes_describe(const struct lanes *l, int which, struct lane_facts *facts)
{
    const struct lane *lane = &l->lane[which];
    const char *kind = path_kind_name(lane->kind), *sharing = lane->path ? path_info(lane->path)->sharing : "";
    const bool same = !lane->path || strcmp(kind, sharing) == 0, on_cpu = !lane->device || strcmp(sharing, "cpu") == 0;
    *facts = (struct lane_facts){.open = lane->path != NULL,
                                 .result = lanes_result(l, which),
                                 .chain = &lane->chain,
                                 .kind = kind,
                                 .sharing = sharing,
                                 .why = "",
                                 .input = ""};
    facts->device = strcmp(sharing, "gl") == 0 ? l->set.gl->name : on_cpu ? "cpu" : lane->device->info.name;
    snprintf(facts->words, sizeof(facts->words), "%s%s%s", kind, same ? "" : "/", same ? "" : sharing);
    if (lane->path) {
        facts->why = path_info(lane->path)->why;
        facts->input = path_info(lane->path)->input;
        facts->passes = path_passes(lane->path, facts->pass);
    }
    if (l->set.wish->chosen_why && lane->kind == l->set.wish->chosen_kind)
        facts->why = l->set.wish->chosen_why;
    if (strcmp(facts->input, "host-ptr") == 0 && source_health(l->set.source).userptr)
        facts->input = "userptr";
    if (lane->kind != l->set.wish->kind && lanes_building(l)) {
        snprintf(facts->until, sizeof(facts->until), "until the %s path is built", path_kind_name(l->set.wish->kind));
        facts->why = facts->until;
    }
}
