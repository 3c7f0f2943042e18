// build.c: the test of compiling a kernel: from a new text, from a known text, and from monocle's cache
#include "measure/session.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/resource.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 64, PIXELS = SIDE * SIDE, SUM = 25 };

enum origin { ORIGIN_NEW, ORIGIN_SAME, ORIGIN_KEPT, ORIGINS };
static const char *const origins[ORIGINS] = {"new", "same", "kept"};

enum step { STEP_BUILD, STEP_FIRST, STEP_SECOND, STEPS };
static const char *const steps[STEPS] = {"build", "first", "second"};

// Shared by the cases.
struct builder {
    struct session *session;
    char *text;
    cl_mem from, to;
    uint64_t random;
    double seconds[ORIGINS][STEPS]; // of the latest build
};

struct build {
    struct builder *builder;
    enum origin origin;
    enum step step;
};

// ---- one build ----

static cl_kernel build_text(const struct builder *b, const char *options)
{
    const struct device *device = b->session->device;
    const char *text = b->text;
    cl_kernel kernel = NULL;
    cl_int result;
    cl_program program = clCreateProgramWithSource(device->context, 1, &text, NULL, &result);
    if (result == CL_SUCCESS)
        result = clBuildProgram(program, 1, &device->info.id, options, NULL, NULL);
    if (result == CL_SUCCESS)
        kernel = clCreateKernel(program, "build", &result);
    if (program)
        clReleaseProgram(program); // the kernel retains it
    compute_ok(result, "build a kernel");
    return kernel;
}

// Builds as monocle does for its own kernels: the second build takes the compiled program from monocle's cache.
static cl_kernel build_kept(const struct builder *b, const char *options)
{
    static const char *const name = "build";
    cl_kernel kernel = NULL;
    char *why = NULL;
    programs_forget(&b->session->device->programs);
    compute_ok(program_kernels(b->session->device, b->text, options, &name, 1, &kernel, &why), "build a kernel");
    free(why);
    return kernel;
}

// Launches and waits. Returns the seconds; negative on failure (logged).
static double launch(const struct builder *b, cl_kernel kernel)
{
    const cl_int side = SIDE;
    const struct kernel_argument arguments[] = {
        {sizeof(cl_mem), &b->from}, {sizeof(cl_mem), &b->to}, {sizeof(side), &side}, {sizeof(side), &side}};
    static const size_t none[2] = {0}, size[2] = {SIDE, SIDE};
    struct span span = {0};
    const int64_t start_ns = clock_now_ns();
    cl_int result = kernel_run(kernel, b->session->queue, arguments, 4, none, size, NULL, NULL, &span);
    if (result == CL_SUCCESS)
        result = clFinish(b->session->queue);
    const double seconds = (double)(clock_now_ns() - start_ns) / 1e9;
    span_release(&span);
    return compute_ok(result, "launch a kernel") ? seconds : -1;
}

// Builds, launches twice, and adds the seconds of the steps to `sum`. Returns false on failure (logged).
static bool build_once(struct builder *b, enum origin origin, uint32_t *number, double sum[STEPS])
{
    char options[64];
    *number = origin == ORIGIN_NEW ? (uint32_t)random_next(&b->random) : 0;
    snprintf(options, sizeof(options), "-cl-std=CL1.2 -DNUMBER=%uu", (unsigned)*number);
    const int64_t start_ns = clock_now_ns();
    cl_kernel kernel = origin == ORIGIN_KEPT ? build_kept(b, options) : build_text(b, options);
    sum[STEP_BUILD] += (double)(clock_now_ns() - start_ns) / 1e9;
    for (int i = STEP_FIRST; kernel && i < STEPS; i++) {
        const double seconds = launch(b, kernel);
        if (seconds < 0) {
            clReleaseKernel(kernel);
            return false;
        }
        sum[i] += seconds;
    }
    if (kernel)
        clReleaseKernel(kernel);
    return kernel != NULL;
}

// ---- the cases ----

