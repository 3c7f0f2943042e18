// edits.c: changes of the wish's chain by hand, and their undo
#include "command/live/edits.h"

#include <string.h>

void edits_keep(struct edits *edits, const struct wish *wish, enum edit_run run)
{
    const int last = edits->count - 1;
    const bool goes_on =
        run != EDIT_ALONE && last >= 0 && edits->run == (int)run && edits->before[last].selected == wish->selected;
    edits->run = (int)run;
    if (goes_on)
        return;
    if (edits->count == EDITS) {
        memmove(&edits->before[0], &edits->before[1], (EDITS - 1) * sizeof(edits->before[0]));
        edits->count--;
    }
    edits->before[edits->count].chain = wish->chain;
    edits->before[edits->count++].selected = wish->selected;
}

bool edits_undo(struct edits *edits, struct wish *wish)
{
    if (edits->count == 0)
        return false;
    edits->count--;
    edits->run = EDIT_ALONE;
    wish->chain = edits->before[edits->count].chain;
    wish->selected = edits->before[edits->count].selected;
    chain_renew(&wish->chain); // its users' filters may have been edited since
    return true;
}

static void swap(struct chain *chain, int a, int b)
{
    const struct stage kept = chain->stage[a];
    chain->stage[a] = chain->stage[b];
    chain->stage[b] = kept;
}

// Returns the filter `step` places further among monocle's and the user's filters, from the end to the start, without
// `none`.
static const struct filter *filter_beside(const struct filter *filter, int step)
{
    const struct filter *other;
    int count = 0, index = 0;
    for (; (other = filter_at(count)); count++) {
        if (other == filter)
            index = count;
    }
    do {
        index = (index + step + count) % count;
        other = filter_at(index);
    } while (strcmp(other->name, "none") == 0);
    return other;
}

bool edits_add(struct edits *edits, struct wish *wish, const struct filter *filter)
{
    struct chain *chain = &wish->chain;
    int stage, param;
    if (chain->count == CHAIN_MAX)
        return false;
    edits_keep(edits, wish, EDIT_ALONE);
    const int at = wish_selected(wish, &stage, &param) ? stage + 1 : 0;
    chain_append(chain, filter ? filter : filter_beside(filter_find("none"), 1));
    for (int i = chain->count - 1; i > at; i--)
        swap(chain, i, i - 1);
    wish_select(wish, at);
    return true;
}

bool edits_put(struct edits *edits, struct wish *wish, const struct stage *stage)
{
    int at, param;
    if (wish_selected(wish, &at, &param) && wish->chain.stage[at].filter == stage->filter)
        edits_keep(edits, wish, EDIT_ALONE);
    else if (!edits_add(edits, wish, stage->filter))
        return false;
    wish_selected(wish, &at, &param);
    wish->chain.stage[at] = *stage;
    return true;
}

bool edits_remove(struct edits *edits, struct wish *wish)
{
    int stage, param;
    if (!wish_selected(wish, &stage, &param))
        return false;
    edits_keep(edits, wish, EDIT_ALONE);
    chain_remove(&wish->chain, stage);
    wish_select(wish, stage < wish->chain.count ? stage : wish->chain.count - 1);
    return true;
}

bool edits_move(struct edits *edits, struct wish *wish, int step)
{
    int stage, param;
    if (!wish_selected(wish, &stage, &param) || stage + step < 0 || stage + step >= wish->chain.count)
        return false;
    edits_keep(edits, wish, EDIT_ALONE);
    swap(&wish->chain, stage, stage + step);
    wish_select(wish, stage + step);
    return true;
}

bool edits_filter(struct edits *edits, struct wish *wish, int step)
{
    int stage, param;
    if (!wish_selected(wish, &stage, &param))
        return false;
    wish_select(wish, stage);
    edits_keep(edits, wish, EDIT_FILTER);
    return stage_init(&wish->chain.stage[stage], filter_beside(wish->chain.stage[stage].filter, step));
}
