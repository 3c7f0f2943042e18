// answer.c: the child's part of a test: opens the device, runs the test, writes figures
#include "measure/bench_session.h"

#include "base/child.h"
#include "base/log.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Frees the value. jansson's numbers do not depend on the locale.
static void write_line(json_t *value)
{
    char *line = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(6));
    if (line)
        child_write(line);
    free(line);
    json_decref(value);
}

static void write_figure(void *context, const struct figure *figure)
{
    struct figure sent = *figure;
    sent.samples = NULL;
    write_line(figure_json(&sent));
}

static bool write_progress(void *context, const char *text)
{
    write_line(json_pack("{s:s}", "progress", text));
    return true;
}

static const struct measure_test *find_test(const char *name)
{
    for (int i = 0; measure_tests[i]; i++)
        if (strcmp(measure_tests[i]->name, name) == 0)
            return measure_tests[i];
    return NULL;
}

static bool open_device(struct bench_session *session, char *const *words)
{
    struct device_info devices[DEVICE_MAX];
    const char *why, *kernels = words[MEASURE_KERNELS];
    const int count = device_list(devices, &why), number = atoi(words[MEASURE_DEVICE]);
    if (number >= 0 && number < count)
        return bench_begin(session, &devices[number], *kernels ? kernels : NULL,
                           session->test->gl ? BENCH_WINDOW : BENCH_PLAIN);
    snprintf(session->error, sizeof(session->error), "the device is not there any more");
    return false;
}

// Frees little: the process ends after this call.
int measure_answer(char *const *words)
{
    // The parent has a time limit; the processor time of a device with many processors has none.
    enum { CPU_S = 1 << 20 };
    child_begin(atoi(words[MEASURE_PARENT]), child_memory((size_t)64 << 30), CPU_S);
    struct bench_session session = {.test = find_test(words[MEASURE_TEST]),
                                    .seconds = atoi(words[MEASURE_MS]) / 1e3,
                                    .rounds = atoi(words[MEASURE_COUNT]),
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
