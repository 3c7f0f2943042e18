// images.c: the test of images: reads and writes each pixel once
#include "bench/session.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EACH = 16, // pixels of a work-item
    CHANNELS_MOST = 4,
    CPU_SIDE = 1024, // rows and columns: processors compute places and convert pixels, which takes longer than memory
    SIDE_MOST = 8192,
    BYTES_MOST = 256 << 20, // much more than the caches of GPUs have
    CHECKED = 9,            // work-items or rows
};

static const struct format {
    const char *name;
    cl_channel_order order;
    cl_channel_type type;
    int channels;
    size_t bytes; // of a pixel
} formats[] = {
    {"R8", CL_R, CL_UNSIGNED_INT8, 1, 1},
    {"RGBA8", CL_RGBA, CL_UNSIGNED_INT8, 4, 4},
    {"RGBA32F", CL_RGBA, CL_FLOAT, 4, 16},
};
enum { FORMATS = sizeof(formats) / sizeof(*formats), CASES = 2 * FORMATS };

struct test_image {
    const struct format *format;
    const cl_uint *random; // the image's pixels, if they are read
    bool reads;
    size_t side; // rows and columns
    cl_mem image, to;
};

// ---- the host's result ----

// Compares the number that a work-item wrote with the exclusive or of its pixels' channels.
static bool check_item(struct bench_case *c, size_t x, size_t y)
{
    const struct test_image *image = c->data;
    const size_t rows = c->local[1], channel_bytes = image->format->bytes / (size_t)image->format->channels;
    cl_uint want = 0, got;
    for (size_t i = 0; i < EACH; i++) {
        const size_t row = (y / rows * EACH + i) * rows + y % rows;
        const uint8_t *at = (const uint8_t *)image->random + (row * image->side + x) * image->format->bytes;
        for (size_t k = 0; k < image->format->bytes; k++)
            want ^= (cl_uint)at[k] << 8 * (k % channel_bytes);
        want ^= image->format->channels < CHANNELS_MOST; // a lacking alpha is 1
    }
    return bench_read(c->session, image->to, (y * image->side + x) * sizeof(got), &got, sizeof(got)) && got == want;
}

static bool check_read(struct bench_case *c)
{
    const struct test_image *image = c->data;
    bool ok = bench_kernel_once(c, 1, image->to, c->size[0] * c->size[1] * sizeof(cl_uint));
    for (size_t i = 0; ok && i < CHECKED; i++)
        ok = check_item(c, i * (c->size[0] - 1) / (CHECKED - 1), i * (c->size[1] - 1) / (CHECKED - 1));
    return ok;
}

// Returns true if the row has the numbers that the kernel must write.
static bool same_row(const struct test_image *image, const void *row, cl_uint y)
{
    const uint8_t *bytes = row;
    for (cl_uint x = 0; x < image->side; x++) {
        const cl_uint want[CHANNELS_MOST] = {x + 3 * y, x, y, 254};
        for (int k = 0; k < image->format->channels; k++) {
            const size_t at = (size_t)x * (size_t)image->format->channels + (size_t)k;
            float number = bytes[at];
            if (image->format->type == CL_FLOAT)
                memcpy(&number, bytes + at * sizeof(number), sizeof(number));
            if (number != (float)((want[k] & 255) | 1))
                return false;
        }
    }
    return true;
}

static bool check_write(struct bench_case *c)
{
    const struct test_image *image = c->data;
    const cl_uint zero[4] = {0};
    const size_t start[3] = {0}, all[3] = {image->side, image->side, 1}, line[3] = {image->side, 1, 1};
    void *row = xmalloc(image->side * image->format->bytes);
    bool ok = compute_ok(clEnqueueFillImage(c->session->queue, image->image, zero, start, all, 0, NULL, NULL),
                         "clear an image") &&
              bench_kernel_once(c, 1, NULL, 0);
    for (size_t i = 0; ok && i < CHECKED; i++) {
        const size_t at[3] = {0, i * (image->side - 1) / (CHECKED - 1), 0};
        ok =
            compute_ok(clEnqueueReadImage(c->session->queue, image->image, CL_TRUE, at, line, 0, 0, row, 0, NULL, NULL),
                       "read an image") &&
            same_row(image, row, (cl_uint)at[1]);
    }
    free(row);
    return ok;
}

// ---- the cases ----

static size_t get_size(const struct bench_session *session, cl_device_info what)
{
    size_t value = 0;
    clGetDeviceInfo(session->device->info.id, what, sizeof(value), &value, NULL);
    return value;
}

