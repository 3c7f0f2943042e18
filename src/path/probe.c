// probe.c: tests a variant once in a child process, and keeps the verdict
#include "path/probe.h"

#include "base/alloc.h"
#include "base/child.h"
#include "base/driver_call.h"
#include "base/file.h"
#include "base/gl_handles.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "base/thread.h"
#include "compute/program.h"
#include "filter/user_filters.h"
#include "path/backend.h"
#include "path/pass_text.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char passed[] = "passed";

char *probe_key(const struct probe *probe, size_t *bytes, char **error)
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

int probe_limit_s(int width, int height)
{
    return PROBE_LIMIT_S * (1 + (int)((int64_t)width * height >> 21));
}

int probe_cpu_s(int width, int height)
{
    const int share = PROBE_LIMIT_S / PROBE_CPU_S;
    return width > 0 ? probe_limit_s(width, height) / share * workers_available() : PROBE_CPU_S;
}

enum { LOG_BYTES = 4096 };

struct question {
    const struct probe *probe;
    char key[HASH_TEXT];
    char log[LOG_BYTES]; // why a program does not compile
};

// Keeps the compiler's messages, which a child that builds writes.
static bool wait_on(void *context, char *line)
{
    char *log = context;
    const size_t used = log ? strlen(log) : 0;
    if (log && line)
        snprintf(log + used, LOG_BYTES - used, "%s%s", used ? "\n" : "", line);
    return !driver_call_interrupted();
}

// Runs the child. A signal ends it. `log`: NULL, or LOG_BYTES for its lines.
static enum child_end run_child(const char *const *arguments, int limit_s, char *log, int *value)
{
    return child_talk(child_program, (char *const *)arguments, limit_s * 1000, value, wait_on, log);
}

static enum child_end ask(struct question *question, int *value)
{
    const struct probe *probe = question->probe;
    char parent[16], number[16], size[32], chain[CHAIN_TEXT], variant[VARIANT_TEXT];
    snprintf(parent, sizeof(parent), "%d", (int)getpid());
    snprintf(number, sizeof(number), "%d", probe->number);
    snprintf(size, sizeof(size), probe->builds_only ? "build" : "%dx%d", probe->width, probe->height);
    variant_print(probe->choice, variant);
    chain_print(probe->chain, chain);
    const char *const arguments[1 + WORDS + 1] = {
        "monocle",
        [1 + WORD_COMMAND] = "probe",
        [1 + WORD_PARENT] = parent,
        [1 + WORD_KEY] = question->key,
        [1 + WORD_FORMAT] = pixfmt_info(probe->format)->name,
        [1 + WORD_OUTPUT] = probe->target->to_image ? "image" : "buffer",
        [1 + WORD_PASS] = number,
        [1 + WORD_VARIANT] = variant,
        [1 + WORD_CHAIN] = chain,
        [1 + WORD_KERNELS] = text_or(probe->device->kernel_dir, ""),
        [1 + WORD_FILTERS] = user_filters_named(),
        [1 + WORD_SIZE] = size,
    };
    const int limit_s = probe->builds_only ? PROBE_BUILD_LIMIT_S : probe_limit_s(probe->width, probe->height);
    return run_child(arguments, limit_s, question->log, value);
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
    child_explain(end, value, probe_limit_s(probe->width, probe->height), probe_cpu_s(probe->width, probe->height),
                  verdict);
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
    return question->log[0] ? VERDICT_UNKNOWN : hold; // the next run needs the log again
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
    if (question.log[0] && strcmp(verdict, passed) == 0) {
        path_fail(error, question.log);
        return false;
    }
    return explain_build(verdict, probe->device->info.name, error);
}

// A shader to build: its text in memory that the child reads.
struct shader {
    int fd;
    bool es;
};

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
    const enum child_end end = run_child(arguments, PROBE_BUILD_LIMIT_S, NULL, &value);
    return judge_build(end, value, verdict);
}

bool probe_shader_builds(const struct gl_context *context, const char *text, bool es, char **error)
{
    struct shader shader = {.es = es};
    struct verdicts verdicts;
    char verdict[VERDICT_TEXT] = "its text cannot be stored in memory";
    if (!child_program)
        return true;
    char *key = xprintf("shader %s\n%s\n%s", MONOCLE_VERSION, context->name, text);
    shader.fd = memfd_create("monocle-shader", MFD_CLOEXEC);
    if (shader.fd >= 0 && file_write_all(shader.fd, text, strlen(text))) {
        verdicts_init(&verdicts);
        verdicts_get(&verdicts, key, strlen(key), find_shader, &shader, verdict);
        verdicts_finish(&verdicts);
    }
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
