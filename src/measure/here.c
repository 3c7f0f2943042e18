// here.c: runs a measurement in this process: finds and opens the device and GL, leaves out paths that lack them
#include "measure/bench_session.h"
#include "measure/chosen.h"
#include "measure/pool.h"

#include "base/log.h"
#include "base/processor.h"
#include "base/vectors.h"

#include <math.h>
#include <stdio.h>

// A measurement is much longer than a timer interrupt or a wake-up, and short enough for many rounds.
static const double slot_s = 10e-3;

static bool needs(const struct path_kind_info *kind, bool gl)
{
    return gl ? kind->needs_gl : kind->needs_device;
}

static bool any_needs(const struct chosen *chosen, bool gl)
{
    bool any = false;
    for (int i = 0; i < chosen->paths; i++)
        any = any || needs(path_kind_info(chosen->path[i]), gl);
    return any;
}

static void leave_out(struct chosen *chosen, bool gl)
{
    int count = 0;
    for (int i = 0; i < chosen->paths; i++) {
        if (!needs(path_kind_info(chosen->path[i]), gl))
            chosen->path[count++] = chosen->path[i];
    }
    chosen->paths = count;
}

static void default_paths(struct chosen *chosen, bool all)
{
    const bool given = chosen->paths > 0;
    for (int i = 0; !given && i < PATH_KINDS; i++) {
        const struct path_kind_info *kind = path_kind_info((enum path_kind)i);
        if (all || (!kind->needs_gl && !kind->shares_gl))
            chosen->path[chosen->paths++] = (enum path_kind)i;
    }
}

// Finds the device that the paths need. Returns false if there is none of this name (logged).
static bool find_device(const struct measure_here *setup, struct measure_place *place, const char **why)
{
    struct device_info devices[DEVICE_MAX];
    place->number = -1;
    if (!any_needs(setup->chosen, false))
        return true;
    const int count = device_list(devices, why);
    if (count > 0 && (place->number = device_choose(devices, count, setup->device)) < 0)
        return false;
    if (count > 0)
        place->device = devices[place->number];
    return true;
}

// Leaves out the paths whose device or GL is missing. Returns false if the user insists on them (logged).
static bool check_place(const struct measure_here *setup, const struct bench_session *session, const char *why)
{
    const bool lacks_device = any_needs(setup->chosen, false) && !session->device;
    const bool lacks_gl = any_needs(setup->chosen, true) && !session->gl;
    if (setup->insist && lacks_device)
        log_error("there is no OpenCL device: %s; the cpu path (-p cpu) works without one", why);
    else if (lacks_device)
        log_warn("there is no OpenCL device: %s; leaving out the paths that need one", why);
    if (setup->insist && lacks_gl)
        log_error("there is no GL context: %s", session->gl_why);
    else if (lacks_gl)
        log_warn("there is no GL context: %s; leaving out the gl path", session->gl_why);
    if (lacks_device)
        leave_out(setup->chosen, false);
    if (lacks_gl)
        leave_out(setup->chosen, true);
    if (setup->measurement->frames && !session->window)
        log_warn("cannot open a window (%s); frames end in memory, not in textures", session->window_why);
    return !setup->insist || (!lacks_device && !lacks_gl);
}

static void describe(struct measure_place *place, const struct bench_session *session)
{
    char model[PROCESSOR_NAME];
    processor_model(model);
    snprintf(place->processor, sizeof(place->processor), "%s, %s", model, vectors_name(vectors_level()));
    snprintf(place->gl, sizeof(place->gl), "%s", session->gl ? session->gl->name : "");
    if (!session->device)
        place->number = -1;
}

enum measure_end measure_here(const struct measure_here *setup, struct measure_place *place)
{
    struct chosen *chosen = setup->chosen;
    struct tuned tuned;
    struct bench_session session = {
        .test = &setup->measurement->test[0],
        .measurement = setup->measurement,
        .chosen = chosen,
        .tuned = &tuned,
        .slot_s = slot_s,
        .limit_s = setup->seconds > 0 ? setup->seconds : INFINITY,
        .rounds = setup->seconds > 0  ? MEASURE_ROUNDS_MAX
                  : setup->rounds > 0 ? setup->rounds
                                      : MEASURE_ROUNDS_HERE,
        .listener = setup->listener,
    };
    const char *why = "cannot open it";
    enum measure_end end = MEASURE_NOTHING;
    default_paths(chosen, setup->measurement->frames);
    if (!find_device(setup, place, &why))
        return end;
    const enum bench_gl gl = setup->measurement->frames ? BENCH_WINDOW
                             : any_needs(chosen, true)  ? BENCH_GL
                                                        : BENCH_PLAIN;
    tuned_init(&tuned);
    bench_begin(&session, place->number >= 0 ? &place->device : NULL, setup->kernels, gl);
    describe(place, &session);
    if (check_place(setup, &session, why) && (session.pool = pool_open(chosen->pictures)))
        end = setup->measurement->run(&session) ? MEASURE_ENDED : MEASURE_CASES;
    pool_close(session.pool);
    bench_end(&session);
    tuned_finish(&tuned);
    return end;
}

int chosen_thread_counts(const struct bench_session *session, enum path_kind path)
{
    return path == PATH_CPU ? session->chosen->threads : 1;
}

int chosen_threads(const struct bench_session *session, enum path_kind path, int index)
{
    if (path == PATH_CPU)
        return session->chosen->thread[index];
    if (!path_kind_info(path)->needs_device)
        return 0;
    return session->device->info.type & CL_DEVICE_TYPE_CPU ? session->device->info.compute_units : 0;
}
