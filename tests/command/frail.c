// frail.c: paths and a device that can be lost at any frame; replaces the program's own when linked
#include "frail.h"

#include "base/gl_handles.h"
#include "command/command.h"
#include "compute/device.h"
#include "image/convert.h"
#include "path/opencl_chain.h"
#include "path/path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUMS_MAX = 1024 }; // columns of a picture

static struct frail world;

struct frail *frail(void)
{
    return &world;
}

void frail_begin(void)
{
    world.submitted = world.collected = world.opening = world.opened_cpu = 0;
    world.gl_lost = false;
    for (int i = 0; i < OVER_KINDS; i++)
        world.opened_over[i] = 0;
}

// ---- the paths ----

struct path {
    struct path_info info;
    struct device *device;
    struct image frame[PATH_DEPTH_MAX], result;
    uint64_t number[PATH_DEPTH_MAX];
    bool tried; // the next frame, or the frame in flight, is one of path_try
};

// A lost device stays lost.
struct frail_device {
    struct device device;
    atomic_bool lost;
};

const struct path_kind_info *path_kind_info(enum path_kind kind)
{
    static const struct path_kind_info rows[PATH_KINDS] = {
        {"cpu", .needs_device = false},
        {"opencl", .needs_device = true},
        {"gl", .needs_gl = true},
        {"zerocopy", .needs_device = true, .shares_gl = true, .steps_down = true},
    };
    return &rows[kind];
}

const char *path_kind_name(enum path_kind kind)
{
    return path_kind_info(kind)->name;
}

// Returns true after a submit or a collect has failed.
static bool lost(void)
{
    const int at = world.submit_fails_at, then = world.collect_fails_at; // negative: never
    return (at >= 0 && world.submitted > at) || (then >= 0 && world.collected > then);
}

struct path *path_open(const struct path_setup *setup, char **error)
{
    const struct image_shape rgba = {.width = setup->input.width, .height = setup->input.height};
    if (error)
        *error = NULL;
    if (setup->kind == PATH_CPU && lost() && world.no_cpu > 0 && world.no_cpu-- > 0)
        return NULL;
    struct path *path = calloc(1, sizeof(*path));
    path->info = (struct path_info){.kind = setup->kind,
                                    .sharing = path_kind_name(setup->kind),
                                    .why = "as requested",
                                    .depth = setup->depth,
                                    .input = "copy"};
    path->device = setup->device;
    if (!image_alloc(&path->result, &rgba))
        abort();
    return path;
}

void path_close(struct path *path)
{
    if (path)
        image_free(&path->result);
    free(path);
}

const struct path_info *path_info(const struct path *path)
{
    return &path->info;
}

int path_passes(const struct path *path, struct path_pass passes[PATH_PASSES])
{
    return 0;
}

const struct opencl_target *path_target(const struct path *path)
{
    return NULL;
}

const struct opencl_chain *path_chain(const struct path *path)
{
    return NULL;
}

void path_try(struct path *path, struct opencl_chain *chain)
{
    path->tried = chain != NULL;
}

void path_adopt(struct path *path, struct opencl_chain *chain) {}

bool path_ready(const struct path *path)
{
    return true;
}

// Returns true, once, if a frame of path_try fails in this step.
static bool tried_fails(struct path *path, int step)
{
    const bool fails = path->tried && world.tried_fails == step;
    path->tried = path->tried && !fails && step == 1;
    return fails;
}

static bool is_lost(struct path *path, atomic_int *count, int at)
{
    atomic_bool *lost = path->device ? &((struct frail_device *)path->device)->lost : &world.gl_lost;
    if (path->info.kind == PATH_CPU)
        return false;
    if (atomic_fetch_add(count, 1) == at)
        *lost = true;
    return *lost;
}

// Counts as a misuse: only JPEG files are fed by rows, and the tests have none.
void path_feed(struct path *path, const struct path_feed *feed, const struct frame_time *frame_time)
{
    atomic_fetch_add(&world.misuses, 1);
}

void path_forget(struct path *path)
{
    (void)path;
}

