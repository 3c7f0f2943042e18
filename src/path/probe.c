// probe.c: tests a variant once in a child process, and keeps the verdict
#include "path/probe.h"

#include "base/alloc.h"
#include "base/child.h"
#include "base/driver_call.h"
#include "base/file.h"
#include "base/gl_handles.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/options.h"
#include "base/text.h"
#include "base/thread.h"
#include "compute/program.h"
#include "filter/user_filter.h"
#include "path/backend.h"
#include "path/opencl_chain.h"
#include "path/pass_text.h"
#include "path/rig.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const char passed[] = "passed";

// Returns a key of everything that a verdict depends on: the variant, the device and the program. The caller frees it.
// NULL on failure: *error as in path_open.
static char *probe_key(const struct probe *probe, size_t *bytes, char **error)
{
    const struct device *device = probe->device;
    char *text = pass_text(probe->pass, probe->target, probe->choice, device->kernel_dir, error);
    if (!text)
        return NULL;
    char variant[VARIANT_TEXT];
    char *program = program_key(device, text, pass_options(probe->choice, &device->info), bytes);
    variant_print(probe->choice, variant);
    char *key = xprintf("%s%s\n%s", probe->builds_only ? "builds " : "", variant, program);
    *bytes = strlen(key);
    free(program);
    free(text);
    return key;
}

// With a picture, both limits are multiplied by its size in units of 2 Mpixel, and the limit of processor time by the
// number of processors. Returns seconds.
static int limit_of(int width, int height)
{
    return PROBE_LIMIT_S * (1 + (int)((int64_t)width * height >> 21));
}

static int probe_cpu_s(int width, int height)
{
    const int share = PROBE_LIMIT_S / PROBE_CPU_S;
    return width > 0 ? limit_of(width, height) / share * workers_available() : PROBE_CPU_S;
}

enum { LOG_BYTES = 4096 };

// The request to a child, and its reply.
struct probe_request {
    char key[HASH_TEXT]; // of probe_key
    char variant[VARIANT_TEXT];
    int width, height;
    bool builds_only, low_priority;
};

struct probe_reply {
    enum probe_status status;
    char log[LOG_BYTES]; // why a program does not compile
};

struct question {
    const struct probe *probe;
    char key[HASH_TEXT];
    struct probe_reply reply;
};

static struct child *start_child(const struct probe *probe)
{
    char parent[16], number[16], chain[CHAIN_TEXT];
    snprintf(parent, sizeof(parent), "%d", (int)getpid());
    snprintf(number, sizeof(number), "%d", probe->number);
    chain_print(probe->chain, chain);
    const char *const arguments[1 + WORDS + 1] = {
        "monocle",
        [1 + WORD_COMMAND] = "probe",
        [1 + WORD_PARENT] = parent,
        [1 + WORD_FORMAT] = pixfmt_info(probe->format)->name,
        [1 + WORD_OUTPUT] = probe->target->to_image ? "image" : "buffer",
        [1 + WORD_PASS] = number,
        [1 + WORD_CHAIN] = chain,
        [1 + WORD_KERNELS] = text_or(probe->device->kernel_dir, ""),
        [1 + WORD_FILTERS] = user_filters_named(),
    };
    return child_open(child_program, (char *const *)arguments, -1);
}

