// cpu.c: the path of plain C: each pass over bands of rows, its stages over line buffers
#include "base/clones.h"
#include "base/workers.h"
#include "image/convert.h"
#include "image/encode.h"
#include "path/backend.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BANDS_PER_THREAD = 4, // so that a thread that was kept waiting holds up little
    BAND_MIN_ROWS = 16,   // below this, starting a band costs more than it shares out
};

// What a chain needs, besides the frames.
struct cpu_build {
    struct plan plan;
    uint8_t *scratch;     // of all bands, one behind the other
    size_t scratch_bytes; // of one band
    size_t pair_bytes;    // at its start
    int bands;
    bool grey;               // nothing else comes out
    struct image between[2]; // pictures between passes; empty with a single pass
};

struct cpu_slot {
    struct image output, encoded;
    uint64_t tag;
    int64_t pass_start_ns[CHAIN_MAX], pass_end_ns[CHAIN_MAX];
};

struct cpu_path {
    struct path path;
    struct workers *workers;
    struct cpu_build *build;
    pthread_mutex_t lock; // over `pending`, which prepare sets from any thread
    struct cpu_build *pending;
    struct cpu_slot slot[PATH_DEPTH_MAX + 1]; // one more than in flight: the collected one stays valid
    int slots, write_slot, read_slot;
};

// One pass over one picture.
struct cpu_pass {
    const struct pass *pass;
    const struct image *from;
    struct image *to;      // planes NULL: rows go through scratch memory into `encoded` alone
    struct image *encoded; // NULL: not wanted, or not of this pass
    struct encoder encoder;
    struct color_coefficients coefficients;
    struct cpu_build *build;
};

static size_t line_bytes(int width, int radius)
{
    const size_t bytes = 4 * ((size_t)width + 2 * (size_t)radius);
    return (bytes + IMAGE_ALIGNMENT - 1) / IMAGE_ALIGNMENT * IMAGE_ALIGNMENT;
}

// A stencil's lines: those in reach and the one that just left.
static int ring_lines(int radius)
{
    return 2 * radius + 2;
}

static size_t pass_scratch_bytes(const struct pass *pass, int width)
{
    if (!pass->stencil)
        return IMAGE_ALIGNMENT; // none; but an allocation must not be empty
    const struct filter *filter = pass->stencil->filter;
    const struct filter_arguments *arguments = &pass->stencil->arguments;
    const size_t own = filter->scratch_bytes ? filter->scratch_bytes(arguments, width) : 0;
    const size_t lines = line_bytes(width, arguments->radius) * (size_t)ring_lines(arguments->radius);
    return lines + (own + IMAGE_ALIGNMENT - 1) / IMAGE_ALIGNMENT * IMAGE_ALIGNMENT;
}

static void turn_row(uint8_t *rgba, int width)
{
    pixel_word *pixels = (pixel_word *)rgba;
    for (int a = 0, b = width - 1; a < b; a++, b--) {
        const uint32_t kept = pixels[a];
        pixels[a] = pixels[b];
        pixels[b] = kept;
    }
}

// In place, but for the first filter's reading.
static void point_filters(const struct stage *const *stages, int count, const uint8_t *from, uint8_t *rgba, int width)
{
    for (int i = 0; i < count; i++)
        stages[i]->filter->point_row(&stages[i]->arguments, i == 0 ? from : rgba, rgba, width);
}

// Row `y` of the pass's input, loaded, turned, and through the point filters ahead of the stencil.
static void load_row(const struct cpu_pass *job, int y, uint8_t *rgba)
{
    const struct image_shape *shape = &job->from->shape;
    const struct pass *pass = job->pass;
    const int row = pass->load_flip ? shape->height - 1 - y : y;
    const bool in_place = shape->format != PIXFMT_RGBA || pass->load_mirror || pass->before_count == 0;
    if (in_place)
        convert_row_to_rgba(job->from, &job->coefficients, row, rgba);
    if (pass->load_mirror)
        turn_row(rgba, shape->width);
    const uint8_t *from = in_place ? rgba : job->from->plane[0] + (size_t)row * job->from->stride[0];
    point_filters(pass->before, pass->before_count, from, rgba, shape->width);
}

