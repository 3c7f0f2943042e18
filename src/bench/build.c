// build.c: the test of compiling a kernel: from a new text, from a known text, and from monocle's cache
#include "bench/session.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/resource.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 64, PIXELS = SIDE * SIDE, SUM = 25 };

enum origin { ORIGIN_NEW, ORIGIN_SAME, ORIGIN_KEPT, ORIGINS };
static const char *const origins[ORIGINS] = {"new", "same", "kept"};

enum { LAUNCHES = 2 };
static const char *const launches[LAUNCHES] = {"first", "second"};

// Shared by the cases.
struct builder {
    struct bench_session *session;
    char *text;
    cl_mem from, to;
    uint64_t random;
};

struct build_case {
    struct builder *builder;
    enum origin origin;
    uint32_t number; // of the latest build
    struct bench_part launch[LAUNCHES];
};

// ---- one build ----

// Returns NULL on failure: the case is then marked, or the error is logged.
static cl_kernel build_text(struct bench_case *c, const char *text, const char *options)
{
    const struct device *device = c->session->device;
    cl_kernel kernel = NULL;
    cl_int result;
    cl_program program = clCreateProgramWithSource(device->context, 1, &text, NULL, &result);
    if (result == CL_SUCCESS)
        result = compute_build(program, device->info.id, options);
    if (result == CL_SUCCESS) {
        kernel = clCreateKernel(program, "build", &result);
    } else if (program) {
        char *log = program_log(device, program, text, result);
        bench_fail_build(c, log);
        free(log);
    }
    if (program)
        clReleaseProgram(program); // the kernel retains it
    compute_ok(result, "build a kernel");
    return kernel;
}

// Builds as monocle does for its own kernels: the second build takes the compiled program from monocle's cache. Returns
// NULL on failure: the case is then marked.
static cl_kernel build_kept(struct bench_case *c, const char *text, const char *options)
{
    static const char *const name = "build";
    cl_kernel kernel = NULL;
    char *why = NULL;
    programs_forget(c->session->device->programs);
    if (program_kernels(c->session->device, text, options, &name, 1, &kernel, &why) != CL_SUCCESS)
        bench_fail_build(c, why);
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
    struct device_span span = {0};
    const int64_t start_ns = clock_now_ns();
    cl_int result = kernel_run(kernel, b->session->queue, arguments, 4, none, size, NULL, NULL, &span);
    if (result == CL_SUCCESS)
        result = compute_finish(b->session->queue);
    const double seconds = (double)(clock_now_ns() - start_ns) / 1e9;
    span_release(&span);
    return compute_ok(result, "launch a kernel") ? seconds : -1;
}

static void print_options(const struct build_case *build, char options[64])
{
    snprintf(options, 64, "-cl-std=CL1.2 -DNUMBER=%uu", (unsigned)build->number);
}

// Builds, launches, and adds the seconds to both sums. Returns false on failure: the case is then marked, or the error
// is logged.
static bool build_once(struct bench_case *c, double *build_s, double launch_s[LAUNCHES])
{
    struct build_case *build = c->data;
    struct builder *b = build->builder;
    char options[64];
    build->number = build->origin == ORIGIN_NEW ? (uint32_t)random_next(&b->random) : 0;
    print_options(build, options);
    const int64_t start_ns = clock_now_ns();
    cl_kernel kernel = (build->origin == ORIGIN_KEPT ? build_kept : build_text)(c, b->text, options);
    *build_s += (double)(clock_now_ns() - start_ns) / 1e9;
    bool ok = kernel != NULL;
    for (int i = 0; ok && i < LAUNCHES; i++) {
        const double seconds = launch(b, kernel);
        launch_s[i] += seconds;
        ok = seconds >= 0;
    }
    if (kernel)
        clReleaseKernel(kernel);
    return ok;
}

// ---- the cases ----

// A new text takes long to build, so one build gives the values of all steps.
static double time_builds(struct bench_case *c, int runs)
{
    double build_s = 0, launch_s[LAUNCHES] = {0};
    for (int i = 0; i < runs; i++)
        if (!build_once(c, &build_s, launch_s))
            return -1;
    for (int i = 0; i < LAUNCHES; i++)
        c->part[i].value = launch_s[i] * 1e3 / runs;
    return build_s / runs;
}

// Returns true if the build stored the compiled program, where it should.
static bool is_kept(const struct build_case *build)
{
    char options[64];
    print_options(build, options);
    return build->origin != ORIGIN_KEPT ||
           program_is_kept(build->builder->session->device, build->builder->text, options);
}

static bool check(struct bench_case *c)
{
    const struct build_case *build = c->data;
    const cl_mem to = build->builder->to;
    uint32_t got[PIXELS] = {0};
    double build_s = 0, launch_s[LAUNCHES] = {0};
    const cl_int result = clEnqueueWriteBuffer(c->session->queue, to, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL);
    if (!compute_ok(result, "clear the result") || !build_once(c, &build_s, launch_s))
        return false;
    bool ok = bench_read(c->session, to, 0, got, sizeof(got));
    for (int i = 0; i < PIXELS; i++)
        ok = ok && got[i] == SUM * (build->number | 1);
    if (!ok || is_kept(build))
        return ok;
    bench_skip(c, "monocle cannot store the compiled kernel: its cache directory cannot be written, or the driver "
                  "returns no binary");
    return false;
}

// False on failure (logged).
static bool open_builder(struct builder *b)
{
    char why[RESOURCE_WHY];
    uint8_t ones[PIXELS];
    memset(ones, 1, sizeof(ones));
    b->random = (uint64_t)clock_now_ns(); // different in each run, because drivers cache compiled kernels
    b->text = resource_kernel(b->session->test->file, b->session->device->kernel_dir, why);
    if (!b->text) {
        snprintf(b->session->error, sizeof(b->session->error), "%.*s", FIGURE_NOTE - 1, why);
        return false;
    }
    b->from = bench_memory(b->session, sizeof(ones), ones);
    b->to = bench_memory(b->session, PIXELS * sizeof(cl_uint), NULL);
    return b->from && b->to;
}

static void open_case(struct bench_case *c)
{
    struct build_case *build = c->data;
    for (int i = 0; i < LAUNCHES; i++) {
        struct figure *figure = &build->launch[i].figure;
        snprintf(figure->parameters, sizeof(figure->parameters), "text=%s step=%s", origins[build->origin],
                 launches[i]);
    }
    c->part = build->launch;
    c->parts = LAUNCHES;
    c->time = time_builds;
    c->check = check;
}

static void run(struct bench_session *session)
{
    struct bench_case cases[ORIGINS] = {{0}};
    struct build_case builds[ORIGINS] = {{0}};
    struct builder builder = {.session = session};
    const bool open = open_builder(&builder);
    for (int i = 0; i < ORIGINS; i++) {
        builds[i].builder = &builder;
        builds[i].origin = i;
        cases[i].data = &builds[i];
        bench_name(&cases[i], "text=%s step=build", origins[i]);
    }
    bench_run(session, cases, ORIGINS, open, open_case);
}

const struct bench_test bench_test_build = {
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
