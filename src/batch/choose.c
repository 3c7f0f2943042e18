// choose.c: selects the path that runs the filters of a batch
#include "batch/worker.h"

#include "base/clock.h"
#include "base/log.h"
#include "path/choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    FILES_LEAST = 100, // with fewer files, measuring takes longer than it can save
    TRIES = 8,         // files to try until one can be decoded
    RUNS = 4,          // measured runs
    // Estimated time before a device processes its first image: driver, context, kernels. One file took 0.66 s longer
    // with `opencl` than with `cpu` on an H200 (driver 580, kernels in the cache).
    START_MS = 600,
};

// The batch uses opencl only if its estimated time is below this share of cpu's. On a host with an H200, batches took
// up to 20 % longer than estimated with opencl, and up to 8 % longer with cpu.
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
        if (strcmp(stage->name, "upload") == 0)
            in_ns += ns;
        else if (strcmp(stage->name, "download") == 0)
            out_ns += ns;
        else
            run_ns += ns;
    }
    const int64_t copy_ns = in_ns > out_ns ? in_ns : out_ns;
    return (double)(run_ns > copy_ns ? run_ns : copy_ns) / 1e6;
}

static bool run_once(struct runner *runner, const struct runner_request *request, struct path_result *result)
{
    char *why = NULL;
    runner_submit(runner, request);
    const bool ok = runner_collect(runner, result, &why);
    free(why);
    return ok;
}

// An image to measure with
struct sample {
    struct runner_request request;
    struct codec_settings settings; // of the output
    struct codec *codec;
};

// Measures the sample on one path, except its decoding. Adds to cost->codec_ms.
static bool measure(const struct runner_setup *setup, const struct sample *sample, struct cost *cost)
{
    struct runner runner;
    struct path_result result;
    struct codec_buffer file = {0};
    struct codec_error error;
    bool ok = runner_open(&runner, setup) && run_once(&runner, &sample->request, &result); // compiles the kernels
    runner_close(&runner);
    const int64_t open_ns = clock_now_ns();
    ok = ok && run_once(&runner, &sample->request, &result);
    cost->open_ms = ok && runner.device ? (double)(clock_now_ns() - open_ns) / 1e6 : 0;
    const double start_ms = process_ms();
    for (int i = 0; ok && i < RUNS; i++)
        ok = run_once(&runner, &sample->request, &result);
    const double encode_ms = process_ms();
    cost->filter_ms = (encode_ms - start_ms) / RUNS;
    if (ok) {
        const bool processor = runner.device && runner.device->info.type & DEVICE_CPU;
        cost->device_ms = processor ? 0 : busy_ms(&result);
        ok = codec_encode(sample->codec, sample->request.encode.width > 0 ? &result.encoded : &result.image,
                          &sample->settings, &file, &error);
        cost->codec_ms += process_ms() - encode_ms;
    }
    codec_buffer_free(&file);
    runner_close(&runner);
    return ok;
}

// Opens the fleet. Without a device, returns false (logged), but true if `-p auto` can do without one.
static bool open_fleet(struct fleet *fleet, const struct batch_setup *o)
{
    const char *why = NULL;
    if (fleet_init(fleet, o->device, o->kernels, &why))
        return true;
    if (why && o->path == BATCH_AUTO && !o->device && !o->kernels) {
        log_info("there is no OpenCL device: %s", why);
        return true;
    }
    if (why)
        log_error("there is no OpenCL device: %s; use -p cpu%s", why, o->kernels ? " without kernel files" : "");
    return false;
}

