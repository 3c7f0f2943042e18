// automatic.c: chooses the kind of path of a stream
#include "stream/automatic.h"

#include "base/log.h"
#include "stream/stream.h"

// A change of the path would reset a filter that gets its previous output or input.
static bool has_previous(const struct chain *chain)
{
    bool has = false;
    for (int i = 0; i < chain->count; i++)
        has = has || filter_gets_previous(chain->stage[i].filter);
    return has;
}

// Writes the kinds for the main pane's chain, the one in use first. Other kinds do not run on a device that the user
// named, nor exactly the user's kernels.
static int find_candidates(const struct stream *s, enum path_kind kinds[PATH_KINDS])
{
    const struct devices *d = &s->devices;
    const struct gl_context *gl = s->window ? window_gl(s->window) : s->gl;
    struct path_offer offer = devices_offer(d, &s->state, &s->settings.chain, gl);
    offer.cpu = offer.cpu && !d->named;
    offer.gl_gpu = offer.gl_gpu && !d->named;
    kinds[0] = panes_kind(s->panes);
    return d->kernels || has_previous(&s->settings.chain) ? 1 : path_candidates(&offer, kinds[0], kinds);
}

// Follows a change of the main pane.
static void follow_work(struct stream *s)
{
    struct path_choice *c = &s->automatic.choice;
    const struct image_shape *shape = &s->info->shape;
    const struct path_work work = {s->settings.chain, shape->width, shape->height, settings_measures(&s->settings),
                                   s->state.device};
    const enum path_change change = c->count == 0 ? WORK_MUCH : path_work_compare(&c->work, &work);
    enum path_kind kinds[PATH_KINDS];
    s->automatic.rebuilt = false;
    if (change == WORK_LITTLE && !path_choice_times(c))
        path_choice_check(c, &work);
    else if (change != WORK_SAME)
        path_choice_begin(c, kinds, find_candidates(s, kinds), &work);
    if (c->count == 1 && s->state.why == c->why)
        s->state.why = NULL;
}

// Reports the choice after the last candidate.
static void report_choice(struct stream *s)
{
    const struct path_choice *c = &s->automatic.choice;
    if (path_choice_times(c) || !c->why[0])
        return;
    s->state.kind = path_choice_kind(c);
    s->state.why = c->why;
    log_info("%s", c->why);
    if (s->set.client->changed)
        s->set.client->changed(s->set.context);
}

void automatic_follow(struct stream *s)
{
    struct path_choice *c = &s->automatic.choice;
    s->meter.waits_upload = false;
    if (!s->state.automatic)
        c->count = c->at = 0;
    // A second pane, and the candidates of a tuning, would change the times.
    if (!s->state.automatic || s->settings.tune || s->settings.split != SPLIT_OFF || panes_busy(s->panes))
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
        s->state.kind = path_choice_kind(c);
        if (path_choice_times(c))
            s->state.why = NULL;
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
    return s->state.automatic && (path_choice_times(&s->automatic.choice) || s->automatic.tries);
}
