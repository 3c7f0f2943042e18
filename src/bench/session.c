// session.c: measures the cases of a test in turns, each once per round, so that disturbances affect all of them
// equally
#include "bench/session.h"

#include "base/clock.h"
#include "base/log.h"
#include "compute/gl_context.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the device ----

static void keep_error(void *context, const char *message)
{
    struct bench_session *session = context;
    snprintf(session->error, sizeof(session->error), "%.*s", (int)strcspn(message, "\n"), message);
}

struct opener {
    const struct device_info *info; // NULL: no device
    const char *kernels;
};

// Opens a hidden window, and a device that shares with its GL context if possible. Closes the ones before.
static void open_window(struct bench_session *session, const struct opener *opener, bool egl)
{
    const struct window_setup setup = {.title = "monocle bench", .width = 64, .height = 64, .egl = egl, .hidden = true};
    device_close(session->device); // first, because it uses the window's GL context
    window_close(session->window);
    session->window = window_open(&setup, session->window_why);
    const struct gl_handles gl = window_gl_handles(session->window);
    session->device = opener->info ? device_open(opener->info, &gl, opener->kernels) : NULL;
}

// As in the live view, a GPU that does not share over GLX gets a second try over EGL.
static void open_shared(struct bench_session *session, const struct opener *opener)
{
    device_drivers_start();
    open_window(session, opener, false);
    if (!session->window || !session->device || session->device->shares_gl || session->device->info.host_unified ||
        !window_gl_handles(session->window).glx_context)
        return;
    open_window(session, opener, true);
    if (!session->device || !session->device->shares_gl)
        open_window(session, opener, false);
}

bool bench_begin(struct bench_session *session, const struct device_info *device, const char *kernels, enum bench_gl gl)
{
    const struct opener opener = {device, kernels};
    cl_int result;
    log_set_error_hook(keep_error, session);
    if (gl == BENCH_WINDOW)
        open_shared(session, &opener);
    else if (device)
        session->device = device_open(device, NULL, kernels);
    if (gl != BENCH_PLAIN)
        session->gl = session->window ? window_gl(session->window) : gl_context_open_current(session->gl_why);
    session->queue = session->device ? device_queue(session->device, true, &result) : NULL;
    return !device || session->queue || (session->device && compute_ok(result, "open a command queue"));
}

void bench_end(struct bench_session *session)
{
    if (session->queue)
        clReleaseCommandQueue(session->queue);
    if (!session->window)
        gl_context_close_current(session->gl);
    device_close(session->device);
    window_close(session->window);
    log_set_error_hook(NULL, NULL);
}

// ---- reports ----

void bench_report(const struct bench_session *session, const struct figure *figure)
{
    struct figure clean = *figure;
    log_escape(clean.note, sizeof(clean.note), figure->note); // a driver's text may not be UTF-8
    session->listener.take(session->listener.context, &clean);
}

void bench_report_failure(const struct bench_session *session)
{
    struct figure figure = {.status = FIGURE_FAILED};
    snprintf(figure.test, sizeof(figure.test), "%s", session->test->name);
    snprintf(figure.note, sizeof(figure.note), "%s", session->error);
    bench_report(session, &figure);
}

void bench_derive(const struct bench_case *c, int test, double value)
{
    struct figure figure = c->figure;
    snprintf(figure.test, sizeof(figure.test), "%s", c->session->measurement->test[test].name);
    figure.value = value;
    figure.samples = NULL;
    figure.note[0] = '\0';
    bench_report(c->session, &figure);
}

void bench_progress(struct bench_session *session, const char *format, ...)
{
    char text[128];
    va_list arguments;
    int used = snprintf(text, sizeof(text), "%s: ", session->test->name);
    va_start(arguments, format);
    vsnprintf(text + used, sizeof(text) - (size_t)used, format, arguments);
    va_end(arguments);
    session->stopped = session->stopped || !session->listener.progress(session->listener.context, text);
}

// ---- kernels ----

void bench_argument(struct bench_case *c, const void *value, size_t bytes)
{
    c->arguments[c->argument_count++] = (struct kernel_argument){bytes, value};
}

bool bench_kernel(struct bench_case *c, const char *options, const char *name)
{
    char *why = NULL, all[256];
    snprintf(all, sizeof(all), "-cl-std=CL1.2 %s", options);
    const char *file = c->file ? c->file : c->session->test->file;
    c->kernel = program_file_kernel(c->session->device, file, all, name, &why);
    if (!c->kernel)
        bench_fail_build(c, why);
    free(why);
    return c->kernel != NULL;
}

static cl_int enqueue(void *context, int run, struct device_span *span)
{
    const struct bench_case *c = context;
    static const size_t none[2] = {0};
    return kernel_run(c->kernel, c->session->queue, c->arguments, (cl_uint)c->argument_count, none, c->size, c->local,
                      NULL, span);
}

static double kernel_time(struct bench_case *c, int runs)
{
    struct timing timing;
    return timing_run(c->session->queue, runs, enqueue, c, &timing) ? timing.device_ms / 1e3 : -1;
}

