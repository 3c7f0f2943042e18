// test_live_lost.c: a device that is lost costs no frame: the live view goes on with the cpu path, or says that it
// can't; with an argument: a device whose textures the window can't show
//
// Paths and devices are this file's own, so that a loss can be had at any frame and without a device.
#include "base/file.h"
#include "command/live/live.h"
#include "image/convert.h"

#include "scratch.h"
#include "unit.h"

extern const struct command live_command;

enum { NEVER = -1, FRAMES = 12 };
enum { OVER_NOTHING, OVER_GLX, OVER_EGL, OVER_KINDS };

// What happens to the device; set before a run.
static struct {
    int submit_fails_at, collect_fails_at; // frames since the path was opened; the first is the warm-up
    bool no_cpu;                           // the cpu path cannot be opened
    bool no_egl;                           // nor the device beside an EGL context
    int opened_over[OVER_KINDS];           // how often the device was opened beside which context
} world;

// ---- the paths ----

struct path {
    enum path_kind kind;
    struct image frame[PATH_DEPTH_MAX], result;
    uint64_t tag[PATH_DEPTH_MAX];
    int depth, in_flight, submitted, collected;
};

const char *path_kind_name(enum path_kind kind)
{
    static const char *const names[] = {"cpu", "opencl", "zerocopy"};
    return names[kind];
}

