// settings.c: the user's settings
#include "stream/settings.h"

#include <string.h>

void settings_init(struct settings *settings, const struct chain *chain, int path)
{
    *settings = (struct settings){
        .path = path_named(path) ? path : PATH_AUTO,
        .divider = 0.5f,
        .zoom_x = 0.5f,
        .zoom_y = 0.5f,
        .vsync = true,
        .overlay = OVERLAY_SMALL,
    };
    if (chain)
        settings->chain = *chain;
    settings_select_first(settings);
}

// Returns the places of a stage that can be selected: its parameters, or the stage itself.
static int places(const struct stage *stage)
{
    const int count = filter_param_count(stage->filter);
    return count > 0 ? count : 1;
}

int settings_places(const struct settings *settings)
{
    int count = 0;
    for (int i = 0; i < settings->chain.count; i++)
        count += places(&settings->chain.stage[i]);
    return count;
}

void settings_select(struct settings *settings, int stage)
{
    settings->selected = 0;
    for (int i = 0; i < stage; i++)
        settings->selected += places(&settings->chain.stage[i]);
}

void settings_select_first(struct settings *settings)
{
    const struct chain *chain = &settings->chain;
    int stage = 0;
    while (stage < chain->count && filter_param_count(chain->stage[stage].filter) == 0)
        stage++;
    settings_select(settings, stage < chain->count ? stage : 0);
}

bool settings_selected(const struct settings *settings, int *stage, int *param)
{
    int left = settings->selected;
    for (int i = 0; i < settings->chain.count; i++) {
        const int count = places(&settings->chain.stage[i]);
        if (left < count) {
            *stage = i;
            *param = filter_param_count(settings->chain.stage[i].filter) > 0 ? left : -1;
            return true;
        }
        left -= count;
    }
    return false;
}

unsigned settings_measures(const struct settings *settings)
{
    static const unsigned measures[SCOPES] = {
        [SCOPE_HISTOGRAM] = MEASURE_HISTOGRAM, [SCOPE_COLUMNS] = MEASURE_COLUMNS, [SCOPE_ROWS] = MEASURE_ROWS};
    return measures[settings->scope];
}

bool settings_mirrored(const struct settings *settings)
{
    const struct chain *chain = &settings->chain;
    return chain->count > 0 && chain->stage[chain->count - 1].filter->mirror;
}

void settings_restore_filters(struct settings *settings, const struct chain *runs)
{
    struct chain *chain = &settings->chain;
    int stage, param;
    for (int i = 0; i < chain->count; i++) {
        const struct filter *filter = chain->stage[i].filter;
        for (int k = 0; filter->user && k < runs->count; k++) {
            const struct filter *old = runs->stage[k].filter;
            if (old != filter && strcmp(old->name, filter->name) == 0)
                chain_replace(chain, i, old);
        }
    }
    if (!settings_selected(settings, &stage, &param)) // they have fewer parameters
        settings->selected = 0;
}
