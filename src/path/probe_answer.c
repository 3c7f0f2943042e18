// probe_answer.c: the child's part of a probe: builds a variant, runs it and compares
#include "base/alloc.h"
#include "base/child.h"
#include "base/hash.h"
#include "base/options.h"
#include "filter/user_filters.h"
#include "path/opencl_chain.h"
#include "path/probe.h"
#include "path/rig.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

// One pass of a chain, as the parent would run it.
struct pass_task {
    struct chain chain;
    struct variant_choice choice;
    struct opencl_target target; // the device, the input of the chain, and whether the pass writes an image
    int number;                  // of the pass
    struct plan plan;
    const struct pass *pass;
    struct opencl_pass opened;
    struct option_size large; // of the picture without a comparison; 0: none
    bool builds_only;         // as in struct probe
};

enum { PLAN_WIDTH = 130, PLAN_HEIGHT = 67 };

// ---- the result of the device ----

// Runs the pass on a picture and copies its output, unless `got` is NULL. Sets *intact to true if it wrote only its
// output. False: it fails.
static bool run(struct pass_task *task, const struct image *picture, const struct image *got, bool *intact)
{
    struct timing timing;
    cl_int result;
    struct rig *rig = rig_pass_open(&task->target, &task->plan, task->number, picture, 1, &result);
    bool ok = rig != NULL;
    if (ok && got) {
        plan_set_frame_time(&task->plan, &(struct frame_time){.clock_s = time(NULL)});
        ok = rig_pass_follow(rig, &task->opened);
    }
    ok = ok && rig_pass_run(rig, &task->opened, 0, 1, &timing);
    if (ok && got) {
        ok = rig_read(rig, got);
        *intact = ok && rig_pass_intact(rig);
    }
    rig_close(rig);
    return ok;
}

// ---- one picture ----

static enum probe_status try_picture(struct pass_task *task, int width, int height)
{
    const char *why;
    task->target.input.width = width;
    task->target.input.height = height;
    const struct image_shape rgba = rig_pass_output(&task->target, &task->plan, task->number);
    const struct image_shape shape = rig_pass_shape(&task->target, &task->plan, task->number);
    if (!pixfmt_size_ok(shape.format, width, height, &why))
        return PROBE_PASSED; // the format does not allow this size
    struct image picture = {0}, got = {0}, want = {0};
    enum probe_status status = PROBE_NOT_RUN;
    if (image_alloc(&picture, &shape) && image_alloc(&got, &rgba) && image_alloc(&want, &rgba)) {
        rig_pass_random(&picture, &task->plan, task->number);
        bool intact;
        if (rig_pass_expect(task->pass, &picture, &want) && run(task, &picture, &got, &intact))
            status = intact && rig_same(&got, &want, pass_pixel_bytes[task->pass->writes]) ? PROBE_PASSED : PROBE_WRONG;
    }
    image_free(&picture);
    image_free(&got);
    image_free(&want);
    return status;
}

// Runs the pass on a picture of the size of real frames, because some kernels only hang or fail there.
static enum probe_status try_large(struct pass_task *task)
{
    struct image picture = {0};
    enum probe_status status = PROBE_NOT_RUN;
    task->target.input.width = task->large.width;
    task->target.input.height = task->large.height;
    const struct image_shape shape = rig_pass_shape(&task->target, &task->plan, task->number);
    if (image_alloc(&picture, &shape)) {
        rig_pass_random(&picture, &task->plan, task->number);
        if (run(task, &picture, NULL, NULL))
            status = PROBE_PASSED;
    }
    image_free(&picture);
    return status;
}

