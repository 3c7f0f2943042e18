// matmul.c: the tests of the product of two matrices: by shape of the work-group, and by step of optimization
#include "base/alloc.h"
#include "measure/compute.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TYPES = 2,
    SIDE_LEAST = 128, // rows and columns of a matrix
    SIDE_USUAL = 1024,
    SIDE_MOST = 4096, // a GPU with many compute units has too little work with fewer
};
static const int type_elements[TYPES] = {ELEMENT_FLOAT, ELEMENT_INT};

// Two random matrices (n x k and k x n) and their product.
struct matrices {
    const struct element *element;
    cl_mem a, b, c;
    uint8_t *random;    // of both
    struct figure peak; // Gop/s; value 0: not measured
};

struct matmul {
    const struct matrices *matrices;
    cl_int n, k;
};

// ---- the host's result ----

static bool same(const struct matmul *m, const void *got, int row, int column)
{
    const struct element *element = m->matrices->element;
    double sum = 0;
    uint32_t whole = 0;
    for (int i = 0; i < m->k; i++) {
        const double a = element_read(element, m->matrices->random, (size_t)row * (size_t)m->k + (size_t)i);
        const double b = element_read(element, m->matrices->random, (size_t)i * (size_t)m->n + (size_t)column);
        sum += a * b;
        whole += (uint32_t)(int32_t)(element->is_float ? 0 : a) * (uint32_t)(int32_t)(element->is_float ? 0 : b);
    }
    const double value = element_read(element, got, (size_t)column);
    return element->is_float ? fabs(value - sum) <= 1e-4 * sum : value == (int32_t)whole;
}

static bool check(struct bench_case *c)
{
    enum { ROWS = 9, COLUMNS = 61 };
    const struct matmul *m = c->data;
    const size_t row_bytes = (size_t)m->n * m->matrices->element->bytes;
    const cl_uint zero = 0;
    const cl_command_queue queue = c->session->queue;
    uint8_t *got = xmalloc(row_bytes);
    cl_int result =
        clEnqueueFillBuffer(queue, m->matrices->c, &zero, sizeof(zero), 0, row_bytes * (size_t)m->n, 0, NULL, NULL);
    bool ok = compute_ok(result, "clear the product") && bench_kernel_once(c, 1);
    for (int i = 0; ok && i < ROWS; i++) {
        const int row = i * (m->n - 1) / (ROWS - 1);
        result =
            clEnqueueReadBuffer(queue, m->matrices->c, CL_TRUE, (size_t)row * row_bytes, row_bytes, got, 0, NULL, NULL);
        ok = compute_ok(result, "read the product");
        for (int j = 0; ok && j < COLUMNS; j++)
            ok = same(m, got, row, (j * (m->n - 1) + i) / (COLUMNS - 1)); // the last one is m->n - 1
    }
    free(got);
    return ok;
}

// ---- the matrices ----

static void close_matrices(struct matrices *m)
{
    memory_release(m->a);
    memory_release(m->b);
    memory_release(m->c);
    free(m->random);
}

// Opens matrices with `side` rows and columns. Both factors have the same random numbers. False on failure (logged).
static bool open_matrices(struct bench_session *session, struct matrices *m, const struct element *element, cl_int side)
{
    const cl_context context = session->device->context;
    const size_t numbers = (size_t)side * (size_t)side, bytes = numbers * element->bytes;
    cl_int result;
    *m = (struct matrices){.element = element, .random = xmalloc(bytes)};
    element_random(element, m->random, numbers);
    m->a = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, m->random, &result);
    if (result == CL_SUCCESS)
        m->b = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, m->random, &result);
    if (result == CL_SUCCESS)
        m->c = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &result);
    return compute_ok(result, "allocate matrices on the device");
}

// ---- the cases ----

static bool is_cpu(const struct bench_session *session)
{
    return session->device->info.type & CL_DEVICE_TYPE_CPU;
}

struct step {
    const char *name, *kernel;
    int each; // numbers of a work-item, or of a row of its block
};
static const struct step steps[] = {
    {"naive", "naive", 1}, {"local", "tiled", 1},  {"each2", "tiled", 2},  {"each4", "tiled", 4},
    {"each8", "tiled", 8}, {"block4", "block", 4}, {"block8", "block", 8},
};
enum { STEPS = sizeof(steps) / sizeof(*steps), SHAPES = 20, CPU_SHAPES = 11, CASES = TYPES * SHAPES };

