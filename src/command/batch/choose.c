// choose.c: measures the first image on the cpu path and on an OpenCL device, and selects the path of a batch
#include "command/batch/choose.h"

#include "base/clock.h"
#include "base/log.h"
#include "command/batch/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    FILES_LEAST = 100, // with fewer files, measuring takes longer than it can save
    TRIES = 8,         // files to try until one can be decoded
    RUNS = 4,          // measured runs
};

// Opencl is taken only if its estimated time is below this share of cpu's. On a host with H200, batches took up to 20 %
// longer than estimated by opencl, and up to 8 % longer by cpu.
static const double MARGIN = 0.85;

double cost_batch_ms(const struct cost *cost, size_t files, int jobs, int devices)
{
    const double processor_ms = (cost->codec_ms + cost->filter_ms) / jobs;
    const double device_ms = devices > 0 ? cost->device_ms / devices : 0;
    const double slower_ms = processor_ms > device_ms ? processor_ms : device_ms;
    return (double)files * slower_ms + jobs * cost->open_ms;
}

static double process_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

// Copies to the device, kernels and copies from the device overlap, so the device is busy for the longest of the three.
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

static bool run_once(struct runner *runner, const struct runner_job *job, struct path_result *result)
{
    char *why = NULL;
    runner_submit(runner, job);
    const bool ok = runner_collect(runner, result, &why);
    free(why);
    return ok;
}

// Measures one image on one path, except its decoding. Adds to cost->codec_ms.
static bool measure(const struct runner_setup *setup, const struct work *work, struct codec *codec, struct cost *cost)
{
    struct runner runner;
    struct path_result result;
    struct codec_buffer file = {0};
    struct codec_error error;
    bool ok = runner_open(&runner, setup) && run_once(&runner, &work->job, &result); // the first run compiles the
                                                                                     // kernels
    runner_close(&runner);
    const int64_t open_ns = clock_now_ns();
    ok = ok && run_once(&runner, &work->job, &result);
    cost->open_ms = runner.device ? (double)(clock_now_ns() - open_ns) / 1e6 : 0;
    const double start_ms = process_ms();
    for (int i = 0; ok && i < RUNS; i++)
        ok = run_once(&runner, &work->job, &result);
    const double encode_ms = process_ms();
    cost->filter_ms = (encode_ms - start_ms) / RUNS;
    if (ok) {
        const bool processor = runner.device && runner.device->info.type & CL_DEVICE_TYPE_CPU;
        cost->device_ms = processor ? 0 : busy_ms(&result);
        ok = codec_encode(codec, work->job.encode.width > 0 ? &result.encoded : &result.image, &work->settings, &file,
                          &error);
        cost->codec_ms += process_ms() - encode_ms;
    }
    codec_buffer_free(&file);
    runner_close(&runner);
    return ok;
}

// Decodes the first file that can be decoded, of the first TRIES files.
static bool find_picture(struct batch *batch, struct work *work, struct codec *codec, struct outcome *outcome,
                         double *decode_ms)
{
    for (size_t i = 0; i < batch->tasks.count && i < TRIES; i++) {
        *outcome = (struct outcome){.task = &batch->tasks.row[i], .output = {.fd = -1}};
        work_clear(work);
        work->outcome = outcome;
        bool ok = work_open(work, &batch->rules) && work->file_bytes <= batch->budget.limit &&
                  work_read(work, &batch->rules, codec) && work_bytes(work) <= batch->budget.limit;
        work_close(work);
        const double start_ms = process_ms();
        ok = ok && work_decode(work, &batch->rules, codec, NULL);
        *decode_ms = process_ms() - start_ms;
        if (ok)
            return true;
    }
    return false;
}

static enum path_kind compare(struct batch *batch, const struct work *work, struct codec *codec, double decode_ms)
{
    const struct runner_setup cpu = {&batch->chain, NULL, -1, 1, 0}, opencl = {&batch->chain, &batch->fleet, 0, 1, 0};
    struct cost a = {.codec_ms = decode_ms}, b = {.codec_ms = decode_ms};
    if (!measure(&cpu, work, codec, &a))
        return PATH_CPU;
    const size_t files = batch->tasks.count;
    const double most_ms = (double)files * a.filter_ms / batch->run.jobs;
    if (most_ms < COST_START_MS) {
        snprintf(batch->why, sizeof(batch->why), "a device would save at most %.1f s and takes about %.1f s to start",
                 most_ms / 1e3, COST_START_MS / 1e3);
        return PATH_CPU;
    }
    if ((batch->fleet.count == 0 && !batch_open_fleet(batch)) || batch->fleet.count == 0) {
        snprintf(batch->why, sizeof(batch->why), "there is no OpenCL device");
        return PATH_CPU;
    }
    if (!measure(&opencl, work, codec, &b)) {
        snprintf(batch->why, sizeof(batch->why), "the measurement of opencl failed");
        return PATH_CPU;
    }
    const double cpu_ms = cost_batch_ms(&a, files, batch->run.jobs, 0);
    const double opencl_ms = cost_batch_ms(&b, files, batch->run.jobs, batch->fleet.count);
    snprintf(batch->why, sizeof(batch->why), "estimated time: %.1f s by cpu, %.1f s by opencl", cpu_ms / 1e3,
             opencl_ms / 1e3);
    return opencl_ms < MARGIN * cpu_ms ? PATH_OPENCL : PATH_CPU;
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
    double decode_ms = 0;
    struct codec *codec = batch_measures(batch) ? codec_open() : NULL;
    if (codec && find_picture(batch, &work, codec, &outcome, &decode_ms))
        kind = compare(batch, &work, codec, decode_ms);
    work_free(&work);
    codec_close(codec);
    return kind;
}
