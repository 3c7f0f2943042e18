// path_choice.c: chooses the fastest kind of path from the times of frames
#include "stream/path_choice.h"

#include "base/stats.h"

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
