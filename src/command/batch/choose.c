// choose.c: cpu or opencl, by what the first files cost on each
//
// A batch keeps all processors busy with decoding and encoding, so that what counts is processor time: the cpu path's
// passes against what a device takes of it for copies and launches (with an OpenCL device that is the processor itself,
// all of its work). A device that is shared by all threads must keep up with them, too.
#include "command/batch/batch.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    FILES_LEAST = 100, // with fewer, opening a device and compiling for it would take longer than it could save
    TRIES = 8,         // files looked at for one that can be decoded
    RUNS = 4,          // after one that warms up
};

struct cost {
    double host_ms, device_ms; // of one picture
};

static int64_t process_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// Copies in, kernels and copies out overlap: the longest of them is what the device is busy for.
static double busy_ms(const struct path_result *result)
{
    int64_t in_ns = 0, out_ns = 0, run_ns = 0;
    for (int i = 0; i < result->stages; i++) {
        const struct stage_time *stage = &result->stage[i];
        const int64_t ns = stage->clock == STAGE_DEVICE ? stage->end_ns - stage->start_ns : 0;
        *(strcmp(stage->name, "upload") == 0 ? &in_ns : strcmp(stage->name, "download") == 0 ? &out_ns : &run_ns) += ns;
    }
    const int64_t copy_ns = in_ns > out_ns ? in_ns : out_ns;
    return (double)(run_ns > copy_ns ? run_ns : copy_ns) / 1e6;
}

static bool measure(const struct runner_setup *setup, const struct runner_job *job, struct cost *cost)
{
    struct runner runner;
    struct path_result result;
    char *why = NULL;
    bool ok = runner_open(&runner, setup);
    int64_t start_ns = 0;
    for (int i = 0; ok && i <= RUNS; i++) {
        if (i == 1)
            start_ns = process_ns();
        runner_submit(&runner, job);
        ok = runner_collect(&runner, &result, &why);
    }
    if (ok) {
        const bool processor = runner.device && runner.device->info.type & CL_DEVICE_TYPE_CPU;
        *cost = (struct cost){(double)(process_ns() - start_ns) / 1e6 / RUNS, processor ? 0 : busy_ms(&result)};
    }
    free(why);
    runner_close(&runner);
    return ok;
}

// The first file that can be decoded.
static bool find_picture(struct batch *batch, struct work *work, struct codec *codec, struct outcome *outcome)
{
    for (size_t i = 0; i < batch->tasks.count && i < TRIES; i++) {
        *outcome = (struct outcome){.task = &batch->tasks.row[i], .output = {.fd = -1}};
        work_clear(work);
        work->outcome = outcome;
        const bool ok = work_open(work, &batch->rules) && work->file_bytes <= batch->budget.limit &&
                        work_read(work, &batch->rules, codec) && work_bytes(work) <= batch->budget.limit;
        work_close(work);
        if (ok && work_decode(work, &batch->rules, codec, NULL))
            return true;
    }
    return false;
}

static enum path_kind compare(struct batch *batch, const struct runner_job *job)
{
    const struct runner_setup cpu = {&batch->chain, NULL, -1, 1, 0}, opencl = {&batch->chain, &batch->fleet, 0, 1, 0};
    struct cost a, b;
    if (!measure(&cpu, job, &a) || !measure(&opencl, job, &b))
        return PATH_CPU;
    const double jobs = batch->run.jobs, host_ms = b.host_ms / jobs, device_ms = b.device_ms / batch->fleet.count;
    const double cpu_ms = a.host_ms / jobs, opencl_ms = host_ms > device_ms ? host_ms : device_ms;
    const enum path_kind kind = opencl_ms < cpu_ms ? PATH_OPENCL : PATH_CPU;
    snprintf(batch->chosen, sizeof(batch->chosen),
             "%s, chosen: a picture of %dx%d takes %.2f ms by cpu, %.2f by opencl", path_kind_name(kind),
             job->picture->shape.width, job->picture->shape.height, cpu_ms, opencl_ms);
    return kind;
}

bool batch_measures(const struct batch *batch)
{
    return batch->options.path == BATCH_AUTO && batch->tasks.count >= FILES_LEAST;
}

enum path_kind batch_choose(struct batch *batch)
{
    struct work work = {0};
    struct outcome outcome;
    enum path_kind kind = PATH_CPU;
    struct codec *codec = batch->fleet.count > 0 && batch_measures(batch) ? codec_open() : NULL;
    if (codec && find_picture(batch, &work, codec, &outcome))
        kind = compare(batch, &work.job);
    work_free(&work);
    codec_close(codec);
    return kind;
}
