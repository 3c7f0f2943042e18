// test_batch_lost.c: a device that is lost costs a batch no file: it is opened again, or the cpu path takes over
//
// Paths and devices are this file's own, so that a loss can be had at any picture and without a device.
#include "base/file.h"
#include "command/command.h"
#include "image/convert.h"
#include "image/imagefile.h"
#include "path/path.h"

#include "scratch.h"
#include "unit.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>

extern const struct command batch_command;

enum { NEVER = -1, FILES = 12 };

// What happens to the devices; set before a run.
static struct {
    int submit_fails_at, collect_fails_at; // pictures since the run began
    bool stays_lost;                       // it cannot be opened again
    bool no_cpu;                           // the cpu path cannot be opened
    atomic_int submitted, collected, openings;
    atomic_int misuses; // of a path, on any thread
} world;

// ---- the paths ----

struct path {
    enum path_kind kind;
    struct device *device;
    const struct image *frame[PATH_DEPTH_MAX];
    struct image result;
    int depth, in_flight;
};

// Once lost, a device stays so.
struct frail {
    struct device device;
    atomic_bool lost;
};

static bool is_lost(const struct path *path)
{
    return path->kind != PATH_CPU && ((struct frail *)path->device)->lost;
}

const char *path_kind_name(enum path_kind kind)
{
    static const char *const names[] = {"cpu", "opencl", "zerocopy"};
    return names[kind];
}