static double host_time(const struct bench_case *c, int runs)
{
    const int64_t start_ns = clock_now_ns();
    for (int i = 0; i < runs; i++)
        if (!c->once(c))
            return -1;
    return (double)(clock_now_ns() - start_ns) / 1e9 / runs;
}

cl_mem bench_memory(const struct bench_session *session, size_t bytes, const void *content)
{
    const cl_mem_flags flags = content ? CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR : CL_MEM_READ_WRITE;
    cl_int result;
    cl_mem buffer = clCreateBuffer(session->device->context, flags, bytes, (void *)content, &result);
    return compute_ok(result, "allocate memory on the device") ? buffer : NULL;
}

bool bench_read(const struct bench_session *session, cl_mem buffer, size_t at, void *to, size_t bytes)
{
    return compute_ok(clEnqueueReadBuffer(session->queue, buffer, CL_TRUE, at, bytes, to, 0, NULL, NULL),
                      "read a result");
}

bool bench_kernel_once(struct bench_case *c, cl_uint loops, cl_mem result, size_t bytes)
{
    const cl_uint usual = c->loops;
    const cl_uchar zero = 0;
    if (result && !compute_ok(clEnqueueFillBuffer(c->session->queue, result, &zero, 1, 0, bytes, 0, NULL, NULL),
                              "clear memory on the device"))
        return false;
    c->loops = loops;
    const bool ok = kernel_time(c, 1) >= 0;
    c->loops = usual;
    return ok;
}

// ---- the state of a case ----

static void set_status(struct bench_case *c, enum figure_status status, const char *format, va_list arguments)
{
    c->figure.status = status;
    vsnprintf(c->figure.note, sizeof(c->figure.note), format, arguments);
}

void bench_name(struct bench_case *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->figure.parameters, sizeof(c->figure.parameters), format, arguments);
    va_end(arguments);
}

void bench_skip(struct bench_case *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_status(c, FIGURE_SKIPPED, format, arguments);
    va_end(arguments);
}

void bench_fail(struct bench_case *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_status(c, FIGURE_FAILED, format, arguments);
    va_end(arguments);
}

void bench_fail_build(struct bench_case *c, const char *log)
{
    if (!log) {
        bench_fail(c, "%s", c->session->error);
        return;
    }
    // The first line names the device. Warnings may precede the error.
    const char *line = strchr(log, '\n');
    line = line && line[1] ? line + 1 : log;
    const char *error = strstr(line, "error:");
    while (error && error > line && error[-1] != '\n')
        error--;
    line = error ? error : line + strspn(line, "\n");
    bench_fail(c, "%.*s", (int)strcspn(line, "\n"), line);
}

bool bench_group_fits(struct bench_case *c, size_t items)
{
    const bool fits = kernel_group_limit(&c->session->device->info, c->kernel) >= items;
    if (!fits)
        bench_skip(c, "the driver limits work-groups of this kernel to fewer than %zu work-items", items);
    return fits;
}

static bool runs(const struct bench_case *c)
{
    return c->figure.status == FIGURE_OK;
}

// ---- measurement ----

enum { ROUNDS_LEAST = 3 };

static double time_runs(struct bench_case *c, int count)
{
    if (c->time)
        return c->time(c, count);
    return c->once ? host_time(c, count) : kernel_time(c, count);
}

static double time_case(struct bench_case *c, int count)
{
    c->session->error[0] = '\0';
    const double seconds = time_runs(c, count);
    if (!(seconds > 0) && runs(c))
        bench_fail(c, "%s", c->session->error[0] ? c->session->error : "the device reports impossible times");
    return seconds;
}

static void check(struct bench_case *c)
{
    if (!c->check)
        return;
    c->session->error[0] = '\0';
    c->figure.checked = c->check(c);
    if (!c->figure.checked && runs(c))
        bench_fail(c, "%s", c->session->error[0] ? c->session->error : "it computes a wrong result");
}

// Raises the loops until a run takes a quarter of `slot_s`, then chooses the number of runs that fill the slot.
static void calibrate(struct bench_case *c, double slot_s)
{
    const double least_s = slot_s / 4;
    c->loops = c->loops ? c->loops : 1;
    time_case(c, c->warm_runs ? c->warm_runs : 1); // drivers finish compiling
    double run_s = runs(c) ? time_case(c, 1) : 0;
    while (runs(c) && run_s < least_s && c->loops < c->loops_most) {
        const double factor = fmin(fmax(least_s / run_s * 1.2, 1.5), 16);
        c->loops = (cl_uint)fmin(ceil(c->loops * factor), c->loops_most);
        run_s = time_case(c, 1);
    }
    if (!runs(c))
        return;
    // By the host's clock, because a short run takes less time than its launch.
    c->runs = (int)fmin(fmax(slot_s / run_s, 1), TIMING_RUNS);
    const int64_t start_ns = clock_now_ns();
    time_case(c, c->runs);
    const double host_s = (double)(clock_now_ns() - start_ns) / 1e9;
    c->runs = (int)fmax(fmin(c->runs, c->runs * 2 * slot_s / host_s), 1);
}

