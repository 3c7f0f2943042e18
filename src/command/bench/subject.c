// subject.c: chains that run over and over, on the CPU or in a device's memory
#include "command/bench/memory.h"

#include "base/clock.h"

#include <stdlib.h>

struct subject {
    const struct bench_pictures *pictures;
    struct path *path; // for kinds without a device, which read the host's pictures in place; NULL for the others
    struct resident *resident;
    struct resident_chain *chain;
    int next; // picture
};

struct subject *subject_open(struct bench_memory *memory, const struct subject_setup *setup, char **error)
{
    *error = NULL;
    struct subject *subject = calloc(1, sizeof(*subject));
    bool ok = subject && (subject->pictures = bench_memory_pictures(memory, &setup->shape));
    if (ok && !path_kind_info(setup->kind)->needs_device) {
        const struct path_setup path = {
            .kind = setup->kind,
            .input = setup->shape,
            .chain = setup->chain,
            .threads = setup->threads,
            .variant = setup->variant,
        };
        ok = (subject->path = path_open(&path, error)) != NULL;
    } else if (ok) {
        const bool images = path_kind_info(setup->kind)->shares_gl; // kernels then write images: GL's textures
        subject->resident = bench_memory_resident(memory, setup->device, &setup->shape, images);
        ok = subject->resident &&
             (subject->chain = resident_chain_open(subject->resident, setup->chain, setup->variant, error));
    }
    if (ok)
        return subject;
    subject_close(subject);
    return NULL;
}

void subject_close(struct subject *subject)
{
    if (!subject)
        return;
    path_close(subject->path);
    resident_chain_close(subject->chain);
    free(subject);
}

static bool run_path(struct subject *subject, int runs, struct path_result *result)
{
    bool lost, ok = true;
    for (int i = 0; ok && i < runs; i++) {
        const struct image *picture = &subject->pictures->image[(subject->next + i) % subject->pictures->count];
        ok = path_submit(subject->path, picture, 0, &lost) && path_collect(subject->path, result, &lost);
    }
    return ok;
}

bool subject_run(void *context, int runs, struct trial_time *time)
{
    struct subject *subject = context;
    struct timing timing;
    bool ok;
    if (subject->path) {
        struct path_result result;
        const int64_t start_ns = clock_now_ns();
        ok = run_path(subject, runs, &result);
        time->ms = time->wall_ms = (double)(clock_now_ns() - start_ns) / 1e6 / runs;
    } else {
        ok = resident_run(subject->chain, subject->next, runs, &timing);
        if (ok)
            *time = (struct trial_time){timing.device_ms, timing.wall_ms};
    }
    subject->next = (subject->next + runs) % subject->pictures->count;
    return ok;
}

bool subject_first(struct subject *subject, struct image *rgba)
{
    struct path_result result;
    struct timing timing;
    subject->next = 0;
    if (subject->path)
        return run_path(subject, 1, &result) && path_read(subject->path, &result, rgba);
    return resident_run(subject->chain, 0, 1, &timing) && resident_read(subject->resident, rgba);
}
