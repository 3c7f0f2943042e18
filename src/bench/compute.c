// compute.c: tests of arithmetic: the speed of numeric types, and matrix multiplication
#include "bench/session.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- elements ----

struct element {
    const char *name; // in OpenCL C
    size_t bytes;
    bool is_float;
    const char *lacking; // why a device may lack it; NULL: all have it
};

enum { ELEMENT_HALF, ELEMENT_FLOAT, ELEMENT_DOUBLE, ELEMENT_INT, ELEMENT_SHORT, ELEMENT_CHAR, ELEMENTS };

enum { ELEMENT_WIDTHS = 5 };

static const struct element elements[ELEMENTS] = {
    [ELEMENT_HALF] = {"half", 2, true, "the device has no half-precision numbers (cl_khr_fp16)"},
    [ELEMENT_FLOAT] = {"float", 4, true, NULL},
    [ELEMENT_DOUBLE] = {"double", 8, true, "the device has no double-precision numbers (cl_khr_fp64)"},
    [ELEMENT_INT] = {"int", 4, false, NULL},
    [ELEMENT_SHORT] = {"short", 2, false, NULL},
    [ELEMENT_CHAR] = {"char", 1, false, NULL},
};

static const int element_widths[ELEMENT_WIDTHS] = {1, 2, 4, 8, 16};

// Returns true if the device has the type. Otherwise marks the case as skipped.
static bool element_check(const struct element *element, struct bench_case *c)
{
    const struct device_info *info = &c->session->device->info;
    cl_uint doubles = 0;
    clGetDeviceInfo(info->id, CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, sizeof(doubles), &doubles, NULL);
    const bool has = !element->lacking || (element->bytes == 2 ? info->half : doubles > 0);
    if (!has)
        bench_skip(c, "%s", element->lacking);
    return has;
}

static double element_read(const struct element *element, const void *memory, size_t index)
{
    const uint8_t *at = (const uint8_t *)memory + index * element->bytes;
    union {
        double f64;
        float f32;
        int32_t i32;
        int16_t i16;
        int8_t i8;
    } value;
    memcpy(&value, at, element->bytes);
    switch (element->bytes) {
    case 8:
        return value.f64;
    case 4:
        if (element->is_float)
            return value.f32;
        return value.i32; // not one expression with ?:, whose type is float
    case 2:
        return element->is_float ? number_of_half((uint16_t)value.i16) : value.i16;
    default:
        return value.i8;
    }
}

// Writes random numbers: floating-point numbers from 0.25 to 1, integers of all values.
static void element_random(const struct element *element, void *memory, size_t count)
{
    random_fill(memory, count * element->bytes, 1);
    for (size_t i = 0; element->is_float && i < count; i++) {
        uint8_t *at = (uint8_t *)memory + i * element->bytes;
        uint16_t random;
        memcpy(&random, at, sizeof(random));
        const double number = 0.25 + random / 65536.0 * 0.75;
        const float single = (float)number;
        const uint16_t half = (uint16_t)(0x3400 + random % 0x800); // the bits of 0.25 up to 1
        const void *value = &half;
        if (element->bytes > sizeof(half))
            value = element->bytes == sizeof(number) ? (const void *)&number : &single;
        memcpy(at, value, element->bytes);
    }
}

// ---- the speed ----

enum {
    STEPS = 8, // per loop and chain; as in the kernel
    INPUTS = 256,
    ITEMS_PER_UNIT = 8192, // several times the work-items that any device runs at once
    CHECKED_LOOPS = 2,
    CHECKED_ITEMS = 64,
    LANES_MOST = 16,
};

struct compute {
    const struct element *element;
    int width, chains;
    size_t items;
    cl_mem from, to;
    uint8_t input[INPUTS * LANES_MOST * sizeof(double)];
};

// Enough chains to overlap the steps, but at most half of the 255 registers of a GPU's work-item.
static int chain_count(const struct element *element, int width)
{
    const int words = width * (int)(element->bytes > 4 ? element->bytes / 4 : 1);
    if (words >= 64)
        return 1;
    return words > 8 ? 64 / words : 8;
}

// ---- the host's result ----