// A new text takes long to build, so one build gives the values of all steps. The case of the first step builds.
static double time_builds(struct session_case *c, int runs)
{
    const struct build *build = c->data;
    double *seconds = build->builder->seconds[build->origin], sum[STEPS] = {0};
    uint32_t number;
    for (int i = 0; i < runs && build->step == STEP_BUILD; i++)
        if (!build_once(build->builder, build->origin, &number, sum))
            return -1;
    for (int i = 0; i < STEPS && build->step == STEP_BUILD; i++)
        seconds[i] = sum[i] / runs;
    return seconds[build->step];
}

static bool check(struct session_case *c)
{
    const struct build *build = c->data;
    const struct builder *b = build->builder;
    const cl_command_queue queue = c->session->queue;
    uint32_t got[PIXELS], number;
    double sum[STEPS] = {0};
    if (build->step != STEP_BUILD) { // checked with the build
        if (!(b->seconds[build->origin][build->step] > 0))
            session_fail(c, "the build failed");
        return c->figure.status == FIGURE_OK;
    }
    memset(got, 0, sizeof(got));
    cl_int result = clEnqueueWriteBuffer(queue, b->to, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL);
    if (!compute_ok(result, "clear the result") || !build_once(build->builder, build->origin, &number, sum))
        return false;
    result = clEnqueueReadBuffer(queue, b->to, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL);
    bool ok = compute_ok(result, "read the result");
    for (int i = 0; i < PIXELS; i++)
        ok = ok && got[i] == SUM * (number | 1);
    memcpy(build->builder->seconds[build->origin], sum, sizeof(sum));
    return ok;
}

static void to_ms(struct session_case *c)
{
    c->figure.value /= 1e3;
}

static void close_builder(struct builder *b)
{
    memory_release(b->from);
    memory_release(b->to);
    free(b->text);
}

// False on failure (logged).
static bool open_builder(struct builder *b)
{
    const struct device *device = b->session->device;
    char why[RESOURCE_WHY];
    uint8_t ones[PIXELS];
    cl_int result;
    memset(ones, 1, sizeof(ones));
    b->random = (uint64_t)clock_now_ns(); // different in each run, because drivers cache compiled kernels
    b->text = resource_kernel(b->session->test->file, device->kernel_dir, why);
    if (!b->text) {
        snprintf(b->session->error, sizeof(b->session->error), "%.*s", FIGURE_NOTE - 1, why);
        return false;
    }
    b->from = clCreateBuffer(device->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(ones), ones, &result);
    if (result == CL_SUCCESS)
        b->to = clCreateBuffer(device->context, CL_MEM_READ_WRITE, PIXELS * sizeof(cl_uint), NULL, &result);
    return compute_ok(result, "allocate memory on the device");
}

static void run(struct session *session)
{
    enum { CASES = ORIGINS * STEPS };
    struct session_case cases[CASES] = {{0}};
    struct build builds[CASES];
    struct builder builder = {.session = session};
    const bool open = open_builder(&builder);
    for (int i = 0; i < CASES; i++) {
        struct session_case *c = &cases[i];
        builds[i] = (struct build){&builder, i / STEPS, i % STEPS};
        c->session = session;
        c->data = &builds[i];
        snprintf(c->figure.parameters, sizeof(c->figure.parameters), "text=%s step=%s", origins[i / STEPS],
                 steps[i % STEPS]);
        c->time = time_builds;
        c->check = check;
        c->finish = to_ms;
        if (!open)
            session_fail(c, "%s", session->error);
    }
    session_measure(session, cases, CASES);
    close_builder(&builder);
}

const struct measure_test measure_build = {
    .name = "build",
    .unit = "ms",
    .definition =
        "build of a small kernel, and its first and second launch, by the host's clock; new: the driver has never "
        "compiled this source text; same: it has, and may have cached the kernel; kept: monocle loads the "
        "compiled kernel from its own cache",
    .file = "bench/build.cl",
    .seconds = 1,
    .run = run,
};