struct path *path_open(const struct path_setup *setup, char **error)
{
    const struct image_shape rgba = {.width = setup->input.width, .height = setup->input.height};
    *error = NULL;
    if (setup->kind == PATH_CPU && world.no_cpu)
        return NULL;
    struct path *path = calloc(1, sizeof(*path));
    path->kind = setup->kind;
    path->device = setup->device;
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

enum path_kind path_kind(const struct path *path)
{
    return path->kind;
}

int path_depth(const struct path *path)
{
    return path->depth;
}

int path_in_flight(const struct path *path)
{
    return path->in_flight;
}

static bool fails(struct path *path, atomic_int *count, int at)
{
    if (path->kind != PATH_CPU && atomic_fetch_add(count, 1) == at)
        ((struct frail *)path->device)->lost = true;
    return is_lost(path);
}

bool path_submit(struct path *path, const struct image *frame, uint64_t tag, bool *lost)
{
    atomic_fetch_add(&world.misuses, path->in_flight >= path->depth);
    *lost = fails(path, &world.submitted, world.submit_fails_at);
    if (!*lost)
        path->frame[path->in_flight++] = frame;
    return !*lost;
}

bool path_collect(struct path *path, struct path_result *result, bool *lost)
{
    atomic_fetch_add(&world.misuses, path->in_flight <= 0);
    *lost = fails(path, &world.collected, world.collect_fails_at);
    if (*lost)
        return false;
    convert_to_rgba(&path->result, path->frame[0]);
    *result = (struct path_result){.image = path->result};
    path->in_flight--;
    memmove(&path->frame[0], &path->frame[1], sizeof(path->frame) - sizeof(path->frame[0]));
    return true;
}

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
    if (atomic_fetch_add(&world.openings, 1) > 0 && world.stays_lost)
        return NULL;
    struct frail *frail = calloc(1, sizeof(*frail));
    frail->device.info = *info;
    return &frail->device;
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

// Of signals, while batches run.
static struct {
    const char *report; // NULL: none
    bool held_late;     // the report was there already
    int number;         // that has come since the beginning
} signals;

void command_hold_signals(void)
{
    signals.held_late = signals.report && access(signals.report, F_OK) == 0;
}

int command_interrupted(void)
{
    return signals.number;
}

// ---- the tests ----

static int run(struct scratch *scratch, const char *jobs)
{
    char in[512], out[512];
    snprintf(in, sizeof(in), "%s", scratch_path(scratch, "in"));
    snprintf(out, sizeof(out), "%s", scratch_path(scratch, "out"));
    char *argv[] = {"batch", "-p", "opencl", "--overwrite", "--jobs", (char *)jobs, "-o", out, in, NULL};
    world.submitted = world.collected = world.openings = 0;
    scratch_catch(scratch);
    const int code = batch_command.run(sizeof(argv) / sizeof(*argv) - 1, argv);
    scratch_caught(scratch);
    CHECK_NUMBER(world.misuses, 0);
    return code & ~EXIT_SETTLED;
}

static void lose(int submit_fails_at, int collect_fails_at, bool stays_lost, bool no_cpu)
{
    world.submit_fails_at = submit_fails_at;
    world.collect_fails_at = collect_fails_at;
    world.stays_lost = stays_lost;
    world.no_cpu = no_cpu;
}

// Each picture is of another size; outputs must be what the inputs are, and are removed.
static void check_outputs(struct scratch *scratch)
{
    for (int i = 0; i < FILES; i++) {
        char name[64];
        struct image in = {0}, out = {0};
        snprintf(name, sizeof(name), "in/%d.png", i);
        CHECK(imagefile_read(&in, scratch_path(scratch, name)));
        snprintf(name, sizeof(name), "out/%d.png", i);
        const bool read = imagefile_read(&out, scratch_path(scratch, name));
        CHECK(read && image_shape_equal(&in.shape, &out.shape) &&
              memcmp(in.plane[0], out.plane[0], image_bytes(&in.shape)) == 0);
        unlink(scratch_path(scratch, name));
        image_free(&in);
        image_free(&out);
    }
}

static void make_inputs(struct scratch *scratch)
{
    if (mkdir(scratch_path(scratch, "in"), 0777) != 0)
        abort();
    for (int i = 0; i < FILES; i++) {
        const struct image_shape shape = {.width = 20 + i / 4, .height = 10};
        struct image image;
        char name[64];
        if (!image_alloc(&image, &shape))
            abort();
        for (size_t k = 0; k < image_bytes(&shape); k++)
            image.plane[0][k] = k % 4 == 3 ? 255 : (uint8_t)(k * 7 + (size_t)i);
        snprintf(name, sizeof(name), "in/%d.png", i);
        CHECK(imagefile_write_png(scratch_path(scratch, name), &image));
        image_free(&image);
    }
}

// A signal that comes before the first file leaves a report with its last line.
static void interrupt(struct scratch *scratch)
{
    char out[512], report[512], in[512];
    size_t size = 0;
    snprintf(in, sizeof(in), "%s", scratch_path(scratch, "in"));
    snprintf(out, sizeof(out), "%s", scratch_path(scratch, "out"));
    snprintf(report, sizeof(report), "%s", scratch_path(scratch, "report.jsonl"));
    char *argv[] = {"batch", "-p", "cpu", "--jobs", "1", "--report", report, "-o", out, in, NULL};
    signals.report = report;
    signals.number = SIGINT;
    scratch_catch(scratch);
    const int code = batch_command.run(sizeof(argv) / sizeof(*argv) - 1, argv);
    scratch_caught(scratch);
    signals.number = 0;
    char *text = file_read(report, 1 << 20, &size);
    const int files = code & ~EXIT_SETTLED;
    CHECK(files == EXIT_OK || files == 128 + SIGINT); // one thread may have been done before the signal was seen
    CHECK(!signals.held_late);
    CHECK(text && strstr(text, "{\"end\":") && strstr(text, "\"signal\":2"));
    free(text);
}

int main(void)
{
    static const char *const jobs[] = {"1", "3"};
    struct scratch scratch;
    if (!scratch_open(&scratch))
        return CHECK_SKIP;
    make_inputs(&scratch);
    lose(NEVER, NEVER, false, false);
    CHECK_NUMBER(run(&scratch, "1"), EXIT_OK);
    check_outputs(&scratch);
    for (int at = 0; at < FILES; at++) {
        for (int way = 0; way < 8; way++) {
            const bool stays_lost = way & 1, at_submit = way & 2;
            lose(at_submit ? at : NEVER, at_submit ? NEVER : at, stays_lost, false);
            CHECK_NUMBER(run(&scratch, jobs[way >> 2]), EXIT_OK);
            CHECK_HAS(scratch.said, stays_lost ? "going on with the cpu path" : "it is open again");
            check_outputs(&scratch);
        }
    }
    lose(NEVER, 5, true, true);
    CHECK_NUMBER(run(&scratch, "1"), EXIT_DEVICE);
    lose(NEVER, NEVER, false, false);
    interrupt(&scratch);
    scratch_close(&scratch);
    return check_end(&unit);
}