// Rows first..end-1 of a pass, and what they are made in.
struct cpu_band {
    const struct cpu_pass *job;
    int first, end;
    uint8_t *pair;  // two rows of output, where nothing else holds them
    uint8_t *lines; // of a stencil, and what it keeps
};

// Which row of the output row `y` becomes.
static int output_row(const struct cpu_pass *job, int y)
{
    return job->pass->store_flip ? job->from->shape.height - 1 - y : y;
}

static uint8_t *output_at(const struct cpu_band *band, int row)
{
    const struct image *to = band->job->to;
    return to->plane[0] ? to->plane[0] + (size_t)row * to->stride[0]
                        : band->pair + line_bytes(to->shape.width, 0) * (size_t)(row % 2);
}

// Encodes a pair of rows when the last of them has been made, while they are in cache.
static void encode_row(const struct cpu_band *band, int row)
{
    const struct cpu_pass *job = band->job;
    const int upper = row & ~1;
    if (!job->encoded || upper >= job->encoded->shape.height)
        return;
    const bool both = upper + 1 < job->encoded->shape.height;
    if (row != (both && !job->pass->store_flip ? upper + 1 : upper))
        return;
    encode_rows(&job->encoder, job->encoded, 0, upper, job->encoded->shape.width, output_at(band, upper),
                both ? output_at(band, upper + 1) : NULL);
}

// Where the band begins. Rows that are encoded together stay together.
static int band_edge(const struct cpu_pass *job, int band)
{
    const int height = job->from->shape.height, bands = job->build->bands;
    const int y = (int)((int64_t)height * band / bands);
    const bool splits = job->encoded && y > 0 && y < height && output_row(job, y - 1) / 2 == output_row(job, y) / 2;
    return splits ? y - 1 : y;
}

// Loads a row with its edge pixels repeated on both sides.
static void load_padded_row(const struct cpu_pass *job, int y, uint8_t *rgba, int radius)
{
    const int width = job->from->shape.width;
    load_row(job, y, rgba);
    for (int i = 1; i <= radius; i++) {
        memcpy(rgba - 4 * i, rgba, 4);
        memcpy(rgba + 4 * (width - 1 + i), rgba + 4 * (width - 1), 4);
    }
}

static int clamp_row(int y, int height)
{
    return y < 0 ? 0 : y >= height ? height - 1 : y;
}

static void stencil_band(const struct cpu_band *band)
{
    const struct cpu_pass *job = band->job;
    const struct stage *stage = job->pass->stencil;
    const int width = job->from->shape.width, height = job->from->shape.height;
    const int radius = stage->arguments.radius, lines = ring_lines(radius);
    const size_t bytes = line_bytes(width, radius);
    uint8_t *own = band->lines + bytes * (size_t)lines;
    int loaded = clamp_row(band->first - radius, height); // the first row not in the ring
    const uint8_t *pointers[2 * FILTER_RADIUS_MAX + 2];
    for (int y = band->first; y < band->end; y++) {
        for (; loaded <= clamp_row(y + radius, height); loaded++)
            load_padded_row(job, loaded, band->lines + bytes * (size_t)(loaded % lines) + 4 * radius, radius);
        for (int i = 0; i < lines; i++) {
            const int row = clamp_row(y - radius - 1 + i, height);
            pointers[i] = band->lines + bytes * (size_t)(row % lines) + 4 * radius;
        }
        uint8_t *rgba = output_at(band, output_row(job, y));
        stage->filter->stencil_row(&stage->arguments, pointers + 1, rgba, width, own, y == band->first);
        point_filters(job->pass->after, job->pass->after_count, rgba, rgba, width);
        if (job->pass->store_mirror)
            turn_row(rgba, width);
        encode_row(band, output_row(job, y));
    }
}