// Opens the kernel. If the driver limits its work-groups to fewer work-items than `local`, builds it again for this
// shape. It does not build for each shape, because this would take long. False: marked as failed or skipped.
static bool open_kernel(struct bench_case *c, const char *options, const char *name)
{
    const struct device_info *info = &c->session->device->info;
    const size_t items = c->local[0] * c->local[1];
    char shaped[160];
    if (!bench_kernel(c, options, name))
        return false;
    size_t limit = kernel_group_limit(info, c->kernel);
    if (items <= limit)
        return true;
    clReleaseKernel(c->kernel);
    snprintf(shaped, sizeof(shaped), "%s -DGROUP_X=%zu -DGROUP_Y=%zu", options, c->local[0], c->local[1]);
    if (bench_kernel(c, shaped, name))
        limit = kernel_group_limit(info, c->kernel);
    if (items > limit)
        bench_skip(c, "the driver limits work-groups of this kernel to %zu work-items", limit);
    return items <= limit;
}

// Chooses the kernel and `local`; a work-item computes across x down numbers. False: marked as failed or skipped.
static bool choose_kernel(struct bench_case *c, const struct step *step, size_t local_x, size_t local_y)
{
    const struct matmul *m = c->data;
    const char *type = m->matrices->element->name;
    const size_t most = c->session->device->info.max_work_group;
    const bool block = strcmp(step->kernel, "block") == 0, tiled = strcmp(step->kernel, "tiled") == 0;
    int tile = 32;
    char options[96];
    while (tile > 8 && (size_t)(tile * tile / step->each) > most)
        tile /= 2;
    c->local[0] = block ? 16 : tiled ? (size_t)tile : local_x;
    c->local[1] = block ? 16 : tiled ? (size_t)(tile / step->each) : local_y;
    c->size[0] = (size_t)(block ? m->n / step->each : m->n);
    c->size[1] = (size_t)(m->n / step->each);
    if (c->local[0] * c->local[1] > most) {
        bench_skip(c, "the device limits work-groups to %zu work-items", most);
        return false;
    }
    snprintf(options, sizeof(options), "-DTYPE=%s -DTYPE4=%s4 -DTILE=%d -DEACH=%d%s", type, type, tile, step->each,
             is_cpu(c->session) ? " -DIN_ORDER" : "");
    return open_kernel(c, options, step->kernel);
}

static void open_case(struct bench_case *c, const struct step *step, size_t local_x, size_t local_y)
{
    struct matmul *m = c->data;
    if (!choose_kernel(c, step, local_x, local_y))
        return;
    bench_argument(c, &m->matrices->a, sizeof(cl_mem));
    bench_argument(c, &m->matrices->b, sizeof(cl_mem));
    bench_argument(c, &m->matrices->c, sizeof(cl_mem));
    bench_argument(c, &m->n, sizeof(m->n));
    bench_argument(c, &m->k, sizeof(m->k));
    c->time = bench_kernel_time;
    c->check = check;
    c->work = 2.0 * m->n * m->n * m->k / 1e9;
}

// Returns the seconds of the naive kernel for matrices with `side` rows and columns. 0: it cannot run.
static double find_time(struct bench_session *session, cl_int side)
{
    struct matrices matrices;
    struct matmul m = {&matrices, side, side};
    struct bench_case c = {.session = session, .data = &m};
    double speed = 0;
    if (open_matrices(session, &matrices, &elements[ELEMENT_FLOAT], side)) {
        open_case(&c, &steps[0], 8, 8);
        speed = bench_best(&c, 1).value;
    }
    close_matrices(&matrices);
    return speed > 0 ? c.work / speed : 0;
}

// Chooses the size of square matrices. A run of the slowest step, the naive kernel, then takes at most `limit_s`.
static cl_int choose_side(struct bench_session *session, double limit_s)
{
    const cl_int most = is_cpu(session) ? SIDE_USUAL : SIDE_MOST;
    cl_int side = SIDE_LEAST;
    while (side < most) {
        // Twice the side is eight times the work.
        const double time_s = find_time(session, side);
        if (time_s <= 0 || 8 * time_s > limit_s)
            break;
        side *= 2;
    }
    return side;
}

// Chooses k for the product of an n x k and a k x n matrix, where n is SIDE_USUAL. A run of the naive kernel then takes
// at most `limit_s`.
static cl_int choose_columns(struct bench_session *session, double limit_s)
{
    const double trial_s = find_time(session, SIDE_LEAST), ratio = (double)SIDE_USUAL / SIDE_LEAST;
    cl_int k = SIDE_USUAL;
    while (k > 4 && trial_s > 0 && trial_s * ratio * ratio * k / SIDE_LEAST > limit_s)
        k /= 2;
    return k;
}