static double step_float(double *x, double *y)
{
    *x = (1 - *x) * *y;
    *y = (1 - *y) * *x;
    return *x + *y;
}

// Returns the sum of the chains of a lane of a work-item.
static double expect_float(const struct compute *compute, size_t item, int lane)
{
    double sum = 0;
    for (int i = 0; i < compute->chains; i++) {
        const size_t at = item + 2 * (size_t)i;
        double x = element_read(compute->element, compute->input, at % INPUTS * (size_t)compute->width + (size_t)lane);
        double y =
            element_read(compute->element, compute->input, (at + 1) % INPUTS * (size_t)compute->width + (size_t)lane);
        double last = x + y;
        for (int n = 0; n < CHECKED_LOOPS * STEPS; n++)
            last = step_float(&x, &y);
        sum += last;
    }
    return sum;
}

static double expect_int(const struct compute *compute, size_t item, int lane)
{
    uint32_t sum = 0;
    for (int i = 0; i < compute->chains; i++) {
        const size_t at = item + 2 * (size_t)i;
        uint32_t x = (uint32_t)(int32_t)element_read(compute->element, compute->input,
                                                     at % INPUTS * (size_t)compute->width + (size_t)lane);
        uint32_t y = (uint32_t)(int32_t)element_read(compute->element, compute->input,
                                                     (at + 1) % INPUTS * (size_t)compute->width + (size_t)lane);
        for (int n = 0; n < CHECKED_LOOPS * STEPS; n++) {
            x = y * x + y;
            y = x * y + x;
        }
        sum += x + y;
    }
    if (compute->element->bytes == 4)
        return (int32_t)sum;
    return compute->element->bytes == 2 ? (int16_t)sum : (int8_t)sum;
}

static bool same(const struct compute *compute, const void *got, size_t item)
{
    // Devices may or may not round between the multiplication and the addition.
    const double tolerance = compute->element->bytes == 2 ? 0.05 : 1e-4;
    for (int lane = 0; lane < compute->width; lane++) {
        const double value = element_read(compute->element, got, item * (size_t)compute->width + (size_t)lane);
        const double want =
            compute->element->is_float ? expect_float(compute, item, lane) : expect_int(compute, item, lane);
        if (compute->element->is_float ? !(fabs(value - want) <= tolerance * want) : value != want)
            return false;
    }
    return true;
}

static bool check(struct bench_case *c)
{
    const struct compute *compute = c->data;
    const size_t bytes = compute->items * (size_t)compute->width * compute->element->bytes;
    void *got = xmalloc(bytes);
    bool ok =
        bench_kernel_once(c, CHECKED_LOOPS, compute->to, bytes) && bench_read(c->session, compute->to, 0, got, bytes);
    for (size_t i = 0; ok && i < CHECKED_ITEMS; i++)
        ok = same(compute, got, i * (compute->items - 1) / (CHECKED_ITEMS - 1));
    free(got);
    return ok;
}

// ---- the cases ----

static bool open_buffers(struct bench_case *c, struct compute *compute)
{
    const size_t bytes = (size_t)compute->width * compute->element->bytes;
    element_random(compute->element, compute->input, INPUTS * (size_t)compute->width);
    compute->from = bench_memory(c->session, INPUTS * bytes, compute->input);
    compute->to = bench_memory(c->session, compute->items * bytes, NULL);
    if (!compute->from || !compute->to)
        bench_fail(c, "%s", c->session->error);
    return compute->from && compute->to;
}

static void open_case(struct bench_case *c, struct compute *compute)
{
    char options[128], type[16];
    const struct device_info *info = &c->session->device->info;
    bench_name(c, "type=%s width=%d", compute->element->name, compute->width);
    if (!element_check(compute->element, c))
        return;
    compute->chains = chain_count(compute->element, compute->width);
    snprintf(type, sizeof(type), compute->width > 1 ? "%s%d" : "%s", compute->element->name, compute->width);
    snprintf(options, sizeof(options), "-DTYPE=%s -DCHAINS=%d%s", type, compute->chains,
             compute->element->is_float ? " -DSTEP_FLOAT" : "");
    if (!bench_kernel(c, options, "compute"))
        return;
    const size_t most = kernel_group_limit(info, c->kernel);
    c->local[0] = most < 256 ? most : 256;
    c->local[1] = c->size[1] = 1;
    c->size[0] = compute->items = (size_t)info->compute_units * ITEMS_PER_UNIT / c->local[0] * c->local[0];
    if (!open_buffers(c, compute))
        return;
    bench_argument(c, &compute->from, sizeof(cl_mem));
    bench_argument(c, &compute->to, sizeof(cl_mem));
    bench_argument(c, &c->loops, sizeof(c->loops));
    c->check = check;
    c->work = 4.0 * STEPS * compute->chains * compute->width * (double)compute->items / 1e9;
    c->loops_most = 1 << 30;
}