static double value_of(const struct bench_case *c, double run_s)
{
    const bool in_ms = strcmp(c->session->test->unit, "ms") == 0;
    if (c->work > 0)
        return c->work * c->loops / run_s;
    return run_s * (in_ms ? 1e3 : 1e6);
}

static void measure(struct bench_case *c)
{
    if (c->runs > 1)
        time_case(c, 1); // restores caches and clock rates after the other cases
    const double run_s = runs(c) ? time_case(c, c->runs) : 0;
    if (!runs(c))
        return;
    samples_add(&c->values, value_of(c, run_s));
    for (int i = 0; i < c->parts; i++) {
        if (c->part[i].value >= 0)
            samples_add(&c->part[i].values, c->part[i].value);
    }
}

static void release(struct bench_case *c)
{
    samples_free(&c->values);
    for (int i = 0; i < c->parts; i++)
        samples_free(&c->part[i].values);
    if (c->kernel)
        clReleaseKernel(c->kernel);
    c->kernel = NULL;
}

static void set_value(struct figure *figure, const struct bench_session *session, const struct samples *values)
{
    const double low = samples_percentile(values, 25), high = samples_percentile(values, 75);
    if (!figure->test[0])
        snprintf(figure->test, sizeof(figure->test), "%s", session->test->name);
    figure->value = samples_percentile(values, 50);
    figure->spread = figure->value > 0 ? (high - low) / 2 / figure->value : 0;
    if (values->count < 2)
        figure->spread = NAN;
    figure->rounds = values->count;
}

static void set_values(struct bench_case *c)
{
    set_value(&c->figure, c->session, &c->values);
    c->figure.samples = &c->values;
    for (int i = 0; i < c->parts; i++) {
        set_value(&c->part[i].figure, c->session, &c->part[i].values);
        c->part[i].figure.checked = c->figure.checked;
    }
}

static void report(struct bench_case *c)
{
    const bool stopped = runs(c) && c->values.count == 0; // before its first round
    if (c->silent || stopped)
        return;
    if (c->finish && runs(c))
        c->finish(c);
    bench_report(c->session, &c->figure);
    for (int i = 0; runs(c) && i < c->parts; i++) {
        if (c->part[i].values.count > 0)
            bench_report(c->session, &c->part[i].figure);
    }
}

static void prepare(struct bench_session *session, struct bench_case *cases, int count)
{
    int running = 0;
    for (int i = 0; i < count; i++)
        running += runs(&cases[i]);
    const double even_s = session->seconds / session->rounds / (running ? running : 1);
    for (int i = 0; i < count && !session->stopped; i++) {
        bench_progress(session, "warming up, %d of %d", i + 1, count);
        if (runs(&cases[i]))
            check(&cases[i]);
        if (runs(&cases[i]) && cases[i].runs == 0)
            calibrate(&cases[i], session->slot_s > 0 ? session->slot_s : even_s);
    }
}

void bench_measure(struct bench_session *session, struct bench_case *cases, int count)
{
    prepare(session, cases, count);
    const int64_t start_ns = clock_now_ns();
    for (int round = 0; round < session->rounds && !session->stopped; round++) {
        const double spent_s = (double)(clock_now_ns() - start_ns) / 1e9;
        if (round >= ROUNDS_LEAST && spent_s * (round + 1) / round > session->limit_s)
            break;
        bench_progress(session, "round %d of %d, %.0f s", round + 1, session->rounds, spent_s);
        for (int i = 0; i < count && !session->stopped; i++) {
            struct bench_case *c = &cases[(i + round) % count];
            if (runs(c))
                measure(c);
        }
    }
    for (int i = 0; i < count; i++)
        set_values(&cases[i]);
    for (int i = 0; i < count; i++)
        report(&cases[i]);
    for (int i = 0; i < count; i++)
        release(&cases[i]);
}

void bench_run(struct bench_session *session, struct bench_case *cases, int count, bool ready,
               void (*open)(struct bench_case *c))
{
    for (int i = 0; i < count; i++) {
        cases[i].session = session;
        if (ready && open)
            open(&cases[i]);
        else if (!ready)
            bench_fail(&cases[i], "%s", session->error);
    }
    bench_measure(session, cases, count);
}

struct figure bench_best(struct bench_case *cases, int count)
{
    struct figure best = {.value = 0};
    for (int i = 0; i < count; i++) {
        struct bench_case *c = &cases[i];
        if (runs(c))
            check(c);
        if (runs(c))
            calibrate(c, c->session->seconds / 100);
        for (int round = 0; round < ROUNDS_LEAST && runs(c); round++)
            measure(c);
        if (runs(c))
            set_value(&c->figure, c->session, &c->values);
        if (runs(c) && c->figure.value > best.value)
            best = c->figure;
        release(c);
    }
    return best;
}