static void run_band(void *context, int number)
{
    const struct cpu_pass *job = context;
    uint8_t *scratch = job->build->scratch + job->build->scratch_bytes * (size_t)number;
    const struct cpu_band band = {
        .job = job,
        .first = band_edge(job, number),
        .end = band_edge(job, number + 1),
        .pair = scratch,
        .lines = scratch + job->build->pair_bytes,
    };
    if (job->pass->stencil) {
        stencil_band(&band);
        return;
    }
    for (int y = band.first; y < band.end; y++) {
        load_row(job, y, output_at(&band, output_row(job, y)));
        encode_row(&band, output_row(job, y));
    }
}

static void build_free(struct cpu_build *build)
{
    if (!build)
        return;
    free(build->scratch);
    image_free(&build->between[0]);
    image_free(&build->between[1]);
    free(build);
}

static int count_bands(int height, int threads)
{
    const int most = height / BAND_MIN_ROWS < 1 ? 1 : height / BAND_MIN_ROWS;
    const int wanted = threads * BANDS_PER_THREAD;
    return wanted < most ? wanted : most;
}

static struct cpu_build *build_make(const struct cpu_path *cpu, const struct chain *chain)
{
    const struct image_shape *input = &cpu->path.input;
    struct cpu_build *build = calloc(1, sizeof(*build));
    if (!build)
        return NULL;
    plan_make(&build->plan, chain);
    build->grey = chain_is_grey(chain, input->format == PIXFMT_GREY);
    build->bands = count_bands(input->height, workers_count(cpu->workers));
    for (int i = 0; i < build->plan.count; i++) {
        const size_t bytes = pass_scratch_bytes(&build->plan.pass[i], input->width);
        build->scratch_bytes = bytes > build->scratch_bytes ? bytes : build->scratch_bytes;
    }
    build->pair_bytes = cpu->path.encoded_only ? 2 * line_bytes(input->width, 0) : 0;
    build->scratch_bytes += build->pair_bytes;
    build->scratch = aligned_alloc(IMAGE_ALIGNMENT, build->scratch_bytes * (size_t)build->bands);
    const struct image_shape rgba = {.format = PIXFMT_RGBA, .width = input->width, .height = input->height};
    bool ok = build->scratch != NULL;
    for (int i = 0; ok && i < build->plan.count - 1 && i < 2; i++)
        ok = image_alloc(&build->between[i], &rgba);
    if (!ok) {
        build_free(build);
        return NULL;
    }
    return build;
}

static bool cpu_prepare(struct path *path, const struct chain *chain, char **error)
{
    struct cpu_path *cpu = (struct cpu_path *)path;
    struct cpu_build *build = build_make(cpu, chain);
    if (!build) {
        path_fail(error, "there is not enough memory for this chain at this size");
        return false;
    }
    pthread_mutex_lock(&cpu->lock);
    struct cpu_build *old = cpu->pending;
    cpu->pending = build;
    pthread_mutex_unlock(&cpu->lock);
    build_free(old);
    return true;
}

static void cpu_swap(struct path *path)
{
    struct cpu_path *cpu = (struct cpu_path *)path;
    pthread_mutex_lock(&cpu->lock);
    struct cpu_build *build = cpu->pending;
    cpu->pending = NULL;
    pthread_mutex_unlock(&cpu->lock);
    if (!build)
        return;
    build_free(cpu->build);
    cpu->build = build;
}