static void open_cases(struct bench_session *session, struct bench_case *cases, struct compute *computes, int first,
                       int count)
{
    for (int i = 0; i < count; i++) {
        cases[i].session = session;
        cases[i].data = &computes[i];
        cases[i].file = "bench/compute.cl";
        computes[i].element = &elements[(first + i) / ELEMENT_WIDTHS];
        computes[i].width = element_widths[(first + i) % ELEMENT_WIDTHS];
        open_case(&cases[i], &computes[i]);
    }
}

// Measures briefly for each vector width. Returns the best speed in Gop/s; its value is 0 if the device lacks the type,
// or on failure.
static struct figure compute_peak(struct bench_session *session, const struct element *element)
{
    struct bench_case cases[ELEMENT_WIDTHS] = {{0}};
    struct compute *computes = xcalloc(ELEMENT_WIDTHS, sizeof(*computes));
    open_cases(session, cases, computes, (int)(element - elements) * ELEMENT_WIDTHS, ELEMENT_WIDTHS);
    return bench_best(cases, ELEMENT_WIDTHS);
}

static void run(struct bench_session *session)
{
    enum { CASES = ELEMENTS * ELEMENT_WIDTHS };
    struct bench_case *cases = xcalloc(CASES, sizeof(*cases));
    struct compute *computes = xcalloc(CASES, sizeof(*computes));
    open_cases(session, cases, computes, 0, CASES);
    bench_measure(session, cases, CASES);
}

const struct bench_test bench_test_compute = {
    .name = "compute",
    .unit = "Gop/s",
    .definition = "multiply-adds in registers, each counted as 2 operations; width: numbers in a vector",
    .file = "bench/compute.cl",
    .seconds = 8,
    .run = run,
};

// ---- matrix multiplication ----

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

static bool same_product(const struct matmul *m, const void *got, int row, int column)
{
    const struct element *element = m->matrices->element;
    double sum = 0;
    uint32_t whole = 0;
    for (int i = 0; i < m->k; i++) {
        const double a = element_read(element, m->matrices->random, (size_t)row * (size_t)m->k + (size_t)i);
        const double b = element_read(element, m->matrices->random, (size_t)i * (size_t)m->n + (size_t)column);
        sum += a * b;
        if (!element->is_float)
            whole += (uint32_t)(int32_t)a * (uint32_t)(int32_t)b;
    }
    const double value = element_read(element, got, (size_t)column);
    return element->is_float ? fabs(value - sum) <= 1e-4 * sum : value == (int32_t)whole;
}

static bool check_product(struct bench_case *c)
{
    enum { ROWS = 9, COLUMNS = 61 };
    const struct matmul *m = c->data;
    const size_t row_bytes = (size_t)m->n * m->matrices->element->bytes;
    uint8_t *got = xmalloc(row_bytes);
    bool ok = bench_kernel_once(c, 1, m->matrices->c, row_bytes * (size_t)m->n);
    for (int i = 0; ok && i < ROWS; i++) {
        const int row = i * (m->n - 1) / (ROWS - 1);
        ok = bench_read(c->session, m->matrices->c, (size_t)row * row_bytes, got, row_bytes);
        for (int j = 0; ok && j < COLUMNS; j++)
            ok = same_product(m, got, row, (j * (m->n - 1) + i) / (COLUMNS - 1)); // the last one is m->n - 1
    }
    free(got);
    return ok;
}

// ---- the matrices ----