// Asks a child, which then waits for the next request. *value: its answer, if the result is CHILD_EXITED, or as for
// child_talk. A signal ends the child.
static enum child_end ask(struct question *question, int *value)
{
    const struct probe *probe = question->probe;
    struct probe_reply *reply = &question->reply;
    const int limit_s = probe->builds_only ? PROBE_BUILD_LIMIT_S : limit_of(probe->width, probe->height);
    const struct child_wait wait = {.limit_ms = limit_s * 1000};
    struct probe_request request = {
        .width = probe->width,
        .height = probe->height,
        .builds_only = probe->builds_only,
        .low_priority = probe->low_priority,
    };
    struct child *child = child_pool_take(probe->children);
    if (!child && !(child = start_child(probe))) {
        *value = errno;
        return CHILD_NOT_STARTED;
    }
    memcpy(request.key, question->key, sizeof(request.key));
    variant_print(probe->choice, request.variant);
    enum child_end end = CHILD_EXITED;
    const bool replied = child_ask(child, &request, sizeof(request), reply, sizeof(*reply), &wait, &end, value);
    if (replied)
        *value = (int)reply->status;
    reply->log[LOG_BYTES - 1] = '\0'; // the driver may have changed it
    // A kernel that fails may have written anywhere.
    const bool stays = replied && (reply->status == PROBE_PASSED || reply->status == PROBE_NOT_BUILT);
    child_pool_give(stays ? probe->children : NULL, child);
    return end;
}

// Writes the verdict of a probe that ended in this way.
static enum verdict_hold judge(const struct probe *probe, enum child_end end, int value, char verdict[VERDICT_TEXT])
{
    static const struct {
        const char *text;
        enum verdict_hold hold;
    } answers[] = {
        [PROBE_PASSED - PROBE_ANSWERS] = {passed, VERDICT_LASTS},
        [PROBE_WRONG - PROBE_ANSWERS] = {"it computes wrong bytes", VERDICT_LASTS},
        [PROBE_NOT_BUILT - PROBE_ANSWERS] = {"it does not compile", VERDICT_LASTS},
        [PROBE_NOT_RUN - PROBE_ANSWERS] = {"it does not run", VERDICT_DOUBTFUL},
        [PROBE_NOT_OPENED - PROBE_ANSWERS] = {"the driver cannot open the compiled kernels", VERDICT_UNKNOWN},
        [PROBE_UNKNOWN - PROBE_ANSWERS] = {"the probe cannot make this program", VERDICT_UNKNOWN},
    };
    const int count = sizeof(answers) / sizeof(*answers);
    if (end == CHILD_EXITED && value >= PROBE_ANSWERS && value < PROBE_ANSWERS + count) {
        snprintf(verdict, VERDICT_TEXT, "%s", answers[value - PROBE_ANSWERS].text);
        return answers[value - PROBE_ANSWERS].hold;
    }
    static_assert((int)VERDICT_TEXT >= CHILD_WHY, "room for the reason");
    child_explain(end, value, limit_of(probe->width, probe->height), probe_cpu_s(probe->width, probe->height), verdict);
    return end == CHILD_NOT_STARTED || child_was_killed(end, value) ? VERDICT_UNKNOWN : VERDICT_DOUBTFUL;
}

// Runs a probe and writes its verdict.
static enum verdict_hold find(void *context, char verdict[VERDICT_TEXT])
{
    int value = 0;
    struct question *question = context;
    const enum child_end end = ask(question, &value);
    return judge(question->probe, end, value, verdict);
}

bool probe_trusts(const struct probe *probe)
{
    if (!child_program)
        return true;
    struct device *device = probe->device;
    struct question question = {.probe = probe};
    size_t bytes;
    char verdict[VERDICT_TEXT], *error = NULL, *key = probe_key(probe, &bytes, &error);
    if (!key) {
        log_info("pass %s on '%s' runs the generic kernel instead of variant %s: %s", probe->pass->name,
                 device->info.name, probe->choice->variant->name, error ? error : "out of memory");
        free(error);
        return false;
    }
    hash_128_text(key, bytes, question.key);
    const bool first = verdicts_get(device->verdicts, key, bytes, find, &question, verdict);
    const bool trusted = strcmp(verdict, passed) == 0;
    if (first && !trusted)
        log_info("pass %s on '%s' runs the generic kernel: variant %s failed its probe: %s", probe->pass->name,
                 device->info.name, probe->choice->variant->name, verdict);
    free(key);
    return trusted;
}

// ---- users' filters ----

