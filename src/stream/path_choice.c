// path_choice.c: chooses the fastest kind of path from the times of frames
#include "stream/path_choice.h"

#include "base/log.h"
#include "base/stats.h"
#include "stream/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double GAIN = 0.9, MUCH_TIME = 1.5, MUCH_PIXELS = 1.25;

static bool can_work(const struct path_offer *offer, const struct path_kind_info *kind)
{
    if (kind->needs_device)
        return kind->shares_gl ? offer->gpu : offer->shares; // without sharing, zerocopy itself is gl or opencl
    if (kind->needs_gl)
        return offer->gl && (offer->shares || !offer->gpu);
    return offer->cpu && (offer->gpu || offer->gl);
}

int path_candidates(const struct path_offer *offer, enum path_kind first, enum path_kind kinds[PATH_KINDS])
{
    int count = 0;
    kinds[count++] = first;
    for (int kind = PATH_KINDS - 1; kind >= 0; kind--) {
        if (kind != (int)first && can_work(offer, path_kind_info((enum path_kind)kind)))
            kinds[count++] = (enum path_kind)kind;
    }
    return count;
}

static bool changed_by(double factor, double before, double now)
{
    return now > before * factor || now * factor < before;
}

enum path_change path_work_compare(const struct path_work *before, const struct path_work *now)
{
    const struct chain *a = &before->chain, *b = &now->chain;
    char text_a[CHAIN_TEXT], text_b[CHAIN_TEXT];
    bool other = before->device != now->device || a->count != b->count ||
                 changed_by(MUCH_PIXELS, (double)before->width * before->height, (double)now->width * now->height);
    for (int i = 0; !other && i < a->count; i++)
        other = a->stage[i].filter != b->stage[i].filter;
    if (other)
        return WORK_MUCH;
    chain_print(a, text_a);
    chain_print(b, text_b);
    const bool same = before->width == now->width && before->height == now->height &&
                      before->measures == now->measures && strcmp(text_a, text_b) == 0;
    return same ? WORK_SAME : WORK_LITTLE;
}

// Begins with the kind in use.
static void time_first(struct path_choice *c, bool all, const struct path_work *work)
{
    c->all = all;
    c->work = *work;
    c->at = c->count > 1 ? 0 : c->count;
    c->frames = 0;
}

void path_choice_begin(struct path_choice *c, const enum path_kind *kinds, int count, const struct path_work *work)
{
    c->count = count;
    for (int i = 0; i < count; i++)
        c->candidate[i] = (struct path_candidate){.kind = kinds[i]};
    time_first(c, true, work);
}

void path_choice_check(struct path_choice *c, const struct path_work *work)
{
    time_first(c, false, work);
}

bool path_choice_times(const struct path_choice *c)
{
    return c->at < c->count;
}

enum path_kind path_choice_kind(const struct path_choice *c)
{
    return c->candidate[path_choice_times(c) ? c->at : 0].kind;
}

static int by_time(const void *a, const void *b)
{
    const struct path_candidate *one = a, *other = b;
    return (one->ms > other->ms) - (one->ms < other->ms);
}

// Moves the chosen candidate to the front, sorts the others, and describes them.
static void choose(struct path_choice *c)
{
    const struct path_candidate used = c->candidate[0];
    int used_at = 0, length = 0;
    qsort(c->candidate, (size_t)c->count, sizeof(c->candidate[0]), by_time);
    while (c->candidate[used_at].kind != used.kind)
        used_at++;
    if (c->candidate[0].ms >= GAIN * used.ms) {
        memmove(&c->candidate[1], &c->candidate[0], (size_t)used_at * sizeof(used));
        c->candidate[0] = used;
    }
    for (int i = 0; i < c->count; i++)
        length += snprintf(c->why + length, sizeof(c->why) - (size_t)length, "%s%s %.2f%s", i == 0 ? "auto: " : ", ",
                           path_kind_name(c->candidate[i].kind), c->candidate[i].ms, i == 0 ? " ms" : "");
}

// Begins with candidate[at], or chooses if there is none.
static void go_on(struct path_choice *c)
{
    c->frames = 0;
    if (!path_choice_times(c))
        choose(c);
}

void path_choice_add(struct path_choice *c, double ms)
{
    struct path_candidate *timed = &c->candidate[c->at];
    if (c->frames >= CHOICE_SKIPPED)
        c->frame_ms[c->frames - CHOICE_SKIPPED] = ms;
    if (++c->frames < CHOICE_SKIPPED + CHOICE_TIMED)
        return;
    const double now_ms = values_percentile(c->frame_ms, CHOICE_TIMED, 50);
    c->all = c->all || changed_by(MUCH_TIME, timed->ms, now_ms);
    if (!c->all) {
        c->at = c->count;
        return;
    }
    timed->ms = now_ms;
    c->at++;
    go_on(c);
}

