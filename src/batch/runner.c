// runner.c: runs images of any size through one chain
#include "batch/worker.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/process.h"
#include "batch/names.h"
#include "matte/matte.h"

#include <stdlib.h>
#include <string.h>

static void add_member(struct fleet *fleet, const struct device_info *info, int number)
{
    struct fleet_member *member = &fleet->member[fleet->count++];
    *member = (struct fleet_member){.info = *info, .number = number};
    pthread_mutex_init(&member->lock, NULL);
}

bool fleet_init(struct fleet *fleet, const char *text, const char *kernel_dir, const char **why)
{
    struct device_info infos[DEVICE_MAX];
    if (fleet->count > 0)
        return true;
    fleet->kernel_dir = kernel_dir;
    const int count = device_list(infos, why);
    if (count == 0)
        return false;
    *why = NULL;
    if (text && strcmp(text, "all") == 0) {
        // GPUs are first in the list. A CPU device beside them would compete with the codecs for the CPU.
        for (int i = 0; i < count && infos[i].type == infos[0].type; i++)
            add_member(fleet, &infos[i], i);
        return true;
    }
    const int chosen = device_choose(infos, count, text);
    if (chosen >= 0)
        add_member(fleet, &infos[chosen], chosen);
    return chosen >= 0;
}

void fleet_finish(struct fleet *fleet)
{
    for (int i = 0; i < fleet->count; i++) {
        for (int k = 0; k < fleet->member[i].openings; k++)
            device_close(fleet->member[i].device[k]);
        pthread_mutex_destroy(&fleet->member[i].lock);
    }
}

// Returns the open device of a member and opens it first if needed. Any thread may call this: different members open
// at the same time. `lost` is the device that the caller found lost, NULL the first time. Returns NULL if the device
// cannot be opened (again); logged once.
static struct device *fleet_device(struct fleet *fleet, int index, const struct device *lost)
{
    struct fleet_member *member = &fleet->member[index];
    pthread_mutex_lock(&member->lock);
    struct device *device = member->openings > 0 ? member->device[member->openings - 1] : NULL;
    // If they differ, another thread has reopened the device already.
    if (device == lost && member->openings < FLEET_OPENINGS) {
        device = device_open(&member->info, NULL, fleet->kernel_dir);
        member->device[member->openings++] = device;
        if (!device)
            member->openings = FLEET_OPENINGS; // no further try; the entries in between stay NULL
    } else if (device == lost) {
        device = NULL;
    }
    pthread_mutex_unlock(&member->lock);
    return device;
}

static bool open_gl(struct runner *runner)
{
    char why[256];
    if (!(runner->gl = gl_context_open_current(why)))
        log_error("there is no GL context: %s; use -p cpu", why);
    return runner->gl;
}

// The cpu path ignores --kernels, so it cannot replace a device then.
static bool may_leave_device(const struct runner *runner)
{
    return runner->setup.member < 0 || !runner->setup.fleet->kernel_dir;
}

bool runner_open(struct runner *runner, const struct runner_setup *setup)
{
    *runner = (struct runner){.setup = *setup};
    if (setup->gl)
        return open_gl(runner);
    if (setup->member < 0)
        return true;
    runner->device = fleet_device(setup->fleet, setup->member, NULL);
    const bool lost = setup->fleet->member[setup->member].device[0] && !runner->device;
    return runner->device || (lost && may_leave_device(runner));
}

static void slot_close(struct runner_slot *slot)
{
    path_close(slot->path);
    free(slot->relative);
    *slot = (struct runner_slot){0};
}

void runner_close(struct runner *runner)
{
    for (int i = 0; i < RUNNER_SLOTS; i++)
        slot_close(&runner->slot[i]);
    gl_context_close_current(runner->gl);
    runner->gl = NULL;
    matte_end(0);
}

int runner_lag(const struct runner *runner)
{
    return runner->device || runner->gl ? 1 : 0;
}

static bool fits(const struct runner_slot *slot, const struct runner_request *request)
{
    return slot->path && image_shape_equal(&slot->input, &request->picture->shape) &&
           image_shape_equal(&slot->encode, &request->encode) && slot->fed == (request->feed != NULL) &&
           slot->turn.mirror == request->turn.mirror && slot->turn.flip == request->turn.flip &&
           (!slot->relative || strcmp(slot->relative, request->relative) == 0);
}