static void compare(struct choice *choice, const struct batch_setup *o, const struct sample *sample, double decode_ms,
                    struct fleet *fleet, size_t files, int jobs)
{
    const struct runner_setup cpu = {.chain = &o->chain, .member = -1, .threads = 1};
    const struct runner_setup opencl = {.chain = &o->chain, .fleet = fleet, .threads = 1};
    struct cost a = {.codec_ms = decode_ms}, b = a;
    if (!measure(&cpu, sample, &a))
        return;
    const double most_ms = (double)files * a.filter_ms / jobs;
    if (most_ms < START_MS) {
        snprintf(choice->why, sizeof(choice->why), "a device would take longer to start than it can save");
        return;
    }
    if (!open_fleet(fleet, o) || fleet->count == 0) {
        snprintf(choice->why, sizeof(choice->why), "there is no OpenCL device");
        return;
    }
    if (!measure(&opencl, sample, &b)) {
        snprintf(choice->why, sizeof(choice->why), "the measurement of opencl failed");
        return;
    }
    const double cpu_ms = cost_batch_ms(&a, files, jobs, 0), opencl_ms = cost_batch_ms(&b, files, jobs, fleet->count);
    const struct path_candidate candidates[] = {{PATH_CPU, cpu_ms}, {PATH_OPENCL, opencl_ms}};
    choice->kind = candidates[path_fastest(candidates, 2, MARGIN)].kind;
    log_info("estimated time: %.1f s by cpu, %.1f s by opencl", cpu_ms / 1e3, opencl_ms / 1e3);
    snprintf(choice->why, sizeof(choice->why), "chosen by an estimate from one file");
}

// Compares the paths with the first file that can be decoded, of up to TRIES files at equal distances: an earlier run
// may have done those at the beginning.
static void measure_paths(struct choice *choice, const struct batch_setup *o, struct queue *queue, struct fleet *fleet,
                          int jobs)
{
    struct worker *worker = worker_open(&(struct worker_setup){.options = o, .queue = queue});
    struct sample sample = {.codec = codec_open()};
    double start_ms = 0;
    bool ok = false;
    const size_t count = queue->tasks->count, tries = count < TRIES ? count : TRIES;
    for (size_t i = 0; !ok && i < tries; i++) {
        start_ms = process_ms();
        ok = worker_sample(worker, &queue->tasks->row[i * count / tries], &sample.request, &sample.settings);
    }
    if (ok)
        compare(choice, o, &sample, process_ms() - start_ms, fleet, queue->tasks->count, jobs);
    codec_close(sample.codec);
    worker_close(worker);
}

// Logs once why there is no GL, before the runners open their contexts.
static bool try_gl(void)
{
    char why[256];
    struct gl_context *gl = gl_context_open(false, why);
    if (!gl)
        log_error("there is no GL context: %s; use -p cpu", why);
    gl_context_close(gl);
    return gl;
}

// Replaces the cpu path by opencl or gl if it cannot compile the chain's users' filters. Returns true if it did.
static bool leave_cpu(struct choice *choice, const struct batch_setup *o, struct fleet *fleet)
{
    const char *why = NULL;
    char no_gl[256];
    if (o->path != BATCH_AUTO || choice->kind != PATH_CPU || path_compiles(&o->chain))
        return false;
    struct gl_context *gl = NULL;
    if (fleet_init(fleet, o->device, o->kernels, &why))
        choice->kind = PATH_OPENCL;
    else if ((gl = gl_context_open(false, no_gl)))
        choice->kind = PATH_GL;
    gl_context_close(gl);
    if (choice->kind == PATH_CPU) // the cpu path then fails with an error that names the compiler
        return false;
    path_warn_compiler(choice->kind);
    return true;
}

bool choose_path(struct choice *choice, const struct batch_setup *o, struct queue *queue, struct fleet *fleet, int jobs)
{
    const bool named =
        o->device && o->device != getenv("MONOCLE_DEVICE"); // on the command line, not by the environment
    const bool opencl = o->path == BATCH_OPENCL || (o->path == BATCH_AUTO && (named || o->kernels));
    *choice = (struct choice){.kind = o->path == BATCH_GL ? PATH_GL : PATH_CPU};
    if (choice->kind == PATH_GL && !try_gl())
        return false;
    if ((opencl || (o->path == BATCH_AUTO && o->device)) && !open_fleet(fleet, o))
        return false;
    if (opencl && fleet->count > 0)
        choice->kind = PATH_OPENCL;
    else if (!leave_cpu(choice, o, fleet) && o->path == BATCH_AUTO && queue->tasks->count >= FILES_LEAST)
        measure_paths(choice, o, queue, fleet, jobs);
    return true;
}
