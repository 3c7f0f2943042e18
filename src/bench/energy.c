// energy.c: the test of the energy that a frame needs on the device and on the cpu path
#include "bench/pool.h"
#include "bench/session.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "compute/energy.h"
#include "path/rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const chains[] = {"none", "blur", "emboss"};
enum { METERS = 2, CHAINS = sizeof(chains) / sizeof(*chains), CASES = METERS * CHAINS, WIDTH = 1920, HEIGHT = 1080 };

// A counter may change only every 100 ms.
static const double least_ms = 100;

// The device with its pictures, or the CPU with the cpu path.
struct energy_meter {
    const char *name;
    struct energy *energy; // NULL: there is no counter
    char why[ENERGY_WHY];
    struct rig *rig; // NULL: the cpu path
};

struct energy_case {
    const struct energy_meter *meter;
    struct chain chain;
    struct opencl_chain *built; // of the device
    struct frames frames;       // of the cpu path
    double run_ms;
    struct energy_use use; // of the latest measurement
};

// ---- one case ----

static bool run_frames(void *context, int runs)
{
    struct energy_case *e = context;
    struct timing timing;
    struct path_result result;
    bool ok = true;
    if (e->meter->rig)
        return rig_chain_run(e->meter->rig, e->built, 0, runs, &timing);
    for (int i = 0; ok && i < runs; i++)
        ok = path_submit(e->frames.path, &e->frames.pictures->image[0], NULL) && path_collect(e->frames.path, &result);
    return ok;
}

static bool run_first(void *context, struct image *rgba)
{
    struct energy_case *e = context;
    return e->meter->rig ? run_frames(e, 1) && rig_read(e->meter->rig, rgba) : frames_first(&e->frames, rgba);
}

// Also measures the time of a run, which energy_measure needs.
static bool check(struct bench_case *c)
{
    struct energy_case *e = c->data;
    if (!pictures_check(e->frames.pictures, &e->chain, run_first, e, "the frame"))
        return false;
    const int64_t start_ns = clock_now_ns();
    const bool ok = run_frames(e, 1);
    e->run_ms = fmax(clock_ms_since(start_ns), 1e-3);
    return ok;
}

// Returns joules instead of seconds, so that the value is in megapixels per joule.
static double measure_joules(struct bench_case *c, int runs)
{
    struct energy_case *e = c->data;
    const double ms = fmax(least_ms, c->session->seconds * 1e3 / CASES / 3);
    if (energy_measure(e->meter->energy, e->run_ms, ms, run_frames, e, &e->use) && e->use.mj > 0)
        return e->use.mj / 1e3;
    log_error("a run failed, or the energy counter cannot be read or does not change");
    return -1;
}

static void finish(struct bench_case *c)
{
    const struct energy_case *e = c->data;
    snprintf(c->figure.note, sizeof(c->figure.note), "%.3g mJ per frame at %.3g W; counter: %s",
             c->work * 1e3 / c->figure.value, e->use.mj / e->use.ms, energy_name(e->meter->energy));
}

static bool open_chain(struct bench_case *c, const struct pictures *pictures)
{
    struct energy_case *e = c->data;
    char *why = NULL;
    const struct path_setup setup = {.kind = PATH_CPU,
                                     .input = pictures->image[0].shape,
                                     .chain = &e->chain,
                                     .depth = 1,
                                     .tuned = c->session->device->tuned};
    e->frames.pictures = pictures;
    const bool ok = e->meter->rig ? (e->built = rig_chain_open(e->meter->rig, &e->chain, NULL, &why)) != NULL
                                  : frames_open(&e->frames, &setup, pictures, &why);
    if (!ok)
        bench_fail_build(c, why);
    free(why);
    return ok;
}

// ---- all cases ----

static void open_case(struct bench_case *c, const struct pictures *pictures, const char *filter)
{
    struct energy_case *e = c->data;
    char error[CHAIN_ERROR];
    bench_name(c, "on=%s size=%dx%d filter=%s", e->meter->name, WIDTH, HEIGHT, filter);
    c->time = measure_joules;
    c->check = check;
    c->finish = finish;
    c->work = WIDTH * HEIGHT / 1e6;
    c->loops = 1;
    c->runs = 1; // each measurement makes as many runs as the counter needs
    if (!e->meter->energy)
        bench_skip(c, "no energy counter: %s", e->meter->why);
    else if (!chain_parse(&e->chain, filter, error))
        bench_fail(c, "%s", error);
    else
        open_chain(c, pictures);
}

// Opens the counters, and the device's pictures if it has a counter. False on failure (logged).
static bool open_meters(const struct bench_session *session, struct energy_meter meters[METERS],
                        const struct pictures *pictures)
{
    struct energy_meter *device = &meters[0];
    const struct path_setup setup = {.device = session->device, .input = pictures->image[0].shape};
    device->energy = device_energy_open(&session->device->info, device->why);
    meters[1].energy = energy_open(&(struct energy_device){.cpu = true}, meters[1].why);
    if (!device->energy)
        return true;
    device->rig = rig_open(&setup, 1, false);
    return device->rig && rig_fill(device->rig, 0, &pictures->image[0]);
}

static void measure_cases(struct bench_session *session, const struct energy_meter meters[METERS],
                          const struct pictures *pictures)
{
    struct bench_case cases[CASES] = {{0}};
    struct energy_case *energies = xcalloc(CASES, sizeof(*energies));
    for (int i = 0; i < CASES; i++) {
        energies[i].meter = &meters[i / CHAINS];
        cases[i] = (struct bench_case){.session = session, .data = &energies[i]};
        open_case(&cases[i], pictures, chains[i % CHAINS]);
    }
    bench_measure(session, cases, CASES);
    for (int i = 0; i < CASES; i++) {
        rig_chain_close(energies[i].built);
        frames_close(&energies[i].frames);
    }
    free(energies);
}

static void run(struct bench_session *session)
{
    struct energy_meter meters[METERS] = {{.name = "device"}, {.name = "cpu-path"}};
    struct pictures pictures = {0};
    if (pictures_make_camera(&pictures, WIDTH, HEIGHT) && open_meters(session, meters, &pictures))
        measure_cases(session, meters, &pictures);
    else
        bench_report_failure(session);
    for (int i = 0; i < METERS; i++) {
        rig_close(meters[i].rig);
        energy_close(meters[i].energy);
    }
    pictures_free(&pictures);
}

const struct bench_test bench_test_energy = {
    .name = "energy",
    .unit = "Mpixel/J",
    .definition = "pixels of NV21 frames, filtered without pauses, per joule that the whole device, board or processor "
                  "uses; on=device: the passes, in the device's memory; on=cpu-path: the cpu path",
    .seconds = 2,
    .run = run,
};