// Sets the names of the files that belong to one image. Returns false if a filter refuses its file; *why has the
// reason.
static bool name_files(struct chain *chain, const char *relative, bool *varies, char **why)
{
    bool ok = true;
    *varies = false;
    for (int i = 0; ok && i < chain->count; i++) {
        struct stage *stage = &chain->stage[i];
        const char *refused = "its name is too long";
        if (!chain_file(chain, i) || !filter_file_varies(&stage->values))
            continue;
        char *name = naming_file(stage->values.file, relative);
        ok = snprintf(stage->values.file, FILTER_FILE, "%s", name) < FILTER_FILE;
        stage->values.resource = NULL;
        ok = ok && stage_prepare(stage, &refused);
        if (!ok)
            *why = xprintf("%s: cannot use the file '%s': %s", stage->filter->name, name, refused);
        free(name);
        *varies = true;
    }
    return ok;
}

// Returns the pixels of the chain's input or output, whichever are more.
static uint64_t result_pixels(const struct image_shape *input, const struct chain *chain)
{
    int width = input->width, height = input->height;
    char error[CHAIN_ERROR];
    chain_output_size(chain, &width, &height, error);
    const uint64_t from = (uint64_t)input->width * (uint64_t)input->height, to = (uint64_t)width * (uint64_t)height;
    return from > to ? from : to;
}

// Opens the slot's path for the request. If the device cannot run it, opens a cpu path. Returns false on failure; *why
// has the reason or is NULL.
static bool slot_open(struct runner *runner, struct runner_slot *slot, const struct runner_request *request, char **why)
{
    const struct image_shape *input = &request->picture->shape;
    struct chain chain = {0};
    if (request->turn.mirror)
        chain_append(&chain, filter_find("mirror"));
    if (request->turn.flip)
        chain_append(&chain, filter_find("flip"));
    for (int i = 0; i < runner->setup.chain->count; i++)
        chain.stage[chain.count++] = runner->setup.chain->stage[i];
    *slot = (struct runner_slot){
        .input = *input, .encode = request->encode, .turn = request->turn, .fed = request->feed != NULL};
    bool varies;
    if (!name_files(&chain, request->relative, &varies, why))
        return false;
    slot->relative = varies ? xstrdup(request->relative) : NULL;
    if (!runner->device && !may_leave_device(runner)) {
        *why = xstrdup("the device was lost");
        return false;
    }
    const enum path_kind computed = runner->device ? PATH_OPENCL : PATH_CPU;
    struct path_setup setup = {
        .kind = runner->gl ? PATH_GL : computed,
        .device = runner->device,
        .gl = runner->gl,
        .input = slot->input,
        .encode = slot->encode,
        .encoded_only = slot->encode.width > 0,
        .fed = slot->fed,
        .chain = &chain,
        .depth = runner_lag(runner) + 1,
        .threads = runner->setup.threads,
        .tuned = runner->setup.tuned,
    };
    // for each image in flight: input, output, and the intermediate results of passes
    slot->bytes = (image_bytes(input) + 8 * result_pixels(input, &chain)) * RUNNER_FLIGHTS;
    slot->path = path_open(&setup, why);
    if (!slot->path && setup.kind != PATH_CPU && !process_interrupted() && may_leave_device(runner)) {
        log_message(LOG_WARN + LOG_LINES, "an image of %dx%d pixels runs on the cpu path: %s", input->width,
                    input->height, *why ? *why : "the device cannot run it");
        free(*why);
        setup.kind = PATH_CPU;
        slot->path = path_open(&setup, why);
    }
    return slot->path;
}

// Returns a free place for a path. Closes idle paths, the least recently used first, if no place is free or the open
// paths hold too much memory. At most RUNNER_FLIGHTS - 1 paths are busy, so a place can always be freed.
static struct runner_slot *free_slot(struct runner *runner)
{
    const uint64_t most = runner_lag(runner) ? runner->setup.keep_bytes : 0;
    for (;;) {
        struct runner_slot *empty = NULL, *idle = NULL;
        uint64_t bytes = 0;
        for (struct runner_slot *slot = runner->slot; slot < runner->slot + RUNNER_SLOTS; slot++) {
            bytes += slot->bytes;
            if (!slot->path)
                empty = slot;
            else if (path_info(slot->path)->in_flight == 0 && (!idle || slot->asked < idle->asked))
                idle = slot;
        }
        if (empty && (!idle || bytes <= most))
            return empty;
        slot_close(idle);
    }
}