void path_choice_refuse(struct path_choice *c)
{
    const int out = path_choice_times(c) ? c->at : 0;
    c->count--;
    memmove(&c->candidate[out], &c->candidate[out + 1], (size_t)(c->count - out) * sizeof(c->candidate[0]));
    c->at = out;
    go_on(c);
}

// ---- the choice of a stream ----

// A change of the path would reset a filter that gets its previous output.
static bool has_previous(const struct chain *chain)
{
    bool has = false;
    for (int i = 0; i < chain->count; i++)
        has = has || chain->stage[i].filter->second == SECOND_PREVIOUS;
    return has;
}

// Writes the kinds for the main pane's chain, the one in use first. Other kinds do not run on a device that the user
// named, nor exactly the user's kernels.
static int find_candidates(const struct stream *s, enum path_kind kinds[PATH_KINDS])
{
    const struct devices *d = &s->devices;
    const struct gl_context *gl = s->window ? window_gl(s->window) : s->gl;
    const struct device *device = s->wish.device >= 0 ? d->device[s->wish.device] : NULL;
    const bool gpu = device && !(device->info.type & CL_DEVICE_TYPE_CPU);
    const struct path_offer offer = {
        .gpu = gpu,
        .shares = gpu && d->window && device->shares_gl,
        .gl = gl && !gl->software && !d->named,
        .cpu = path_compiles(&s->wish.chain) && !d->named,
    };
    kinds[0] = panes_kind(s->panes);
    return d->kernels || has_previous(&s->wish.chain) ? 1 : path_candidates(&offer, kinds[0], kinds);
}

// Follows a change of the main pane.
static void follow_work(struct stream *s)
{
    struct path_choice *c = &s->automatic.choice;
    const struct image_shape *shape = &s->info->shape;
    const struct path_work work = {s->wish.chain, shape->width, shape->height, wish_measures(&s->wish), s->wish.device};
    const enum path_change change = c->count == 0 ? WORK_MUCH : path_work_compare(&c->work, &work);
    enum path_kind kinds[PATH_KINDS];
    s->automatic.rebuilt = false;
    if (change == WORK_LITTLE && !path_choice_times(c))
        path_choice_check(c, &work);
    else if (change != WORK_SAME)
        path_choice_begin(c, kinds, find_candidates(s, kinds), &work);
    if (c->count == 1 && s->wish.chosen_why == c->why)
        s->wish.chosen_why = NULL;
}

// Reports the choice after the last candidate.
static void report_choice(struct stream *s)
{
    const struct path_choice *c = &s->automatic.choice;
    if (path_choice_times(c) || !c->why[0])
        return;
    s->wish.chosen_kind = path_choice_kind(c);
    s->wish.chosen_why = c->why;
    log_info("%s", c->why);
    if (s->set.client->changed)
        s->set.client->changed(s->set.context);
}

void automatic_follow(struct stream *s)
{
    struct path_choice *c = &s->automatic.choice;
    s->meter.waits_upload = false;
    if (!s->wish.automatic)
        c->count = c->at = 0;
    // A second pane, and the candidates of a tuning, would change the times.
    if (!s->wish.automatic || s->wish.tune || s->wish.split != SPLIT_OFF || panes_busy(s->panes))
        return;
    if (s->automatic.rebuilt || c->count == 0)
        follow_work(s);
    if (s->automatic.tries && panes_kind(s->panes) != path_choice_kind(c)) {
        path_choice_refuse(c);
        report_choice(s);
    }
    s->automatic.tries = panes_kind(s->panes) != path_choice_kind(c);
    s->meter.waits_upload = path_choice_times(c) && !s->automatic.tries;
    if (s->automatic.tries) {
        s->wish.kind = path_choice_kind(c);
        panes_try(s->panes);
    }
}

void automatic_add(struct stream *s, int64_t collected_ns)
{
    struct path_choice *c = &s->automatic.choice;
    if (!s->meter.waits_upload)
        return;
    path_choice_add(c, (double)(collected_ns - s->automatic.submitted_ns) / 1e6 +
                           meter_shown_ms(&s->meter, "texture upload"));
    report_choice(s);
}

bool automatic_busy(const struct stream *s)
{
    return s->wish.automatic && (path_choice_times(&s->automatic.choice) || s->automatic.tries);
}
