// wish.c: the user's settings
#include "stream/wish.h"

#include <string.h>

void wish_init(struct wish *wish, const struct chain *chain, int path)
{
    *wish = (struct wish){
        .kind = path_named(path) ? (enum path_kind)path : PATH_DEFAULT,
        .automatic = !path_named(path),
        .device = -1,
        .divider = 0.5f,
        .zoom_x = 0.5f,
        .zoom_y = 0.5f,
        .vsync = true,
        .overlay = OVERLAY_SMALL,
    };
    if (chain)
        wish->chain = *chain;
    wish_select_first(wish);
}

// Returns the places of a stage that can be selected: its parameters, or the stage itself.
static int places(const struct stage *stage)
{
    const int count = filter_param_count(stage->filter);
    return count > 0 ? count : 1;
}

int wish_places(const struct wish *wish)
{
    int count = 0;
    for (int i = 0; i < wish->chain.count; i++)
        count += places(&wish->chain.stage[i]);
    return count;
}

void wish_select(struct wish *wish, int stage)
{
    wish->selected = 0;
    for (int i = 0; i < stage; i++)
        wish->selected += places(&wish->chain.stage[i]);
}

void wish_select_first(struct wish *wish)
{
    const struct chain *chain = &wish->chain;
    int stage = 0;
    while (stage < chain->count && filter_param_count(chain->stage[stage].filter) == 0)
        stage++;
    wish_select(wish, stage < chain->count ? stage : 0);
}

bool wish_selected(const struct wish *wish, int *stage, int *param)
{
    int left = wish->selected;
    for (int i = 0; i < wish->chain.count; i++) {
        const int count = places(&wish->chain.stage[i]);
        if (left < count) {
            *stage = i;
            *param = filter_param_count(wish->chain.stage[i].filter) > 0 ? left : -1;
            return true;
        }
        left -= count;
    }
    return false;
}

unsigned wish_measures(const struct wish *wish)
{
    static const unsigned measures[SCOPES] = {
        [SCOPE_HISTOGRAM] = MEASURE_HISTOGRAM, [SCOPE_COLUMNS] = MEASURE_COLUMNS, [SCOPE_ROWS] = MEASURE_ROWS};
    return measures[wish->scope];
}

bool wish_mirrored(const struct wish *wish)
{
    const struct chain *chain = &wish->chain;
    return chain->count > 0 && chain->stage[chain->count - 1].filter->mirror;
}

enum path_kind wish_next_kind(const struct wish *wish)
{
    enum path_kind kind = wish->kind;
    const struct path_kind_info *info;
    do {
        kind = (enum path_kind)((kind + 1) % PATH_KINDS);
        info = path_kind_info(kind);
    } while ((info->needs_device && wish->device < 0) || (info->needs_gl && !wish->gl));
    return kind;
}

void wish_restore_filters(struct wish *wish, const struct chain *runs)
{
    struct chain *chain = &wish->chain;
    int stage, param;
    for (int i = 0; i < chain->count; i++) {
        const struct filter *filter = chain->stage[i].filter;
        for (int k = 0; filter->user && k < runs->count; k++) {
            const struct filter *old = runs->stage[k].filter;
            if (old != filter && strcmp(old->name, filter->name) == 0)
                chain_replace(chain, i, old);
        }
    }
    if (!wish_selected(wish, &stage, &param)) // they have fewer parameters
        wish->selected = 0;
}
