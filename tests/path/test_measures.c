// test_measures.c: the measures of all paths, and the levels from a histogram, against plain sums
#include "compute/device.h"
#include "compute/gl_context.h"
#include "path/path.h"
#include "pictures.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static const int sizes[][2] = {{1, 1}, {1, 7}, {5, 1}, {3, 2}, {33, 17}, {129, 67}, {641, 359}};
static const int strips[] = {1, 3, 40, MEASURE_STRIPS_MAX};
enum { SIZES = sizeof(sizes) / sizeof(*sizes), STRIPS = sizeof(strips) / sizeof(*strips) };
enum { ALL = MEASURE_HISTOGRAM | MEASURE_COLUMNS | MEASURE_ROWS };

static struct random noise = {7};

static int value(const struct image *image, int x, int y, int channel)
{
    return image_row(image, 0, y)[4 * x + channel];
}

// Counts the values of a channel, one level at a time.
static void check_histogram(const struct image *image, const struct path_measures *measures)
{
    struct path_levels levels;
    path_levels(measures->histogram, &levels);
    const int width = image->shape.width, height = image->shape.height;
    for (int channel = 0; channel < 3; channel++) {
        uint32_t counts[256] = {0};
        double sum = 0;
        int least = 255, most = 0;
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                const int v = value(image, x, y, channel);
                counts[v]++;
                sum += v;
                least = v < least ? v : least;
                most = v > most ? v : most;
            }
        }
        CHECK(memcmp(counts, measures->histogram[channel], sizeof(counts)) == 0);
        CHECK(levels.mean[channel] == sum / ((double)width * height));
        CHECK(levels.least[channel] == least && levels.most[channel] == most);
    }
}

// A row belongs to the last strip that begins at or above it.
static int strip_of(int y, int height, int count)
{
    int strip = 0;
    for (int i = 0; i < count; i++) {
        if (height * i / count <= y && height * (i + 1) / count > y)
            strip = i;
    }
    return strip;
}

static void check_sums(const struct image *image, const struct path_measures *measures, int count)
{
    const int width = image->shape.width, height = image->shape.height;
    uint32_t *columns = calloc((size_t)count * (size_t)width, sizeof(*columns));
    if (!CHECK(columns))
        return;
    long wrong = 0;
    for (int y = 0; y < height; y++) {
        uint32_t row = 0;
        for (int x = 0; x < width; x++) {
            row += (uint32_t)value(image, x, y, 1);
            columns[strip_of(y, height, count) * width + x] += (uint32_t)value(image, x, y, 1);
        }
        wrong += measures->rows[y] != row;
    }
    CHECK(wrong == 0);
    CHECK(memcmp(columns, measures->columns, sizeof(*columns) * (size_t)count * (size_t)width) == 0);
    free(columns);
}

// Runs two frames: the second must not contain numbers of the first.
static void check_size(struct path_setup setup, int width, int height, int count)
{
    struct chain chain;
    char error[CHAIN_ERROR];
    struct test_frame frame;
    struct path_result result;
    CHECK(chain_parse(&chain, "none", error));
    setup.chain = &chain;
    setup.input = (struct image_shape){.width = width, .height = height};
    setup.measures = ALL;
    setup.strips = count;
    struct path *path = path_open(&setup, NULL);
    if (!CHECK(path != NULL))
        return;
    for (int i = 0; i < 2; i++) {
        frame_fill(&frame, &setup.input, LAYOUT_TIGHT, i ? SHAPE_NOISE : SHAPE_FLAT, &noise);
        if (CHECK(path_submit(path, &frame.image, NULL) && path_collect(path, &result)) &&
            CHECK(!result.image.plane[0] == setup.measured_only)) {
            check_histogram(&frame.image, &result.measures);
            check_sums(&frame.image, &result.measures, count);
        }
        frame_free(&frame);
    }
    path_close(path);
}

static void check_path(struct path_setup setup)
{
    for (int i = 0; i < SIZES; i++) {
        for (int k = 0; k < STRIPS; k++) {
            setup.measured_only = (i + k) % 2;
            check_size(setup, sizes[i][0], sizes[i][1], strips[k]);
        }
    }
}

static void check_empty(void)
{
    static const uint32_t none[MEASURE_CHANNELS][FILTER_LEVELS];
    struct path_levels levels = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
    path_levels(none, &levels);
    CHECK(levels.mean[0] == 0 && levels.least[1] == 0 && levels.most[2] == 0);
}

static void check_refusals(void)
{
    struct chain chain = {0};
    struct path_setup setup = {
        .kind = PATH_CPU, .input = {.width = 4, .height = 4}, .chain = &chain, .measured_only = true};
    char *error = NULL;
    CHECK(!path_open(&setup, &error) && error && strstr(error, "need measures"));
    free(error);
    setup.measures = MEASURE_COLUMNS;
    setup.strips = MEASURE_STRIPS_MAX + 1;
    CHECK(!path_open(&setup, &error) && error && strstr(error, "1 to 64 strips"));
    free(error);
}

int main(void)
{
    struct device_info devices[DEVICE_MAX];
    const char *why;
    char no_gl[256];
    check_empty();
    check_refusals();
    check_path((struct path_setup){.kind = PATH_CPU, .threads = 1});
    check_path((struct path_setup){.kind = PATH_CPU, .threads = 3});
    const int count = device_list(devices, &why);
    for (int i = 0; i < count; i++) {
        struct device *device = device_open(&devices[i], NULL, NULL);
        if (CHECK(device)) {
            check_path((struct path_setup){.kind = PATH_OPENCL, .device = device});
            check_path((struct path_setup){.kind = PATH_ZEROCOPY, .device = device});
        }
        device_close(device);
    }
    struct gl_context *gl = gl_context_open(false, no_gl);
    if (gl && CHECK(gl_context_bind(gl, false))) {
        check_path((struct path_setup){.kind = PATH_GL, .gl = gl});
        gl_context_unbind(gl, false);
    }
    gl_context_close(gl);
    return check_end(&unit);
}
