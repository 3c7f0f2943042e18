// answer.c: the child's part of a test: opens the device, runs the test, writes figures
#include "measure/answer.h"

#include "base/child.h"
#include "base/log.h"
#include "compute/gl_context.h"
#include "measure/offscreen.h"
#include "measure/session.h"

#include <jansson.h>
#include <stdarg.h>
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

void answer_figure(const struct figure *figure)
{
    struct figure clean = *figure;
    log_escape(clean.note, sizeof(clean.note), figure->note); // a driver's text may not be UTF-8
    write_line(figure_json(&clean));
}

void answer_failure(const struct session *session)
{
    struct figure figure = {.status = FIGURE_FAILED};
    snprintf(figure.test, sizeof(figure.test), "%s", session->test->name);
    snprintf(figure.note, sizeof(figure.note), "%s", session->error);
    answer_figure(&figure);
}

void answer_progress(const char *format, ...)
{
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    write_line(json_pack("{s:s}", "progress", text));
}

// Standard error is /dev/null, so the figures have the text of an error.
static void keep_error(void *context, const char *message)
{
    struct session *session = context;
    snprintf(session->error, sizeof(session->error), "%.*s", (int)strcspn(message, "\n"), message);
}

static const struct measure_test *find_test(const char *name)
{
    for (int i = 0; measure_tests[i]; i++)
        if (strcmp(measure_tests[i]->name, name) == 0)
            return measure_tests[i];
    return NULL;
}

struct opener {
    const struct device_info *info;
    const char *kernels;
};

static struct device *open_with_gl(void *context, const struct gl_handles *gl)
{
    const struct opener *opener = context;
    return device_open(opener->info, gl, opener->kernels);
}

// Opens a GL context without a window. NULL: gl_why has the reason.
static struct gl_context *open_windowless(struct session *session)
{
    struct gl_context *gl = gl_context_open(false, session->gl_why);
    if (!gl || gl_context_bind(gl, false))
        return gl;
    snprintf(session->gl_why, sizeof(session->gl_why), "%s", session->error);
    gl_context_close(gl);
    return NULL;
}

static bool open_device(struct session *session, char *const *words)
{
    struct device_info devices[DEVICE_MAX];
    const char *why, *kernels = words[MEASURE_KERNELS];
    cl_int result;
    const int count = device_list(devices, &why), number = atoi(words[MEASURE_DEVICE]);
    if (number < 0 || number >= count) {
        log_error("the device is not there any more");
        return false;
    }
    struct opener opener = {&devices[number], *kernels ? kernels : NULL};
    struct offscreen offscreen = {0};
    if (session->test->gl)
        offscreen_open(&offscreen, open_with_gl, &opener);
    session->window = offscreen.window;
    snprintf(session->window_why, sizeof(session->window_why), "%s", offscreen.why);
    if (session->test->gl)
        session->gl = session->window ? window_gl(session->window) : open_windowless(session);
    session->device = session->test->gl ? offscreen.device : open_with_gl(&opener, NULL);
    session->queue = session->device ? device_queue(session->device, true, &result) : NULL;
    return session->queue || (session->device && compute_ok(result, "open a command queue"));
}

// Frees little: the process ends after this call.
int measure_answer(char *const *words)
{
    // The parent has a time limit; the processor time of a device with many processors has none.
    enum { CPU_S = 1 << 20 };
    child_begin(atoi(words[MEASURE_PARENT]), child_memory((size_t)64 << 30), CPU_S);
    struct session session = {.test = find_test(words[MEASURE_TEST]),
                              .seconds = atoi(words[MEASURE_MS]) / 1e3,
                              .rounds = atoi(words[MEASURE_COUNT])};
    if (!session.test || session.rounds < 1)
        return EXIT_FAILURE;
    log_set_error_hook(keep_error, &session);
    if (open_device(&session, words)) {
        session.test->run(&session);
    } else {
        answer_failure(&session);
    }
    log_set_error_hook(NULL, NULL);
    return EXIT_SUCCESS;
}