static bool cpu_submit(struct path *path, const struct image *frame, uint64_t tag, bool *lost)
{
    struct cpu_path *cpu = (struct cpu_path *)path;
    struct cpu_slot *slot = &cpu->slot[cpu->write_slot];
    struct cpu_build *build = cpu->build;
    const struct image *from = frame;
    for (int i = 0; i < build->plan.count; i++) {
        const bool last = i == build->plan.count - 1;
        struct cpu_pass job = {
            .pass = &build->plan.pass[i],
            .from = from,
            .to = last ? &slot->output : &build->between[i % 2],
            .encoded = last && path->encode.width > 0 ? &slot->encoded : NULL,
            .encoder = encoder_init(path->encode.color),
            .coefficients = color_to_rgb(from->shape.color),
            .build = build,
        };
        job.encoder.grey = build->grey;
        slot->pass_start_ns[i] = clock_now_ns();
        workers_run(cpu->workers, run_band, &job, build->bands);
        slot->pass_end_ns[i] = clock_now_ns();
        from = job.to;
    }
    slot->tag = tag;
    cpu->write_slot = (cpu->write_slot + 1) % cpu->slots;
    return true;
}

static bool cpu_collect(struct path *path, struct path_result *result, bool *lost)
{
    struct cpu_path *cpu = (struct cpu_path *)path;
    const struct cpu_slot *slot = &cpu->slot[cpu->read_slot];
    cpu->read_slot = (cpu->read_slot + 1) % cpu->slots;
    result->image = slot->output;
    result->image.memory = NULL; // borrowed
    result->tag = slot->tag;
    for (int i = 0; i < cpu->build->plan.count; i++) {
        char name[160];
        const bool encodes = i == cpu->build->plan.count - 1 && path->encode.width > 0;
        snprintf(name, sizeof(name), "pass %s%s", cpu->build->plan.pass[i].name, encodes ? "+encode" : "");
        struct stage_time *stage = path_add_stage(result, name, STAGE_HOST);
        stage->start_ns = slot->pass_start_ns[i];
        stage->end_ns = slot->pass_end_ns[i];
    }
    if (path->encode.width > 0) {
        result->encoded = slot->encoded;
        result->encoded.memory = NULL; // borrowed
    }
    return true;
}

static void cpu_close(struct path *path)
{
    struct cpu_path *cpu = (struct cpu_path *)path;
    workers_close(cpu->workers);
    build_free(cpu->build);
    build_free(cpu->pending);
    for (int i = 0; i < cpu->slots; i++) {
        image_free(&cpu->slot[i].output);
        image_free(&cpu->slot[i].encoded);
    }
    pthread_mutex_destroy(&cpu->lock);
    free(cpu);
}

static const struct backend cpu_backend = {
    .prepare = cpu_prepare,
    .swap = cpu_swap,
    .submit = cpu_submit,
    .collect = cpu_collect,
    .read = path_read_image,
    .close = cpu_close,
};

struct path *cpu_open(const struct path_setup *setup, char **error)
{
    struct cpu_path *cpu = calloc(1, sizeof(*cpu));
    if (!cpu) {
        path_fail(error, "there is not enough memory");
        return NULL;
    }
    cpu->path = (struct path){
        .backend = &cpu_backend,
        .kind = setup->kind,
        .rung = "cpu",
        .input = setup->input,
        .encode = setup->encode,
        .encoded_only = setup->encoded_only,
        .depth = setup->depth,
    };
    pthread_mutex_init(&cpu->lock, NULL);
    const struct image_shape rgba = {.format = PIXFMT_RGBA, .width = setup->input.width, .height = setup->input.height};
    bool ok = (cpu->workers = workers_open(setup->threads)) != NULL;
    for (int i = 0; ok && i <= setup->depth; i++) {
        cpu->slot[i].output.shape = rgba;
        ok = (setup->encoded_only || image_alloc(&cpu->slot[i].output, &rgba)) &&
             (setup->encode.width == 0 || image_reserve(&cpu->slot[i].encoded, &setup->encode));
        cpu->slots++;
    }
    if (!ok || !cpu_prepare(&cpu->path, setup->chain, error)) {
        if (!ok)
            path_fail(error, "there is not enough memory for pictures of this size");
        cpu_close(&cpu->path);
        return NULL;
    }
    cpu_swap(&cpu->path);
    return &cpu->path;
}
