// automatic.c: chooses the kind of path of a stream
#include "stream/automatic.h"

#include "base/log.h"
#include "stream/panes.h"

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
static int find_candidates(const struct panes *panes, enum path_kind kinds[PATH_KINDS])
{
    const struct panes_setup *with = panes_parts(panes);
    const struct devices *d = with->devices;
    struct path_offer offer = panes_offer(panes);
    offer.cpu = offer.cpu && !d->named;
    offer.gl_gpu = offer.gl_gpu && !d->named;
    kinds[0] = panes_kind(panes);
    return d->kernels || has_previous(&with->settings->chain) ? 1 : path_candidates(&offer, kinds[0], kinds);
}

// Follows a change of the main pane.
static void follow_work(struct automatic *a, const struct panes *panes)
{
    const struct panes_setup *with = panes_parts(panes);
    struct path_choice *c = &a->choice;
    const struct image_shape *shape = &source_info(with->source)->shape;
    const struct path_work work = {with->settings->chain, shape->width, shape->height,
                                   settings_measures(with->settings), with->state->device};
    const enum path_change change = c->count == 0 ? WORK_MUCH : path_work_compare(&c->work, &work);
    enum path_kind kinds[PATH_KINDS];
    a->rebuilt = false;
    if (change == WORK_LITTLE && !path_choice_times(c))
        path_choice_check(c, &work);
    else if (change != WORK_SAME)
        path_choice_begin(c, kinds, find_candidates(panes, kinds), &work);
    if (c->count == 1 && with->state->why == c->why)
        with->state->why = NULL;
}

// Reports the choice after the last candidate. False: it is not made yet, or there was none to make.
static bool report_choice(const struct path_choice *c, struct stream_state *state)
{
    if (path_choice_times(c) || !c->why[0])
        return false;
    state->kind = path_choice_kind(c);
    state->why = c->why;
    log_info("%s", c->why);
    return true;
}

bool automatic_follow(struct automatic *a, struct panes *panes)
{
    const struct panes_setup *with = panes_parts(panes);
    struct path_choice *c = &a->choice;
    bool chosen = false;
    with->state->timed = false;
    if (!with->state->automatic) {
        c->count = c->at = 0;
        a->tries = false;
        return false;
    }
    // A second pane, and the candidates of a tuning, would change the times.
    if (with->settings->tune || with->settings->split != SPLIT_OFF || panes_busy(panes))
        return false;
    if (a->rebuilt || c->count == 0)
        follow_work(a, panes);
    if (a->tries && panes_kind(panes) != path_choice_kind(c)) {
        path_choice_refuse(c);
        chosen = report_choice(c, with->state);
    }
    a->tries = panes_kind(panes) != path_choice_kind(c);
    with->state->timed = path_choice_times(c) && !a->tries;
    if (a->tries) {
        with->state->kind = path_choice_kind(c);
        if (path_choice_times(c))
            with->state->why = NULL;
        panes_try(panes);
    }
    return chosen;
}

bool automatic_add(struct automatic *a, struct panes *panes, int64_t collected_ns)
{
    const struct panes_setup *with = panes_parts(panes);
    if (!with->state->timed)
        return false;
    path_choice_add(&a->choice,
                    (double)(collected_ns - a->submitted_ns) / 1e6 + meter_shown_ms(with->meter, "texture upload"));
    return report_choice(&a->choice, with->state);
}

bool automatic_busy(const struct automatic *a)
{
    return path_choice_times(&a->choice) || a->tries;
}