static enum probe_status try_pictures(struct pass_task *task)
{
    // Less than a work-group, one pixel, several work-groups, and rows that end inside a block.
    static const int sizes[][2] = {{16, 16}, {1, 1}, {67, 35}, {333, 77}, {334, 78}, {1870, 6}};
    const struct pass_target target = opencl_pass_target(&task->target, &task->plan, task->number);
    char *error = NULL, why[CHAIN_ERROR];
    plan_fill(&task->plan, why); // without its files, the numbers are 0
    const cl_int opened =
        opencl_pass_open(&task->opened, task->target.device, task->pass, &target, &task->choice, &error);
    const bool refused = opened == CL_BUILD_PROGRAM_FAILURE;
    char *rest = NULL;
    for (char *line = refused && error ? strtok_r(error, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
        child_write(line);
    if (opened != CL_SUCCESS)
        return refused ? PROBE_NOT_BUILT : PROBE_NOT_OPENED;
    enum probe_status status = PROBE_PASSED;
    if (task->builds_only) {
        const bool sized = pass_has_size(task->pass);
        task->large.width = sized ? task->pass->from_width : PLAN_WIDTH;
        task->large.height = sized ? task->pass->from_height : PLAN_HEIGHT;
        return try_large(task);
    }
    if (pass_has_size(task->pass)) {
        const int width = task->pass->from_width, height = task->pass->from_height;
        const time_t began = time(NULL);
        status = try_picture(task, width, height);
        return status == PROBE_WRONG && time(NULL) != began ? try_picture(task, width, height) : status; // a clock
    }
    for (size_t i = 0; status == PROBE_PASSED && i < sizeof(sizes) / sizeof(*sizes); i++)
        status = try_picture(task, sizes[i][0], sizes[i][1]);
    if (status == PROBE_PASSED && task->large.width > 0)
        status = try_large(task);
    return status;
}

// ---- the device ----

// Returns true if the pass's program has this key on the device, which need not be open.
static bool has_key(const struct pass_task *task, struct device *device, const char *wanted)
{
    char hash[HASH_TEXT] = "", *error = NULL;
    size_t bytes;
    const struct pass_target target = opencl_pass_target(&task->target, &task->plan, task->number);
    const struct probe probe = {.device = device,
                                .pass = task->pass,
                                .target = &target,
                                .choice = &task->choice,
                                .builds_only = task->builds_only};
    char *key = probe_key(&probe, &bytes, &error);
    if (key)
        hash_128_text(key, bytes, hash);
    free(key);
    free(error);
    return strcmp(hash, wanted) == 0;
}

// Plans the chain with and without tiles, for pictures with and without alpha. Returns false if no plan has the
// program.
static bool find_pass(struct pass_task *task, struct device *device, const char *wanted)
{
    for (int i = 0; i < 4; i++) {
        task->target.input.opaque = i & 2;
        opencl_plan(&task->plan, &task->target, &task->chain, i & 1);
        task->pass = &task->plan.pass[task->number];
        if (task->number < task->plan.count && has_key(task, device, wanted))
            return true;
        plan_free(&task->plan);
    }
    return false;
}

static struct device *find_device(struct pass_task *task, char *const *words)
{
    struct device_info devices[DEVICE_MAX];
    const char *why;
    const int count = device_list(devices, &why);
    char *kernels = words[WORD_KERNELS][0] ? words[WORD_KERNELS] : NULL;
    for (int i = 0; i < count; i++) {
        struct device closed = {.info = devices[i], .kernel_dir = kernels};
        if (find_pass(task, &closed, words[WORD_KEY]))
            return device_open(&devices[i], NULL, kernels);
    }
    return NULL;
}

static bool parse(struct pass_task *task, char *const *words)
{
    char error[CHAIN_ERROR];
    const struct color unknown = {0};
    struct image_shape *input = &task->target.input;
    task->target.to_image = strcmp(words[WORD_OUTPUT], "image") == 0;
    task->number = atoi(words[WORD_PASS]);
    if (task->number < 0 || task->number >= PLAN_PASSES || !pixfmt_from_name(words[WORD_FORMAT], &input->format))
        return false;
    input->color = color_resolve(unknown, unknown, input->format == PIXFMT_GREY, 16, 16);
    input->width = PLAN_WIDTH;
    input->height = PLAN_HEIGHT;
    user_filters_load(words[WORD_FILTERS]);
    return chain_parse(&task->chain, words[WORD_CHAIN], error) && variant_parse(&task->choice, words[WORD_VARIANT]);
}

// Does not free its memory: the process ends after this call.
int probe_answer(char *const *words)
{
    struct option_size large = {0};
    if (!options_parse_size(words[WORD_SIZE], &large))
        large = (struct option_size){0};
    const bool builds_only = strcmp(words[WORD_SIZE], "build") == 0;
    child_begin(atoi(words[WORD_PARENT]), PROBE_DATA_BYTES,
                builds_only ? PROBE_BUILD_CPU_S : probe_cpu_s(large.width, large.height));
    struct pass_task *task = xalloc(sizeof(*task));
    task->large = large;
    task->builds_only = builds_only;
    if (!parse(task, words) || !(task->target.device = find_device(task, words)))
        return PROBE_UNKNOWN;
    return (int)try_pictures(task);
}