// On a CPU device, opens every second shape.
static void open_shape(struct bench_case *c, int i, const struct matmul *m)
{
    const int every = is_cpu(c->session) ? 2 : 1, first = 10 / every + 1; // of the shapes with 1024 work-items
    const size_t most = i < first ? 1024 : 256, x = most >> (i < first ? i : i - first) * every, y = most / x;
    snprintf(c->figure.parameters, sizeof(c->figure.parameters), "size=%dx%dx%d group=%zux%zu type=%s", m->n, m->k,
             m->n, x, y, m->matrices->element->name);
    open_case(c, &steps[0], x, y);
}

static void open_step(struct bench_case *c, int i, const struct matmul *m)
{
    snprintf(c->figure.parameters, sizeof(c->figure.parameters), "type=%s size=%dx%dx%d step=%s",
             m->matrices->element->name, m->n, m->k, m->n, steps[i].name);
    open_case(c, &steps[i], 16, 16);
}

// Reports the peak beside the steps of its type, which have been measured.
static void report_peak(const struct matmul *m, const struct bench_case *cases)
{
    struct figure peak = m->matrices->peak;
    size_t used = 0;
    if (!(peak.value > 0))
        return;
    snprintf(peak.parameters, sizeof(peak.parameters), "type=%s size=%dx%dx%d step=peak", m->matrices->element->name,
             m->n, m->k, m->n);
    for (int i = 0; i < STEPS; i++)
        if (cases[i].figure.status == FIGURE_OK)
            used += (size_t)snprintf(peak.note + used, sizeof(peak.note) - used, "%s%s %.3g",
                                     used ? ", " : "steps in % of the peak: ", steps[i].name,
                                     100 * cases[i].figure.value / peak.value);
    bench_report(cases[0].session, &peak);
}

// Opens and measures `count` cases per type, of products of n x k and k x n numbers.
static void measure(struct bench_session *session, int count, cl_int n, cl_int k,
                    void (*open)(struct bench_case *c, int i, const struct matmul *m))
{
    struct bench_case cases[CASES] = {{0}};
    struct matmul all[CASES];
    struct matrices matrices[TYPES];
    for (int t = 0; t < TYPES; t++) {
        struct matrices *m = &matrices[t];
        const bool opened = open_matrices(session, m, &elements[type_elements[t]], n);
        if (opened && open == open_step)
            m->peak = compute_peak(session, m->element);
        for (int i = 0; i < count; i++) {
            struct bench_case *c = &cases[t * count + i];
            all[t * count + i] = (struct matmul){m, n, k};
            c->session = session;
            c->data = &all[t * count + i];
            if (opened)
                open(c, i, c->data);
            else
                bench_fail(c, "%s", session->error);
        }
    }
    bench_measure(session, cases, TYPES * count);
    for (int t = 0; t < TYPES; t++) {
        report_peak(&all[t * count], &cases[t * count]);
        close_matrices(&matrices[t]);
    }
}

static void run_group(struct bench_session *session)
{
    const int count = is_cpu(session) ? CPU_SHAPES : SHAPES;
    const double slot_s = session->seconds / session->rounds / (TYPES * count);
    measure(session, count, SIDE_USUAL, choose_columns(session, slot_s), open_shape);
}

static void run_step(struct bench_session *session)
{
    // The other steps take less time than the naive one.
    const double slot_s = session->seconds / session->rounds / (TYPES * STEPS);
    const cl_int side = choose_side(session, 2 * slot_s);
    measure(session, STEPS, side, side, open_step);
}

const struct measure_test measure_matmul_group = {
    .name = "matmul.group",
    .unit = "Gop/s",
    .definition =
        "product of two matrices without local memory; group: shape of the work-group, of 1024 or 256 work-items; "
        "size NxKxN: an N x K matrix times a K x N matrix; K depends on the speed of the device",
    .file = "bench/matmul.cl",
    .seconds = 5,
    .run = run_group,
};

const struct measure_test measure_matmul_step = {
    .name = "matmul.step",
    .unit = "Gop/s",
    .definition =
        "product of two matrices; size NxKxN: an N x K matrix times a K x N matrix; it depends on the speed of the "
        "device; naive: no local memory; local: tiles in local memory; eachM: tiles, M results per work-item; blockM: "
        "tiles, M x M results per work-item; peak: best speed of 'compute' for this type, measured again here",
    .file = "bench/matmul.cl",
    .seconds = 4,
    .run = run_step,
};
