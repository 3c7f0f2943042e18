// filters_rows.c: what is measured, built and checked
#include "command/bench/filters.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// 25 numbers in no pattern, so that no shortcut helps.
#define MATRIX                                                                                                         \
    "convolve=0.11 -0.07 0.23 0.05 -0.13 0.31 0.17 -0.29 0.41 0.02 -0.19 0.37 0.83 -0.43 0.07 0.29 -0.11 0.53 0.13 "   \
    "-0.31 0.19 0.03 -0.23 0.09 -0.59"

// What is measured where the user names neither chains nor formats.
static const struct {
    const char *chain;
    enum pixfmt format;
} cases[] = {
    {"none", PIXFMT_NV21},   {"none", PIXFMT_YUYV}, {"gray", PIXFMT_RGBA},   {"maxrgb", PIXFMT_RGBA},
    {"blur=2", PIXFMT_RGBA}, {MATRIX, PIXFMT_RGBA}, {"emboss", PIXFMT_RGBA}, {"blur=2,gray,emboss", PIXFMT_NV21},
};
enum { CASES = sizeof(cases) / sizeof(*cases) };

static bool add_row(struct filters_bench *bench, const struct filters_row *row)
{
    struct filters_row **grown = realloc(bench->row, (size_t)(bench->rows + 1) * sizeof(*grown));
    struct filters_row *added = malloc(sizeof(*added));
    if (grown)
        bench->row = grown;
    if (!grown || !added) {
        log_error("cannot measure: out of memory");
        free(added);
        return false;
    }
    *added = *row;
    bench->row[bench->rows++] = added;
    return true;
}

// Adds the row. For `bench variants`, adds a row for each variant that fits the chain instead.
static bool add_variants(struct filters_bench *bench, struct filters_row *row)
{
    const struct path_setup setup = {
        .kind = row->path, .device = bench->device, .input = row->shape, .chain = &row->chain->chain};
    const char *names[PATH_VARIANTS] = {NULL};
    const int count = bench->variants ? path_variants(&setup, names) : 1;
    for (int i = 0; i < count; i++) {
        row->variant = names[i];
        if (!add_row(bench, row))
            return false;
    }
    return true;
}

// A chain in a format at every size that its path is measured at, with every number of threads.
static bool add_rows(struct filters_bench *bench, const struct bench_chain *chain, enum pixfmt format,
                     enum path_kind path)
{
    static const struct option_size cpu_sizes[] = {{1920, 1080}, {3840, 2160}};
    static const struct option_size gpu_sizes[] = {{7680, 4320}}; // no cache serves it
    const struct bench_wish *wish = bench->wish;
    const bool device = path_kind_info(path)->needs_device,
               on_gpu = device && !(bench->device->info.type & CL_DEVICE_TYPE_CPU);
    const struct option_size *size = wish->sizes ? wish->size : on_gpu ? gpu_sizes : cpu_sizes;
    const int sizes = wish->sizes ? wish->sizes : device ? 1 : 2;
    struct filters_row row = {.chain = chain, .path = path};
    for (int s = 0; s < sizes; s++) {
        row.shape = (struct image_shape){.format = format, .width = size[s].width, .height = size[s].height};
        const char *why;
        if (!pixfmt_size_ok(format, row.shape.width, row.shape.height, &why)) {
            log_error("cannot measure %dx%d: %s", row.shape.width, row.shape.height, why);
            return false;
        }
        const struct color unknown = {0};
        row.shape.color = color_resolve(unknown, unknown, format == PIXFMT_GREY, row.shape.width, row.shape.height);
        for (int t = 0; t < (device ? 1 : wish->threads); t++) {
            row.threads = device ? bench_device_threads(bench->device) : wish->thread[t];
            if (!add_variants(bench, &row))
                return false;
        }
    }
    return true;
}

// Adds the example of each filter as a chain.
static bool add_examples(struct bench_wish *wish)
{
    for (int i = 0; filters[i]; i++) {
        if (!bench_add_chain(wish, filters[i]->example))
            return false;
    }
    return true;
}