// Writes the verdict of a child that has built a user's code and ended in this way. A child that answers has not
// crashed, whatever the answer is.
static enum verdict_hold judge_build(enum child_end end, int value, char verdict[VERDICT_TEXT])
{
    const bool answered = end == CHILD_EXITED && value >= PROBE_ANSWERS && value <= PROBE_UNKNOWN;
    if (answered || end == CHILD_NOT_STARTED) {
        strcpy(verdict, passed);
        return value == PROBE_PASSED || value == PROBE_NOT_BUILT ? VERDICT_LASTS : VERDICT_UNKNOWN;
    }
    child_explain(end, value, PROBE_BUILD_LIMIT_S, PROBE_BUILD_CPU_S, verdict);
    return child_was_killed(end, value) ? VERDICT_UNKNOWN : VERDICT_DOUBTFUL;
}

static bool explain_build(const char *verdict, const char *compiler, char **error)
{
    char text[512];
    if (strcmp(verdict, passed) == 0)
        return true;
    snprintf(text, sizeof(text),
             "the compiler of '%.200s' failed at a user's filter, in a child process: %s; simplify the "
             "filter, or use -p cpu",
             compiler, verdict);
    path_fail(error, text);
    return false;
}

static enum verdict_hold find_build(void *context, char verdict[VERDICT_TEXT])
{
    int value = 0;
    struct question *question = context;
    const enum child_end end = ask(question, &value);
    const enum verdict_hold hold = judge_build(end, value, verdict);
    return question->reply.log[0] ? VERDICT_UNKNOWN : hold; // the next run needs the log again
}

bool probe_builds(const struct probe *probe, char **error)
{
    struct probe builds = *probe;
    struct question question = {.probe = &builds};
    char verdict[VERDICT_TEXT];
    size_t bytes;
    builds.builds_only = true;
    char *key = child_program ? probe_key(&builds, &bytes, error) : NULL;
    if (!key)
        return !child_program;
    hash_128_text(key, bytes, question.key);
    verdicts_get(probe->device->verdicts, key, bytes, find_build, &question, verdict);
    free(key);
    if (question.reply.log[0] && strcmp(verdict, passed) == 0) {
        path_fail(error, question.reply.log);
        return false;
    }
    return explain_build(verdict, probe->device->info.name, error);
}

// A shader to build: its text in memory that the child reads.
struct shader {
    int fd;
    bool es;
};

static bool wait_on(void *context, char *line)
{
    return !driver_call_interrupted();
}

static enum verdict_hold find_shader(void *context, char verdict[VERDICT_TEXT])
{
    const struct shader *shader = context;
    char parent[16], fd[16];
    int value = 0;
    snprintf(parent, sizeof(parent), "%d", (int)getpid());
    snprintf(fd, sizeof(fd), "%d", shader->fd);
    const char *const arguments[1 + SHADER_WORDS + 1] = {
        "monocle",
        [1 + SHADER_WORD_COMMAND] = "probe",
        [1 + SHADER_WORD_KIND] = "shader",
        [1 + SHADER_WORD_PARENT] = parent,
        [1 + SHADER_WORD_ES] = shader->es ? "es" : "",
        [1 + SHADER_WORD_TEXT] = fd,
    };
    const enum child_end end =
        child_talk(child_program, (char *const *)arguments, PROBE_BUILD_LIMIT_S * 1000, &value, wait_on, NULL);
    return judge_build(end, value, verdict);
}

bool probe_shader_builds(const struct gl_context *context, const char *text, bool es, char **error)
{
    struct shader shader = {.es = es};
    char verdict[VERDICT_TEXT] = "its text cannot be stored in memory";
    if (!child_program)
        return true;
    char *key = xprintf("shader %s\n%s\n%s", MONOCLE_VERSION, context->name, text);
    shader.fd = memfd_create("monocle-shader", MFD_CLOEXEC);
    if (shader.fd >= 0 && file_write_all(shader.fd, text, strlen(text)))
        verdict_get(key, strlen(key), find_shader, &shader, verdict);
    free(key);
    if (shader.fd >= 0)
        close(shader.fd);
    return explain_build(verdict, context->name, error);
}