// Opens matrices with `side` rows and columns. Both factors have the same random numbers. False on failure
// (logged).
static bool open_matrices(struct bench_session *session, struct matrices *m, const struct element *element, cl_int side)
{
    const size_t numbers = (size_t)side * (size_t)side, bytes = numbers * element->bytes;
    *m = (struct matrices){.element = element, .random = xmalloc(bytes)};
    element_random(element, m->random, numbers);
    m->a = bench_memory(session, bytes, m->random);
    m->b = bench_memory(session, bytes, m->random);
    m->c = bench_memory(session, bytes, NULL);
    return m->a && m->b && m->c;
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
enum { MATMUL_STEPS = sizeof(steps) / sizeof(*steps), SHAPES = 20, CPU_SHAPES = 11, MATMUL_CASES = TYPES * SHAPES };

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
    c->local[0] = tiled ? (size_t)tile : local_x;
    c->local[1] = tiled ? (size_t)(tile / step->each) : local_y;
    if (block)
        c->local[0] = c->local[1] = 16;
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

static void open_product(struct bench_case *c, const struct step *step, size_t local_x, size_t local_y)
{
    struct matmul *m = c->data;
    if (!choose_kernel(c, step, local_x, local_y))
        return;
    bench_argument(c, &m->matrices->a, sizeof(cl_mem));
    bench_argument(c, &m->matrices->b, sizeof(cl_mem));
    bench_argument(c, &m->matrices->c, sizeof(cl_mem));
    bench_argument(c, &m->n, sizeof(m->n));
    bench_argument(c, &m->k, sizeof(m->k));
    c->check = check_product;
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
        open_product(&c, &steps[0], 8, 8);
        speed = bench_best(&c, 1).value;
    }
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
    const size_t most = i < first ? 1024 : 256, x = most >> i % first * every, y = most / x;
    bench_name(c, "size=%dx%dx%d group=%zux%zu type=%s", m->n, m->k, m->n, x, y, m->matrices->element->name);
    open_product(c, &steps[0], x, y);
}

static void open_step(struct bench_case *c, int i, const struct matmul *m)
{
    bench_name(c, "type=%s size=%dx%dx%d step=%s", m->matrices->element->name, m->n, m->k, m->n, steps[i].name);
    open_product(c, &steps[i], 16, 16);
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
    for (int i = 0; i < MATMUL_STEPS; i++)
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
    struct bench_case cases[MATMUL_CASES] = {{0}};
    struct matmul all[MATMUL_CASES];
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
    for (int t = 0; t < TYPES; t++)
        report_peak(&all[t * count], &cases[t * count]);
}

static void run_matmul_group(struct bench_session *session)
{
    const int count = is_cpu(session) ? CPU_SHAPES : SHAPES;
    const double slot_s = session->seconds / session->rounds / (TYPES * count);
    measure(session, count, SIDE_USUAL, choose_columns(session, slot_s), open_shape);
}

static void run_matmul_step(struct bench_session *session)
{
    // The other steps take less time than the naive one.
    const double slot_s = session->seconds / session->rounds / (TYPES * MATMUL_STEPS);
    const cl_int side = choose_side(session, 2 * slot_s);
    measure(session, MATMUL_STEPS, side, side, open_step);
}

const struct bench_test bench_test_matmul_group = {
    .name = "matmul.group",
    .unit = "Gop/s",
    .definition =
        "product of two matrices without local memory; group: shape of the work-group, of 1024 or 256 work-items; "
        "size NxKxN: an N x K matrix times a K x N matrix; K depends on the speed of the device",
    .file = "bench/matmul.cl",
    .seconds = 5,
    .run = run_matmul_group,
};

const struct bench_test bench_test_matmul_step = {
    .name = "matmul.step",
    .unit = "Gop/s",
    .definition =
        "product of two matrices; size NxKxN: an N x K matrix times a K x N matrix; it depends on the speed of the "
        "device; naive: no local memory; local: tiles in local memory; eachM: tiles, M results per work-item; blockM: "
        "tiles, M x M results per work-item; peak: best speed of 'compute' for this type, measured again here",
    .file = "bench/matmul.cl",
    .seconds = 4,
    .run = run_matmul_step,
};