// The chains of the default cases, each once where they are to be combined with formats.
static bool add_default_chains(struct bench_wish *wish, bool once)
{
    for (int i = 0; i < CASES; i++) {
        bool seen = false;
        for (int k = 0; once && k < i; k++)
            seen = seen || strcmp(cases[k].chain, cases[i].chain) == 0;
        if (!seen && !bench_add_chain(wish, cases[i].chain))
            return false;
    }
    return true;
}

bool filters_choose(struct filters_bench *bench)
{
    struct bench_wish *wish = bench->wish;
    const bool pairs = wish->chains == 0 && wish->formats == 0 && !bench->variants; // chain i with its own format
    if (wish->chains == 0 && !(bench->variants ? add_examples(wish) : add_default_chains(wish, !pairs)))
        return false;
    if (wish->formats == 0 && !pairs)
        wish->format[wish->formats++] = PIXFMT_RGBA;
    for (int p = 0; p < wish->paths; p++) {
        for (int c = 0; c < wish->chains; c++) {
            for (int f = 0; f < (pairs ? 1 : wish->formats); f++) {
                if (!add_rows(bench, &wish->chain[c], pairs ? cases[c].format : wish->format[f], wish->path[p]))
                    return false;
            }
        }
    }
    return true;
}

// What reads as many bytes as a row's input and writes as many as its output, half of each.
static struct copy_row *copy_for(struct filters_bench *bench, const struct filters_row *row)
{
    const size_t pixels = (size_t)row->shape.width * (size_t)row->shape.height;
    const struct bench_copy_setup setup = {
        .device = path_kind_info(row->path)->needs_device ? bench->device : NULL,
        .threads = row->threads,
        .bytes = (image_bytes(&row->shape) + 4 * pixels) / 2,
        .sources = bench_memory_pictures(bench->memory, &row->shape)->count,
    };
    for (int i = 0; i < bench->copies; i++) {
        const struct bench_copy_setup *other = &bench->copy[i]->setup;
        if (other->device == setup.device && other->threads == setup.threads && other->bytes == setup.bytes &&
            other->sources == setup.sources)
            return bench->copy[i];
    }
    struct copy_row **grown = realloc(bench->copy, (size_t)(bench->copies + 1) * sizeof(*grown));
    struct copy_row *added = calloc(1, sizeof(*added));
    if (grown)
        bench->copy = grown;
    if (!grown || !added || !(added->copy = bench_copy_open(bench->memory, &setup))) {
        free(added);
        return NULL;
    }
    added->setup = setup;
    added->trial = (struct trial){.run = bench_copy_run, .context = added->copy, .warm_runs = 2};
    bench->copy[bench->copies++] = added;
    return added;
}

static void describe(const struct filters_row *row, char text[200])
{
    snprintf(text, 200, "%.80s from %s %dx%d on the %s path%s%s", row->chain->text,
             pixfmt_info(row->shape.format)->name, row->shape.width, row->shape.height, path_kind_name(row->path),
             row->variant ? ", variant " : "", row->variant ? row->variant : "");
}

bool filters_open(struct filters_bench *bench, struct filters_row *row)
{
    const struct subject_setup setup = {
        .kind = row->path,
        .device = bench->device,
        .threads = row->threads,
        .shape = row->shape,
        .chain = &row->chain->chain,
        .variant = row->variant,
    };
    char what[200], *error = NULL;
    describe(row, what);
    struct subject *subject = subject_open(bench->memory, &setup, &error);
    if (!subject) {
        log_error("cannot measure %s: %s", what, error ? error : "see above");
        free(error);
        return false;
    }
    const struct bench_pictures *pictures = bench_memory_pictures(bench->memory, &row->shape);
    const struct image_shape rgba = {.width = row->shape.width, .height = row->shape.height};
    struct image got = {0}, want = {0};
    const bool same = image_alloc(&got, &rgba) && bench_expect(&pictures->image[0], &row->chain->chain, &want) &&
                      subject_first(subject, &got) && bench_same(&got, &want, what);
    image_free(&got);
    image_free(&want);
    if (!same) {
        subject_close(subject);
        return false;
    }
    row->subject = subject;
    row->trial = (struct trial){.run = subject_run, .context = subject, .warm_runs = 4};
    return (row->copy = copy_for(bench, row)) != NULL;
}