struct path *path_open(const struct path_setup *setup, char **error)
{
    const struct image_shape rgba = {.width = setup->input.width, .height = setup->input.height};
    if (setup->kind == PATH_CPU && world.no_cpu)
        return NULL;
    struct path *path = calloc(1, sizeof(*path));
    path->kind = setup->kind;
    path->depth = setup->depth;
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

const char *path_input(const struct path *path)
{
    return "copy";
}

const char *path_rung(const struct path *path)
{
    return path_kind_name(path->kind);
}

const char *path_why(const struct path *path)
{
    return "as asked";
}

bool path_submit(struct path *path, const struct image *frame, uint64_t tag, bool *lost)
{
    CHECK(path->in_flight < path->depth);
    if (path->kind != PATH_CPU && path->submitted++ == world.submit_fails_at) {
        *lost = true;
        return false;
    }
    path->frame[path->in_flight] = *frame;
    path->tag[path->in_flight++] = tag;
    return true;
}

bool path_collect(struct path *path, struct path_result *result, bool *lost)
{
    CHECK(path->in_flight > 0);
    if (path->kind != PATH_CPU && path->collected++ == world.collect_fails_at) {
        *lost = true;
        return false;
    }
    convert_to_rgba(&path->result, &path->frame[0]);
    *result = (struct path_result){.image = path->result, .tag = path->tag[0]};
    result->width = path->result.shape.width;
    result->height = path->result.shape.height;
    path->in_flight--;
    memmove(&path->frame[0], &path->frame[1], sizeof(path->frame) - sizeof(path->frame[0]));
    memmove(&path->tag[0], &path->tag[1], sizeof(path->tag) - sizeof(path->tag[0]));
    return true;
}

bool path_ready(const struct path *path)
{
    return true;
}

int path_in_flight(const struct path *path)
{
    return path->in_flight;
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

int device_list(struct device_info devices[DEVICE_MAX], const char **why)
{
    devices[0] = (struct device_info){.name = "frail device"};
    return 1;
}

int device_choose(const struct device_info *devices, int count, const char *text)
{
    return 0;
}

struct device *device_open(const struct device_info *info, const struct device_gl *gl, const char *kernel_dir)
{
    world.opened_over[gl->glx_context ? OVER_GLX : gl->egl_context ? OVER_EGL : OVER_NOTHING]++;
    if (gl->egl_context && world.no_egl)
        return NULL;
    struct device *device = calloc(1, sizeof(*device));
    device->info = *info;
    return device;
}

void device_close(struct device *device)
{
    free(device);
}

// ---- the program around the command ----

bool command_parse(const struct option_list *list, int argc, char **argv, void *values, int operands_max,
                   struct command_operands *operands, int *code)
{
    operands->word = (const char **)argv + 1;
    return options_parse(list, argc, argv, values, operands->word, &operands->count) == OPTION_OK;
}

void command_hold_signals(void) {}

int command_interrupted(void)
{
    return 0;
}

bool command_flush(void)
{
    return fflush(stdout) == 0;
}

// ---- the tests ----

static int run(const char *record, struct scratch *said)
{
    char *argv[] = {"live", "pattern:34x22,nv12", "--headless",   "--fast", "--path", "opencl", "--frames",
                    "12",   "--record",           (char *)record, NULL};
    scratch_catch(said);
    const int code = live_command.run(sizeof(argv) / sizeof(*argv) - 1, argv);
    scratch_caught(said);
    return code;
}

static void lose(int submit_fails_at, int collect_fails_at, bool no_cpu)
{
    world.submit_fails_at = submit_fails_at;
    world.collect_fails_at = collect_fails_at;
    world.no_cpu = no_cpu;
}

// A device that shares no textures over GLX is tried over EGL, and taken back over GLX where that is no better.
static int test_retry(struct scratch *said)
{
    char *argv[] = {"live", "pattern:34x22", "--path", "zerocopy", "--frames", "3", NULL};
    lose(NEVER, NEVER, false);
    for (int i = 0; i < 2; i++) {
        world.no_egl = i == 1;
        memset(world.opened_over, 0, sizeof(world.opened_over));
        freopen(scratch_path(said, "table"), "w", stdout);
        scratch_catch(said);
        const int code = live_command.run(sizeof(argv) / sizeof(*argv) - 1, argv);
        CHECK(scratch_caught(said) == 0);
        CHECK_NUMBER(code, EXIT_OK);
        fflush(stdout);
        char *table = file_read_text(scratch_path(said, "table"), 1 << 16);
        CHECK_HAS(table, "path zerocopy (as asked)");
        free(table);
        CHECK_NUMBER(world.opened_over[OVER_GLX], 2);
        CHECK_NUMBER(world.opened_over[OVER_EGL], 1);
    }
    scratch_close(said);
    return check_end(&unit);
}

static void check_same(const char *one, const char *other)
{
    size_t size = 0, other_size = 0;
    char *data = file_read(one, 1 << 24, &size);
    char *other_data = file_read(other, 1 << 24, &other_size);
    CHECK(data && other_data && size == other_size && memcmp(data, other_data, size) == 0);
    CHECK(size > FRAMES * 34 * 22 * 3);
    free(data);
    free(other_data);
}

int main(int argc, char **argv)
{
    struct scratch scratch;
    char whole[512], cut[512];
    if (!scratch_open(&scratch))
        return CHECK_SKIP;
    if (argc > 1)
        return test_retry(&scratch);
    snprintf(whole, sizeof(whole), "%s", scratch_path(&scratch, "whole.y4m"));
    snprintf(cut, sizeof(cut), "%s", scratch_path(&scratch, "cut.y4m"));

    lose(NEVER, NEVER, false);
    CHECK_NUMBER(run(whole, &scratch), EXIT_OK);

    for (int frame = 0; frame <= FRAMES; frame++) { // 0 is the warm-up
        for (int at_submit = 0; at_submit < 2; at_submit++) {
            lose(at_submit ? frame : NEVER, at_submit ? NEVER : frame, false);
            CHECK_NUMBER(run(cut, &scratch), EXIT_OK);
            CHECK_HAS(scratch.said, "going on with the cpu path");
            check_same(whole, cut);
        }
    }

    lose(NEVER, 5, true);
    CHECK_NUMBER(run(cut, &scratch), EXIT_DEVICE);
    CHECK_HAS(scratch.said, "frail device");
    scratch_close(&scratch);
    return check_end(&unit);
}
