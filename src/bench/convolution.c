// convolution.c: the test of a stencil: 5 x 5 pixels with weights
#include "bench/session.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 5, WEIGHTS = SIDE * SIDE, CHANNELS_MOST = 4, GROUP = 16 };

struct convolved_images {
    cl_mem from, to, weights;
    uint8_t *random; // of `from`
    cl_int weight[WEIGHTS];
    cl_int width, height;
};

struct convolution_way {
    const char *name; // of the kernel
    int rows;         // per work-item
};

struct convolution {
    const struct convolved_images *images;
    const struct convolution_way *way;
    int channels;
};

static const struct convolution_way ways[] = {{"plain", 1}, {"tile", 1}, {"rows", 4}};
enum { WAYS = sizeof(ways) / sizeof(*ways), CASES = 2 * WAYS };

// ---- the host's result ----

static bool same(const struct convolution *v, const uint8_t *got, int x, int y)
{
    const struct convolved_images *m = v->images;
    for (int channel = 0; channel < v->channels; channel++) {
        int sum = 0;
        for (int i = 0; i < WEIGHTS; i++) {
            const int from_x = clamp_int(x + i % SIDE - SIDE / 2, 0, m->width - 1);
            const int from_y = clamp_int(y + i / SIDE - SIDE / 2, 0, m->height - 1);
            sum += m->weight[i] * m->random[(from_y * m->width + from_x) * v->channels + channel];
        }
        if (got[(y * m->width + x) * v->channels + channel] != clamp_int(sum >> 4, 0, 255))
            return false;
    }
    return true;
}

static bool check(struct bench_case *c)
{
    enum { COLUMNS = 23, ROWS = 29 };
    const struct convolution *v = c->data;
    const struct convolved_images *m = v->images;
    const size_t bytes = (size_t)m->width * (size_t)m->height * (size_t)v->channels;
    uint8_t *got = xmalloc(bytes);
    bool ok = bench_kernel_once(c, 1, m->to, bytes) && bench_read(c->session, m->to, 0, got, bytes);
    for (int i = 0; ok && i < COLUMNS * ROWS; i++)
        ok = same(v, got, i % COLUMNS * (m->width - 1) / (COLUMNS - 1), i / COLUMNS * (m->height - 1) / (ROWS - 1));
    free(got);
    return ok;
}

// ---- the cases ----

// False on failure (logged).
static bool open_images(struct bench_session *session, struct convolved_images *m)
{
    const bool is_cpu = session->device->info.type & CL_DEVICE_TYPE_CPU;
    uint8_t random[WEIGHTS];
    const struct convolved_images small = {.width = 1280, .height = 720}, large = {.width = 3840, .height = 2160};
    *m = is_cpu ? small : large;
    const size_t bytes = (size_t)m->width * (size_t)m->height * CHANNELS_MOST;
    m->random = xmalloc(bytes);
    random_fill(m->random, bytes, 1);
    random_fill(random, WEIGHTS, 2);
    for (int i = 0; i < WEIGHTS; i++)
        m->weight[i] = random[i] % 16 - 7;
    m->from = bench_memory(session, bytes, m->random);
    m->to = bench_memory(session, bytes, NULL);
    m->weights = bench_memory(session, sizeof(m->weight), m->weight);
    return m->from && m->to && m->weights;
}

static void open_case(struct bench_case *c)
{
    const struct convolution *v = c->data;
    const struct convolution_way *way = v->way;
    const struct convolved_images *m = v->images;
    const char *number = v->channels > 1 ? "4" : "";
    const int group = c->session->device->info.max_work_group < GROUP * GROUP ? GROUP / 2 : GROUP;
    char options[160];
    snprintf(options, sizeof(options),
             "-DTYPE=uchar%s -DSUM=int%s -DTO_SUM=convert_int%s -DTO_TYPE=convert_uchar%s_sat -DGROUP=%d", number,
             number, number, number, group);
    if (!bench_kernel(c, options, way->name) || !bench_group_fits(c, (size_t)(group * group)))
        return;
    c->local[0] = c->local[1] = (size_t)group;
    c->size[0] = bench_round_up(m->width, group);
    c->size[1] = bench_round_up(m->height, group * way->rows) / (size_t)way->rows;
    bench_argument(c, &m->from, sizeof(cl_mem));
    bench_argument(c, &m->to, sizeof(cl_mem));
    bench_argument(c, &m->weights, sizeof(cl_mem));
    bench_argument(c, &m->width, sizeof(m->width));
    bench_argument(c, &m->height, sizeof(m->height));
    c->check = check;
    c->work = (double)m->width * m->height / 1e6;
}

static void run(struct bench_session *session)
{
    struct bench_case cases[CASES] = {{0}};
    struct convolution all[CASES];
    struct convolved_images images;
    const bool open = open_images(session, &images);
    for (int i = 0; i < CASES; i++) {
        const struct convolution_way *way = &ways[i % WAYS];
        all[i] = (struct convolution){&images, way, i < WAYS ? 1 : CHANNELS_MOST};
        cases[i].data = &all[i];
        bench_name(&cases[i], "type=uchar%s size=%dx%d way=%s", i < WAYS ? "" : "4", images.width, images.height,
                   way->name);
    }
    bench_run(session, cases, CASES, open, open_case);
}

const struct bench_test bench_test_convolution = {
    .name = "convolution",
    .unit = "Mpixel/s",
    .definition = "stencil with 5 x 5 integer weights; plain: a pixel per work-item; tile: through local memory; rows: "
                  "four pixels per work-item, one below the other",
    .file = "bench/convolution.cl",
    .seconds = 2,
    .run = run,
};