// Returns a power of two.
static size_t choose_side(const struct bench_session *session, const struct format *format)
{
    const struct device_info *info = &session->device->info;
    const size_t width = get_size(session, CL_DEVICE_IMAGE2D_MAX_WIDTH),
                 height = get_size(session, CL_DEVICE_IMAGE2D_MAX_HEIGHT), room = info->memory_bytes / 16;
    size_t side = info->type & CL_DEVICE_TYPE_CPU ? CPU_SIDE : SIDE_MOST;
    while (side > width || side > height || side * side * format->bytes > (room < BYTES_MOST ? room : BYTES_MOST))
        side /= 2;
    return side;
}

static bool has_format(const struct bench_session *session, cl_mem_flags access, const cl_image_format *format)
{
    enum { MOST = 256 };
    cl_image_format known[MOST];
    cl_uint count = 0;
    clGetSupportedImageFormats(session->device->context, access, CL_MEM_OBJECT_IMAGE2D, MOST, known, &count);
    for (cl_uint i = 0; i < count && i < MOST; i++) {
        if (known[i].image_channel_order == format->image_channel_order &&
            known[i].image_channel_data_type == format->image_channel_data_type)
            return true;
    }
    return false;
}

// Creates the image, and fills it if it is read. On failure returns false and sets the figure's reason.
static bool open_image(struct bench_case *c, struct test_image *image)
{
    const cl_context context = c->session->device->context;
    const cl_image_format format = {image->format->order, image->format->type};
    const cl_mem_flags access = image->reads ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY;
    const size_t start[3] = {0}, all[3] = {image->side, image->side, 1};
    cl_int result;
    if (!has_format(c->session, access, &format)) {
        bench_skip(c, "the device cannot %s images of this format in kernels", image->reads ? "read" : "write");
        return false;
    }
    const cl_image_desc shape = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = image->side, .image_height = image->side};
    image->image = clCreateImage(context, access, &format, &shape, NULL, &result);
    if (image->reads &&
        !(image->to = bench_memory(c->session, image->side * image->side / EACH * sizeof(cl_uint), NULL)))
        result = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    if (result == CL_SUCCESS && image->reads)
        result = clEnqueueWriteImage(c->session->queue, image->image, CL_TRUE, start, all, 0, 0, image->random, 0, NULL,
                                     NULL);
    if (result != CL_SUCCESS)
        bench_fail(c, "cannot make the image: %s", compute_result_name(result));
    return result == CL_SUCCESS;
}

static void open_case(struct bench_case *c)
{
    struct test_image *image = c->data;
    char options[128];
    const bool is_float = image->format->type == CL_FLOAT;
    if (!c->session->device->info.images) {
        bench_skip(c, "the device has no images");
        return;
    }
    snprintf(options, sizeof(options), "-DEACH=%d%s", EACH,
             is_float ? " -DREAD=read_imagef -DWRITE=write_imagef -DTO_PIXEL=convert_float4" : "");
    if (!open_image(c, image) || !bench_kernel(c, options, image->reads ? "read" : "write"))
        return;
    const size_t most = kernel_group_limit(&c->session->device->info, c->kernel);
    c->local[0] = 16;
    while (c->local[0] * c->local[0] > most)
        c->local[0] /= 2;
    c->local[1] = c->local[0];
    c->size[0] = image->side;
    c->size[1] = image->side / EACH;
    bench_argument(c, &image->image, sizeof(cl_mem));
    if (image->reads)
        bench_argument(c, &image->to, sizeof(cl_mem));
    c->check = image->reads ? check_read : check_write;
    c->work = (double)image->side * (double)image->side * (double)image->format->bytes / 1e9;
}

// Returns random pixels, which are normal numbers as floating-point numbers, too.
static cl_uint *make_random(size_t bytes)
{
    cl_uint *random = xmalloc(bytes + sizeof(*random));
    random_fill(random, bytes, 1);
    for (size_t i = 0; i < bytes / sizeof(*random); i++)
        random[i] = (random[i] & 0xbfffffff) | 0x20000000;
    return random;
}

static void run(struct bench_session *session)
{
    struct bench_case cases[CASES] = {{0}};
    struct test_image images[CASES] = {{0}};
    size_t most = 0;
    for (int i = 0; i < CASES; i++) {
        const struct format *format = &formats[i / 2];
        images[i] = (struct test_image){.format = format, .reads = i % 2 == 0, .side = choose_side(session, format)};
        const size_t bytes = images[i].side * images[i].side * format->bytes;
        most = bytes > most ? bytes : most;
        bench_name(&cases[i], "format=%s access=%s", format->name, images[i].reads ? "read" : "write");
    }
    cl_uint *random = make_random(most);
    for (int i = 0; i < CASES; i++) {
        cases[i].data = &images[i];
        images[i].random = random;
    }
    bench_run(session, cases, CASES, true, open_case);
}

const struct bench_test bench_test_memory_image = {
    .name = "memory.image",
    .unit = "GB/s",
    .definition = "reads or writes each pixel of a large image once, at whole coordinates; R8 and RGBA8: whole numbers",
    .file = "bench/images.cl",
    .seconds = 3,
    .run = run,
};
