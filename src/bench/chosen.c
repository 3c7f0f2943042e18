// chosen.c: measures what the user chose in this process: takes chains, sizes and formats, opens device and GL
#include "bench/chosen.h"

#include "base/log.h"
#include "base/vectors.h"
#include "bench/pool.h"
#include "bench/session.h"
#include "compute/tuned.h"
#include "image/color.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- the choice ----

enum { ITEM_BYTES = 64 };

bool cases_add_chain(struct cases *cases, const char *text)
{
    char error[CHAIN_ERROR];
    if (cases->chains == CASES_CHAINS) {
        log_error("--filter: there are more than %d chains; measure them in several runs", CASES_CHAINS);
        return false;
    }
    struct case_chain *added = &cases->chain[cases->chains++];
    added->text = text;
    if (chain_parse(&added->chain, text, error))
        return true;
    log_error("--filter: %s", error);
    return false;
}

bool cases_shape(struct image_shape *shape, enum pixfmt format, struct option_size size)
{
    const struct color unknown = {0};
    const char *why;
    *shape = (struct image_shape){.format = format, .width = size.width, .height = size.height};
    if (!pixfmt_size_ok(format, size.width, size.height, &why)) {
        log_error("cannot measure %dx%d: %s", size.width, size.height, why);
        return false;
    }
    shape->color = color_resolve(unknown, unknown, format == PIXFMT_GREY, size.width, size.height);
    return true;
}

bool cases_each(const char *option, const char *text, bool (*take)(void *context, const char *item), void *context)
{
    int items = 0;
    for (const char *at = text; at; items++) {
        const size_t length = strcspn(at, ",");
        char item[ITEM_BYTES];
        if (items == CASES_LIST || length >= sizeof(item)) {
            log_error("--%s: '%s' is too long; give at most %d items", option, text, CASES_LIST);
            return false;
        }
        snprintf(item, sizeof(item), "%.*s", (int)length, at);
        if (!take(context, item))
            return false;
        at = at[length] ? at + length + 1 : NULL;
    }
    return true;
}

static bool take_size(void *context, const char *item)
{
    struct cases *cases = context;
    if (options_parse_size(item, &cases->size[cases->sizes++]))
        return true;
    log_error("--sizes is '%s', but must be WIDTHxHEIGHT, such as 1920x1080", item);
    return false;
}

bool cases_take_sizes(struct cases *cases, const char *text)
{
    return cases_each("sizes", text, take_size, cases);
}

static bool take_format(void *context, const char *item)
{
    struct cases *cases = context;
    const char *names[PIXFMT_COUNT + 1] = {NULL};
    if (pixfmt_from_name(item, &cases->format[cases->formats++])) // upper or lower case, also alternative names
        return true;
    for (int i = 0; i < PIXFMT_COUNT; i++)
        names[i] = pixfmt_info((enum pixfmt)i)->name;
    options_choose(item, "pixel format", names);
    return false;
}

bool cases_take_formats(struct cases *cases, const char *text)
{
    return cases_each("formats", text, take_format, cases);
}

bool cases_take_chains(struct cases *cases, const struct option_texts *texts)
{
    for (int i = 0; i < texts->count; i++) {
        if (strcmp(texts->text[i], "all") != 0) {
            if (!cases_add_chain(cases, texts->text[i]))
                return false;
            continue;
        }
        for (int k = 0; filters[k]; k++) {
            if (!cases_add_chain(cases, filters[k]->name))
                return false;
        }
    }
    return true;
}

// ---- the measurement ----

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
static bool find_device(const struct bench_chosen_setup *setup, struct bench_machine *place, const char **why)
{
    struct device_info devices[DEVICE_MAX];
    place->number = -1;
    if (!any_needs(setup->chosen, false))
        return true;
    const int count = device_list(devices, why);
    if (count > 0 && (place->number = device_choose(devices, count, setup->device)) < 0)
        return false;
    if (count > 0) {
        place->device = devices[place->number];
        *why = "it cannot be opened";
    }
    return true;
}

// Leaves out the paths whose device or GL is missing. Returns false if the user insists on them (logged).
static bool check_place(const struct bench_chosen_setup *setup, const struct bench_session *session, const char *why)
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

static void describe(struct bench_machine *place, const struct bench_session *session)
{
    char model[PROCESSOR_NAME];
    processor_model(model);
    snprintf(place->processor, sizeof(place->processor), "%s, %s", model, vectors_name(vectors_level()));
    snprintf(place->gl, sizeof(place->gl), "%s", session->gl ? session->gl->name : "");
    if (!session->device)
        place->number = -1;
}

enum bench_outcome bench_chosen_run(const struct bench_chosen_setup *setup, struct bench_machine *place)
{
    struct chosen *chosen = setup->chosen;
    struct tuned tuned;
    struct bench_session session = {
        .test = &setup->measurement->test[0],
        .measurement = setup->measurement,
        .chosen = chosen,
        .tuned = &tuned,
        .slot_s = slot_s,
        .limit_s = INFINITY,
        .rounds = setup->rounds > 0 ? setup->rounds : BENCH_ROUNDS_CHOSEN,
        .listener = setup->listener,
    };
    if (setup->seconds > 0) {
        session.limit_s = setup->seconds;
        session.rounds = BENCH_ROUNDS_MAX;
    }
    const char *why = "";
    enum bench_outcome end = BENCH_NOTHING;
    default_paths(chosen, setup->measurement->frames);
    if (!find_device(setup, place, &why))
        return end;
    enum bench_gl gl = any_needs(chosen, true) ? BENCH_GL : BENCH_PLAIN;
    if (setup->measurement->frames)
        gl = BENCH_WINDOW;
    tuned_init(&tuned);
    bench_begin(&session, place->number >= 0 ? &place->device : NULL, setup->kernels, gl);
    describe(place, &session);
    if (check_place(setup, &session, why) && (session.pool = pool_open(chosen->pictures)))
        end = setup->measurement->run(&session) ? BENCH_ENDED : BENCH_CASES;
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