// Returns the path for the request, and opens it if needed. Returns NULL on failure.
static struct runner_slot *slot_for(struct runner *runner, const struct runner_request *request, char **why)
{
    struct runner_slot *slot = runner->slot;
    while (slot < runner->slot + RUNNER_SLOTS && !fits(slot, request))
        slot++;
    if (slot == runner->slot + RUNNER_SLOTS) {
        slot = free_slot(runner);
        if (!slot_open(runner, slot, request, why)) {
            slot_close(slot);
            return NULL;
        }
    }
    slot->asked = ++runner->asked;
    return slot;
}

// After the loss of the device: reopens the device or changes to the cpu path. After a failure of GL: changes to the
// cpu path. The caller submits the images in flight again. Returns false if neither is possible.
static bool recover(struct runner *runner)
{
    const bool gl = runner->gl != NULL;
    runner_close(runner);
    runner->submitted = 0;
    if (gl)
        log_warn("the gl path failed; continuing on the cpu path");
    if (gl)
        return true;
    const char *name = runner->device->info.name; // the cpu path is never lost
    struct device *device = fleet_device(runner->setup.fleet, runner->setup.member, runner->device);
    if (device)
        log_warn("the device '%s' was lost and opened again; no image is lost", name);
    else if (!may_leave_device(runner))
        log_error("the device '%s' was lost and cannot be opened again", name);
    else
        log_warn("the device '%s' was lost; continuing on the cpu path", name);
    runner->device = device;
    runner->given_up = !device && !may_leave_device(runner);
    return !runner->given_up;
}

// Submits the requests that are not on a path yet. Returns false if the oldest one cannot be submitted.
static bool submit_waiting(struct runner *runner, bool *lost, char **why)
{
    while (runner->submitted < runner->flights) {
        const struct runner_request *request = &runner->flight[runner->submitted].request;
        struct runner_slot *slot = slot_for(runner, request, why);
        if (slot && path_info(slot->path)->in_flight == path_info(slot->path)->depth)
            return true; // a cpu path has replaced the device and takes one image at a time
        const struct frame_time frame_time = {.source = request->name, .wait_ms = -1};
        const uint64_t missed = matte_missed();
        if (slot && request->feed)
            path_feed(slot->path, request->feed, &frame_time);
        else if (!slot || !path_submit(slot->path, request->picture, &frame_time)) {
            *lost = slot && path_info(slot->path)->lost;
            if (runner->submitted == 0 || *lost)
                return false;
            free(*why); // of a later image, which is tried again
            *why = NULL;
            return true;
        }
        runner->flight[runner->submitted].no_matte = matte_missed() != missed;
        runner->flight[runner->submitted++].slot = slot;
    }
    return true;
}

void runner_submit(struct runner *runner, const struct runner_request *request)
{
    bool lost = false;
    char *why = NULL;
    runner->flight[runner->flights++].request = *request;
    if (runner_lag(runner))
        submit_waiting(runner, &lost, &why); // on failure, runner_collect tries again and returns the error
    free(why);
}

bool runner_collect(struct runner *runner, struct path_result *result, char **why)
{
    bool ok, lost;
    *why = NULL;
    do {
        lost = false;
        free(*why); // of an attempt before the device was opened again
        *why = NULL;
        ok = submit_waiting(runner, &lost, why);
        if (ok) {
            struct path *path = runner->flight[0].slot->path;
            ok = path_collect(path, result);
            lost = path_info(path)->lost;
        }
    } while (!ok && lost && recover(runner));
    if (ok) {
        const struct path *path = runner->flight[0].slot->path;
        runner->done_path = path;
        runner->done_by = path_kind_info(path_info(path)->kind)->needs_device
                              ? &runner->setup.fleet->member[runner->setup.member]
                              : NULL;
    }
    const bool no_matte = ok && runner->flight[0].no_matte;
    if (no_matte)
        *why = xstrdup("the program of a matte gave none");
    runner->flight[0] = runner->flight[1];
    runner->flights--;
    runner->submitted -= runner->submitted > 0;
    return ok && !no_matte;
}