// ---- for the tuner ----

enum probe_status probe_now(const struct probe *probe, char why[VERDICT_TEXT])
{
    struct question question = {.probe = probe};
    size_t bytes;
    int value = 0;
    char *error = NULL, *key = NULL;
    if (!child_program)
        return PROBE_PASSED;
    if (!(key = probe_key(probe, &bytes, &error))) {
        snprintf(why, VERDICT_TEXT, "%.*s", VERDICT_TEXT - 1, error ? error : "out of memory");
        free(error);
        return PROBE_NOT_BUILT;
    }
    hash_128_text(key, bytes, question.key);
    free(key);
    const enum child_end end = ask(&question, &value);
    judge(probe, end, value, why);
    if (end == CHILD_LATE || (end == CHILD_KILLED && value == SIGXCPU))
        return PROBE_LATE;
    return end == CHILD_EXITED && value >= PROBE_ANSWERS && value <= PROBE_UNKNOWN ? (enum probe_status)value
                                                                                   : PROBE_NOT_RUN;
}

// ---- the child's part: builds a variant, runs it and compares ----

// One pass of a chain, as the parent would run it.
struct pass_task {
    struct chain chain;
    struct variant_choice choice;
    struct opencl_target target; // the device, the input of the chain, and whether the pass writes an image
    char *kernel_dir;            // NULL: none
    int number;                  // of the pass
    struct plan plan;
    const struct pass *pass;
    struct opencl_pass opened;
    struct probe_request request; // the current one
    struct probe_reply reply;
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
static enum probe_status try_large(struct pass_task *task, int width, int height)
{
    struct image picture = {0};
    enum probe_status status = PROBE_NOT_RUN;
    task->target.input.width = width;
    task->target.input.height = height;
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
    // Less than a work-group, one pixel, several work-groups, and rows that end inside a block. The last one is for
    // formats without odd sizes.
    static const int sizes[][2] = {{16, 16}, {1, 1}, {67, 35}, {333, 77}, {1870, 6}, {334, 78}};
    const struct pass_target target = opencl_pass_target(&task->target, &task->plan, task->number);
    char *error = NULL, why[CHAIN_ERROR];
    const char *reason;
    plan_fill(&task->plan, why); // without its files, the numbers are 0
    const cl_int opened =
        opencl_pass_open(&task->opened, task->target.device, task->pass, &target, &task->choice, &error);
    const bool refused = opened == CL_BUILD_PROGRAM_FAILURE;
    if (refused && error)
        snprintf(task->reply.log, LOG_BYTES, "%s", error);
    free(error);
    if (opened != CL_SUCCESS)
        return refused ? PROBE_NOT_BUILT : PROBE_NOT_OPENED;
    enum probe_status status = PROBE_PASSED;
    if (task->request.builds_only) {
        const bool sized = pass_has_size(task->pass);
        return try_large(task, sized ? task->pass->from_width : PLAN_WIDTH,
                         sized ? task->pass->from_height : PLAN_HEIGHT);
    }
    if (pass_has_size(task->pass)) {
        const int width = task->pass->from_width, height = task->pass->from_height;
        const time_t began = time(NULL);
        status = try_picture(task, width, height);
        return status == PROBE_WRONG && time(NULL) != began ? try_picture(task, width, height) : status; // a clock
    }
    const enum pixfmt format = rig_pass_shape(&task->target, &task->plan, task->number).format;
    const size_t count = sizeof(sizes) / sizeof(*sizes) - pixfmt_size_ok(format, 1, 1, &reason);
    for (size_t i = 0; status == PROBE_PASSED && i < count; i++)
        status = try_picture(task, sizes[i][0], sizes[i][1]);
    if (status == PROBE_PASSED && task->request.width > 0)
        status = try_large(task, task->request.width, task->request.height);
    return status;
}

// ---- the device ----

// Returns true if the pass's program has this key on the device, which need not be open.
static bool has_key(const struct pass_task *task, struct device *device)
{
    char hash[HASH_TEXT] = "", *error = NULL;
    size_t bytes;
    const struct pass_target target = opencl_pass_target(&task->target, &task->plan, task->number);
    const struct probe probe = {.device = device,
                                .pass = task->pass,
                                .target = &target,
                                .choice = &task->choice,
                                .builds_only = task->request.builds_only};
    const struct variant_pass of = {task->pass, &target, &device->info};
    // The variant may be for the pass of another plan.
    char *key = task->choice.variant->fits(&of) ? probe_key(&probe, &bytes, &error) : NULL;
    if (key)
        hash_128_text(key, bytes, hash);
    free(key);
    free(error);
    return strcmp(hash, task->request.key) == 0;
}

// Plans the chain with and without tiles, for pictures with and without alpha. Returns false if no plan has the
// program.
static bool find_pass(struct pass_task *task, struct device *device)
{
    for (int i = 0; i < 4; i++) {
        task->target.input.width = PLAN_WIDTH;
        task->target.input.height = PLAN_HEIGHT;
        task->target.input.opaque = i & 2;
        opencl_plan(&task->plan, &task->target, &task->chain, i & 1);
        task->pass = &task->plan.pass[task->number];
        if (task->number < task->plan.count && has_key(task, device))
            return true;
        plan_free(&task->plan);
    }
    return false;
}

// Opens the device of the first request. Returns false if no device makes the program.
static bool find_device(struct pass_task *task)
{
    struct device_info devices[DEVICE_MAX];
    const char *why;
    if (task->target.device)
        return find_pass(task, task->target.device);
    const int count = device_list(devices, &why);
    for (int i = 0; i < count; i++) {
        struct device closed = {.info = devices[i], .kernel_dir = task->kernel_dir};
        if (find_pass(task, &closed))
            return (task->target.device = device_open(&devices[i], NULL, task->kernel_dir)) != NULL;
    }
    return false;
}

static bool parse(struct pass_task *task, char *const *words)
{
    char error[CHAIN_ERROR];
    const struct color unknown = {0};
    struct image_shape *input = &task->target.input;
    task->target.to_image = strcmp(words[WORD_OUTPUT], "image") == 0;
    task->number = atoi(words[WORD_PASS]);
    task->kernel_dir = words[WORD_KERNELS][0] ? words[WORD_KERNELS] : NULL;
    if (task->number < 0 || task->number >= PLAN_PASSES || !pixfmt_from_name(words[WORD_FORMAT], &input->format))
        return false;
    input->color = color_resolve(unknown, unknown, input->format == PIXFMT_GREY, 16, 16);
    user_filters_load(words[WORD_FILTERS]);
    return chain_parse(&task->chain, words[WORD_CHAIN], error);
}

static enum probe_status answer(struct pass_task *task)
{
    const struct probe_request *request = &task->request;
    child_limit(request->builds_only ? PROBE_BUILD_CPU_S : probe_cpu_s(request->width, request->height));
    if (request->low_priority)
        setpriority(PRIO_PROCESS, 0, 19);
    if (!variant_parse(&task->choice, request->variant) || !find_device(task))
        return PROBE_UNKNOWN;
    const enum probe_status status = try_pictures(task);
    opencl_pass_close(&task->opened);
    plan_free(&task->plan);
    return status;
}

// Does not free its memory: the process ends after this call.
int probe_answer(char *const *words)
{
    child_begin(atoi(words[WORD_PARENT]), PROBE_DATA_BYTES, INT_MAX);
    struct pass_task *task = xalloc(sizeof(*task));
    const bool ok = parse(task, words);
    while (child_receive(&task->request, sizeof(task->request))) {
        task->reply.log[0] = '\0';
        task->reply.status = ok ? answer(task) : PROBE_UNKNOWN;
        if (!child_reply(&task->reply, sizeof(task->reply)))
            break;
    }
    return EXIT_SUCCESS;
}
