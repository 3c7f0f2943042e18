// compute.c: the test of the arithmetic speed: chains of multiply-adds for each type and vector width
#include "measure/compute.h"

#include "base/alloc.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- elements ----

const struct element elements[ELEMENTS] = {
    [ELEMENT_HALF] = {"half", 2, true, "the device has no half-precision numbers (cl_khr_fp16)"},
    [ELEMENT_FLOAT] = {"float", 4, true, NULL},
    [ELEMENT_DOUBLE] = {"double", 8, true, "the device has no double-precision numbers (cl_khr_fp64)"},
    [ELEMENT_INT] = {"int", 4, false, NULL},
    [ELEMENT_SHORT] = {"short", 2, false, NULL},
    [ELEMENT_CHAR] = {"char", 1, false, NULL},
};

const int element_widths[ELEMENT_WIDTHS] = {1, 2, 4, 8, 16};

bool element_check(const struct element *element, struct bench_case *c)
{
    const struct device_info *info = &c->session->device->info;
    cl_uint doubles = 0;
    clGetDeviceInfo(info->id, CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, sizeof(doubles), &doubles, NULL);
    const bool has = !element->lacking || (element->bytes == 2 ? info->half : doubles > 0);
    if (!has)
        bench_skip(c, "%s", element->lacking);
    return has;
}

static double half_to_double(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return exponent == 31 ? NAN : bits >> 15 ? -size : size;
}

double element_read(const struct element *element, const void *memory, size_t index)
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
    if (element->is_float)
        return element->bytes == 8 ? value.f64 : element->bytes == 4 ? value.f32 : half_to_double((uint16_t)value.i16);
    return element->bytes == 4 ? value.i32 : element->bytes == 2 ? value.i16 : value.i8;
}

void element_random(const struct element *element, void *memory, size_t count)
{
    random_fill(memory, count * element->bytes, 1);
    for (size_t i = 0; element->is_float && i < count; i++) {
        uint8_t *at = (uint8_t *)memory + i * element->bytes;
        uint16_t random;
        memcpy(&random, at, sizeof(random));
        const double number = 0.25 + random / 65536.0 * 0.75;
        const float single = (float)number;
        const uint16_t half = (uint16_t)(0x3400 + random % 0x800); // the bits of 0.25 up to 1
        memcpy(at,
               element->bytes == 8   ? (const void *)&number
               : element->bytes == 4 ? (const void *)&single
                                     : &half,
               element->bytes);
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
    return words >= 64 ? 1 : words > 8 ? 64 / words : 8;
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
    return compute->element->bytes == 4 ? (int32_t)sum : compute->element->bytes == 2 ? (int16_t)sum : (int8_t)sum;
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
    const cl_command_queue queue = c->session->queue;
    void *got = xalloc(bytes);
    const cl_int result = clEnqueueWriteBuffer(queue, compute->to, CL_TRUE, 0, bytes, got, 0, NULL, NULL);
    bool ok = compute_ok(result, "clear the result") && bench_kernel_once(c, CHECKED_LOOPS);
    if (ok)
        ok = compute_ok(clEnqueueReadBuffer(queue, compute->to, CL_TRUE, 0, bytes, got, 0, NULL, NULL),
                        "read the result");
    for (size_t i = 0; ok && i < CHECKED_ITEMS; i++)
        ok = same(compute, got, i * (compute->items - 1) / (CHECKED_ITEMS - 1));
    free(got);
    return ok;
}

// ---- the cases ----

static bool open_buffers(struct bench_case *c, struct compute *compute)
{
    const struct bench_session *session = c->session;
    const size_t bytes = (size_t)compute->width * compute->element->bytes;
    cl_int result;
    element_random(compute->element, compute->input, INPUTS * (size_t)compute->width);
    compute->from = clCreateBuffer(session->device->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, INPUTS * bytes,
                                   compute->input, &result);
    if (result == CL_SUCCESS)
        compute->to =
            clCreateBuffer(session->device->context, CL_MEM_READ_WRITE, compute->items * bytes, NULL, &result);
    if (result != CL_SUCCESS)
        bench_fail(c, "cannot allocate memory on the device: %s", compute_result_name(result));
    return result == CL_SUCCESS;
}

static void open_case(struct bench_case *c, struct compute *compute)
{
    char options[128], type[16];
    const struct device_info *info = &c->session->device->info;
    snprintf(c->figure.parameters, sizeof(c->figure.parameters), "type=%s width=%d", compute->element->name,
             compute->width);
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
    c->time = bench_kernel_time;
    c->check = check;
    c->work = 4.0 * STEPS * compute->chains * compute->width * (double)compute->items / 1e9;
    c->loops_most = 1 << 30;
}

static void close_cases(struct compute *computes, int count)
{
    for (int i = 0; i < count; i++) {
        memory_release(computes[i].from);
        memory_release(computes[i].to);
    }
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

struct figure compute_peak(struct bench_session *session, const struct element *element)
{
    struct bench_case cases[ELEMENT_WIDTHS] = {{0}};
    struct compute *computes = xcalloc(ELEMENT_WIDTHS, sizeof(*computes));
    open_cases(session, cases, computes, (int)(element - elements) * ELEMENT_WIDTHS, ELEMENT_WIDTHS);
    const struct figure best = bench_best(cases, ELEMENT_WIDTHS);
    close_cases(computes, ELEMENT_WIDTHS);
    free(computes);
    return best;
}

static void run(struct bench_session *session)
{
    enum { CASES = ELEMENTS * ELEMENT_WIDTHS };
    struct bench_case *cases = xcalloc(CASES, sizeof(*cases));
    struct compute *computes = xcalloc(CASES, sizeof(*computes));
    open_cases(session, cases, computes, 0, CASES);
    bench_measure(session, cases, CASES);
    close_cases(computes, CASES);
    free(computes);
    free(cases);
}

const struct measure_test measure_compute = {
    .name = "compute",
    .unit = "Gop/s",
    .definition = "multiply-adds in registers, each counted as 2 operations; width: numbers in a vector",
    .file = "bench/compute.cl",
    .seconds = 8,
    .run = run,
};
