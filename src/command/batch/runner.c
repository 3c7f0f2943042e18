// runner.c: pictures of any size through one chain
#include "command/batch/runner.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

bool runner_open(struct runner *runner, const struct runner_setup *setup)
{
    *runner = (struct runner){.setup = *setup};
    if (setup->member >= 0)
        runner->device = fleet_device(setup->fleet, setup->member, NULL);
    return setup->member < 0 || runner->device;
}

void runner_close(struct runner *runner)
{
    path_close(runner->path);
    runner->path = NULL;
}

int runner_lag(const struct runner *runner)
{
    return runner->device ? RUNNER_LAG : 0;
}

const char *runner_device_name(const struct runner *runner)
{
    return runner->device && path_kind(runner->path) != PATH_CPU ? runner->device->info.name : "cpu";
}

static bool turns_alike(struct codec_turn a, struct codec_turn b)
{
    return a.mirror == b.mirror && a.flip == b.flip;
}

static bool fits(const struct runner *runner, const struct runner_job *job)
{
    return runner->path && image_shape_equal(&runner->input, &job->picture->shape) &&
           image_shape_equal(&runner->encode, &job->encode) && turns_alike(runner->turn, job->turn);
}

static void make_chain(struct runner *runner)
{
    runner->chain.count = 0;
    if (runner->turn.mirror)
        chain_append(&runner->chain, filter_find("mirror"));
    if (runner->turn.flip)
        chain_append(&runner->chain, filter_find("flip"));
    const struct chain *chain = runner->setup.chain;
    for (int i = 0; i < chain->count; i++)
        runner->chain.stage[runner->chain.count++] = chain->stage[i];
}

// Makes the path one for such pictures; nothing may be on it.
static bool fit(struct runner *runner, const struct runner_job *job, char **why)
{
    runner_close(runner);
    runner->input = job->picture->shape;
    runner->encode = job->encode;
    runner->turn = job->turn;
    make_chain(runner);
    struct path_setup setup = {
        .kind = runner->device ? PATH_OPENCL : PATH_CPU,
        .device = runner->device,
        .input = runner->input,
        .encode = runner->encode,
        .encoded_only = runner->encode.width > 0,
        .chain = &runner->chain,
        .depth = runner_lag(runner) + 1,
        .threads = runner->setup.threads,
    };
    runner->path = path_open(&setup, why);
    if (runner->path || !runner->device)
        return runner->path;
    log_info("a picture of %dx%d goes through the cpu path: %s", runner->input.width, runner->input.height,
             *why ? *why : "the device cannot take it");
    free(*why);
    setup.kind = PATH_CPU;
    runner->path = path_open(&setup, why);
    return runner->path;
}

// After a loss: the device opened anew, or the cpu path. What was on the path is to be submitted again.
static bool recover(struct runner *runner)
{
    const char *name = runner->device ? runner->device->info.name : "cpu";
    runner_close(runner);
    runner->submitted = 0;
    runner->recovering = true;
    if (!runner->device)
        return false; // the cpu path has nothing to be lost
    struct device *device = fleet_device(runner->setup.fleet, runner->setup.member, runner->device);
    if (device)
        log_warn("the device '%s' was lost; it is open again, and no picture is lost", name);
    else
        log_warn("the device '%s' was lost; going on with the cpu path", name);
    runner->device = device;
    return true;
}

// Submits what fits. False where the oldest cannot be.
static bool pump(struct runner *runner, bool *lost, char **why)
{
    while (runner->submitted < runner->flights) {
        const struct runner_job *job = &runner->flight[runner->submitted];
        if (!fits(runner, job)) {
            if (runner->submitted > 0)
                return true; // once those ahead are through
            if (!fit(runner, job, why))
                return false;
        }
        if (path_in_flight(runner->path) == path_depth(runner->path))
            return true;
        if (!path_submit(runner->path, job->picture, 0, lost))
            return runner->submitted > 0 && !*lost;
        runner->submitted++;
    }
    return true;
}

void runner_submit(struct runner *runner, const struct runner_job *job)
{
    bool lost = false;
    char *why = NULL;
    runner->flight[runner->flights++] = *job;
    if (runner->device)
        pump(runner, &lost, &why); // a failure shows again when it is collected
    free(why);
}

static void drop_oldest(struct runner *runner)
{
    memmove(&runner->flight[0], &runner->flight[1], sizeof(runner->flight) - sizeof(runner->flight[0]));
    runner->flights--;
    runner->submitted -= runner->submitted > 0;
}

bool runner_collect(struct runner *runner, struct path_result *result, char **why)
{
    *why = NULL;
    for (;;) {
        bool lost = false;
        bool ok = pump(runner, &lost, why) && path_collect(runner->path, result, &lost);
        if (!ok && lost && recover(runner))
            continue;
        runner->given_up = runner->given_up || (!ok && runner->recovering);
        runner->recovering = runner->recovering && !ok;
        drop_oldest(runner);
        return ok;
    }
}