bool path_submit(struct path *path, const struct image *frame, const struct frame_time *frame_time)
{
    atomic_fetch_add(&world.misuses, path->info.in_flight >= path->info.depth);
    path->info.lost = is_lost(path, &world.submitted, world.submit_fails_at);
    if (path->info.lost || tried_fails(path, 1))
        return false;
    path->frame[path->info.in_flight] = *frame;
    path->number[path->info.in_flight++] = frame_time ? frame_time->number : 0;
    return true;
}

bool path_collect(struct path *path, struct path_result *result)
{
    atomic_fetch_add(&world.misuses, path->info.in_flight <= 0);
    path->info.lost = is_lost(path, &world.collected, world.collect_fails_at);
    if (path->info.lost || tried_fails(path, 2)) {
        path->info.in_flight--;
        return false;
    }
    convert_to_rgba(&path->result, &path->frame[0]);
    // Of black pictures of any size.
    static const uint32_t sums[MEASURE_STRIPS_MAX * SUMS_MAX],
        histogram[MEASURE_CHANNELS][FILTER_LEVELS] = {{1 << 30}, {1 << 30}, {1 << 30}};
    *result = (struct path_result){
        .image = path->result, .number = path->number[0], .measures = {.columns = sums, .histogram = histogram}};
    result->width = path->result.shape.width;
    result->height = path->result.shape.height;
    path->info.in_flight--;
    memmove(&path->frame[0], &path->frame[1], sizeof(path->frame) - sizeof(path->frame[0]));
    memmove(&path->number[0], &path->number[1], sizeof(path->number) - sizeof(path->number[0]));
    return true;
}

bool path_read(struct path *path, const struct path_result *result, struct image *rgba)
{
    image_copy(rgba, &result->image);
    return true;
}

bool path_prepare(struct path *path, const struct chain *chain, char **error)
{
    return true;
}

void path_swap(struct path *path) {}

// ---- the device ----

void device_drivers_start(void) {}

static const char sharing_device[] = "sharing device";

int device_list(struct device_info devices[DEVICE_MAX], const char **why)
{
    for (int i = 0; i <= world.gpus; i++) {
        devices[i] = (struct device_info){.type = i < world.gpus ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_CPU};
        strcpy(devices[i].name, i > 0 && i == world.sharing ? sharing_device : "frail device");
    }
    return world.gpus + 1;
}

int device_find(const struct device_info *devices, int count, const char *text)
{
    return 0;
}

int device_choose(const struct device_info *devices, int count, const char *text)
{
    return 0;
}

// Waits until every GPU is being opened. Counts as a misuse if that does not happen.
static void meet(void)
{
    atomic_fetch_add(&world.opening, 1);
    for (int ms = 0; world.opening < world.gpus; ms++) {
        if (ms == 20000) {
            atomic_fetch_add(&world.misuses, 1);
            return;
        }
        usleep(1000);
    }
}

struct device *device_open(const struct device_info *info, const struct gl_handles *gl, const char *kernel_dir)
{
    if (world.meet)
        meet();
    atomic_fetch_add(&world.opened_cpu, (info->type & CL_DEVICE_TYPE_CPU) != 0);
    const int over = gl && gl->glx_context ? OVER_GLX : gl && gl->egl_context ? OVER_EGL : OVER_NOTHING;
    if (atomic_fetch_add(&world.opened_over[over], 1) > 0 && world.stays_lost)
        return NULL;
    if (over == OVER_EGL && world.no_egl)
        return NULL;
    struct frail_device *device = calloc(1, sizeof(*device));
    device->device.info = *info;
    device->device.shares_gl = strcmp(info->name, sharing_device) == 0;
    return &device->device;
}

void device_close(struct device *device)
{
    free(device);
}

// ---- the program around the command ----

bool command_parse(const struct command *command, int argc, char **argv, void *values, int operands_max,
                   struct command_operands *operands)
{
    operands->word = (const char **)argv + 1;
    return options_parse(command, argc, argv, values, operands->word, &operands->count) == OPTION_OK;
}

bool command_limit_operands(const struct command *command, const struct command_operands *operands, int most)
{
    return operands->count <= most;
}

void process_hold_signals(enum process_calls calls)
{
    world.held_late = world.report && access(world.report, F_OK) == 0;
}

int process_interrupted(void)
{
    return world.signal;
}

bool process_flush(void)
{
    return fflush(stdout) == 0;
}
