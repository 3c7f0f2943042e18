// choice.c: chooses the kind of path: by rules, or by the times of frames
#include "path/choice.h"

#include "base/stats.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double GAIN = 0.9, MUCH_TIME = 1.5, MUCH_PIXELS = 1.25;

// Returns true if a path of this kind has the device or the GL context that it needs.
static bool is_offered(const struct path_offer *offer, enum path_kind kind)
{
    const struct path_kind_info *info = path_kind_info(kind);
    return (!info->needs_device || offer->device) && (!info->needs_gl || offer->gl);
}

enum path_kind path_first(const struct path_offer *offer)
{
    if (offer->gpu)
        return PATH_DEFAULT;
    return offer->gl_gpu || !offer->cpu ? PATH_GL : PATH_CPU;
}

enum path_kind path_next(const struct path_offer *offer, enum path_kind kind)
{
    do
        kind = (enum path_kind)((kind + 1) % PATH_KINDS);
    while (!is_offered(offer, kind) && kind != PATH_CPU);
    return kind;
}

// Without sharing, opencl and zerocopy do the same work.
static bool worth_timing(const struct path_offer *offer, const struct path_kind_info *kind)
{
    if (kind->needs_device)
        return offer->gpu && (kind->shares_gl || offer->shares);
    if (kind->needs_gl)
        return offer->gl_gpu;
    return offer->cpu && (offer->gpu || offer->gl_gpu);
}

int path_candidates(const struct path_offer *offer, enum path_kind used, enum path_kind kinds[PATH_KINDS])
{
    int count = 0;
    kinds[count++] = used;
    for (int kind = PATH_KINDS - 1; kind >= 0; kind--) {
        if (kind != (int)used && worth_timing(offer, path_kind_info((enum path_kind)kind)))
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

int path_fastest(const struct path_candidate *candidates, int count, double gain)
{
    int fastest = 0;
    for (int i = 1; i < count; i++) {
        if (candidates[i].ms < candidates[fastest].ms)
            fastest = i;
    }
    return candidates[fastest].ms < gain * candidates[0].ms ? fastest : 0;
}

// Moves the chosen candidate to the front, sorts the others, and describes them.
static void choose(struct path_choice *c)
{
    const int fastest = path_fastest(c->candidate, c->count, GAIN);
    const struct path_candidate chosen = c->candidate[fastest];
    int length = 0;
    c->candidate[fastest] = c->candidate[0];
    c->candidate[0] = chosen;
    if (c->count > 2)
        qsort(c->candidate + 1, (size_t)c->count - 1, sizeof(chosen), by_time);
    for (int i = 0; i < c->count; i++)
        length += snprintf(c->why + length, sizeof(c->why) - (size_t)length, "%s%s %.2f%s", i == 0 ? "auto: " : ", ",
                           path_kind_name(c->candidate[i].kind), c->candidate[i].ms, text_if(i == 0, " ms"));
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
