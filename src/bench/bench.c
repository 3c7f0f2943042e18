// bench.c: the lists of tests and measurements; runs a test in a child process
#include "bench/bench.h"

#include "base/child.h"
#include "base/json_text.h"
#include "base/log.h"
#include "bench/session.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// In the order of the help.
#define TESTS(X)                                                                                                       \
    X(compute)                                                                                                         \
    X(memory_read)                                                                                                     \
    X(memory_write)                                                                                                    \
    X(memory_copy)                                                                                                     \
    X(memory_stride)                                                                                                   \
    X(memory_misaligned)                                                                                               \
    X(memory_size)                                                                                                     \
    X(memory_local)                                                                                                    \
    X(memory_image)                                                                                                    \
    X(latency)                                                                                                         \
    X(transfer_frame)                                                                                                  \
    X(transfer_size)                                                                                                   \
    X(matmul_group)                                                                                                    \
    X(matmul_step)                                                                                                     \
    X(convolution)                                                                                                     \
    X(small)                                                                                                           \
    X(build)                                                                                                           \
    X(share)                                                                                                           \
    X(energy)
#define DECLARE(name) extern const struct bench_test bench_test_##name;
#define ADDRESS(name) &bench_test_##name,
TESTS(DECLARE)

const struct bench_test *const bench_tests[] = {TESTS(ADDRESS) NULL};

extern const struct measurement measurement_filters, measurement_paths, measurement_variants;

const struct measurement *const measurement_list[] = {&measurement_filters, &measurement_paths, &measurement_variants,
                                                      NULL};

bool bench_is_named(const struct bench_test *test, const char *word)
{
    const size_t length = strlen(word);
    return strncmp(test->name, word, length) == 0 && (test->name[length] == '\0' || test->name[length] == '.');
}

// ---- the parent ----

struct listener {
    const struct bench_test_setup *setup;
    int figures;
    bool stopped;
};

static bool hear(void *context, char *text)
{
    struct listener *listener = context;
    const struct bench_test_setup *setup = listener->setup;
    json_t *object = text ? json_loads(text, 0, NULL) : NULL;
    const char *progress = json_string_value(json_object_get(object, "progress"));
    struct figure figure;
    if (object && !progress && figure_read(object, &figure) && strcmp(figure.test, setup->test->name) == 0) {
        setup->listener.take(setup->listener.context, &figure);
        listener->figures++;
    }
    listener->stopped = !setup->listener.progress(setup->listener.context, progress);
    json_decref(object);
    return !listener->stopped;
}

bool bench_test_run(const struct bench_test_setup *setup)
{
    struct listener listener = {.setup = setup};
    char parent[16], device[16], milliseconds[16], rounds[16];
    const int round_count = setup->rounds > 0 ? setup->rounds : BENCH_ROUNDS;
    const double time_s = setup->seconds > 0 ? setup->seconds : setup->test->seconds * round_count / BENCH_ROUNDS;
    const int limit_s = BENCH_SETUP_S + 4 * (int)time_s;
    int value = 0;
    snprintf(parent, sizeof(parent), "%d", (int)getpid());
    snprintf(device, sizeof(device), "%d", setup->device);
    snprintf(milliseconds, sizeof(milliseconds), "%d", (int)(time_s * 1e3));
    snprintf(rounds, sizeof(rounds), "%d", round_count);
    const char *const arguments[1 + BENCH_WORDS + 1] = {
        "monocle",
        [1 + BENCH_WORD_COMMAND] = "bench_test",
        [1 + BENCH_WORD_PARENT] = parent,
        [1 + BENCH_WORD_DEVICE] = device,
        [1 + BENCH_WORD_TEST] = setup->test->name,
        [1 + BENCH_WORD_MS] = milliseconds,
        [1 + BENCH_WORD_COUNT] = rounds,
        [1 + BENCH_WORD_KERNELS] = setup->kernels ? setup->kernels : "",
    };
    const enum child_end end =
        child_talk(child_program, (char *const *)arguments, limit_s * 1000, &value, hear, &listener);
    if (!listener.stopped && (end != CHILD_EXITED || value != EXIT_SUCCESS || listener.figures == 0)) {
        struct figure figure = {.status = FIGURE_FAILED};
        snprintf(figure.test, sizeof(figure.test), "%s", setup->test->name);
        child_explain(end, value, limit_s, limit_s, figure.note);
        setup->listener.take(setup->listener.context, &figure);
    }
    return !listener.stopped;
}

// ---- the child ----

static void write_figure(void *context, const struct figure *figure)
{
    struct figure sent = *figure;
    sent.samples = NULL;
    send_json(figure_json(&sent));
}

static bool write_progress(void *context, const char *text)
{
    send_json(json_pack("{s:o}", "progress", text_json(text)));
    return true;
}

static const struct bench_test *find_test(const char *name)
{
    for (int i = 0; bench_tests[i]; i++)
        if (strcmp(bench_tests[i]->name, name) == 0)
            return bench_tests[i];
    return NULL;
}

static bool open_device(struct bench_session *session, char *const *words)
{
    struct device_info devices[DEVICE_MAX];
    const char *why, *kernels = words[BENCH_WORD_KERNELS];
    const int count = device_list(devices, &why), number = atoi(words[BENCH_WORD_DEVICE]);
    if (number >= 0 && number < count) {
        const enum bench_gl gl = session->test->gl ? BENCH_WINDOW : BENCH_PLAIN;
        return bench_begin(session, &devices[number], *kernels ? kernels : NULL, gl);
    }
    snprintf(session->error, sizeof(session->error), "the device is not there any more");
    return false;
}

// Frees little: the process ends after this call.
int bench_reply(char *const *words)
{
    // The parent has a time limit; the processor time of a device with many processors has none.
    enum { CPU_S = 1 << 20 };
    child_begin(atoi(words[BENCH_WORD_PARENT]), child_memory((size_t)64 << 30), CPU_S);
    struct bench_session session = {.test = find_test(words[BENCH_WORD_TEST]),
                                    .seconds = atoi(words[BENCH_WORD_MS]) / 1e3,
                                    .rounds = atoi(words[BENCH_WORD_COUNT]),
                                    .listener = {write_figure, write_progress, NULL}};
    session.limit_s = 2 * session.seconds; // a slow device gets fewer rounds
    if (!session.test || session.rounds < 1)
        return EXIT_FAILURE;
    if (open_device(&session, words))
        session.test->run(&session); // standard error is /dev/null, so the figures have the text of an error
    else
        bench_report_failure(&session);
    log_set_error_hook(NULL, NULL);
    return EXIT_SUCCESS;
}
