// settings.c: the user's settings, and the changes of their chain
#include "stream/settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Selects the first parameter, of the look if it can.
static void select_first(struct settings *settings)
{
    const struct chain *chain = &settings->chain;
    int best = 0, first = 0;
    for (int i = 0; i < chain->count; i++) {
        const int rank = 2 * (chain->stage[i].part == PART_LOOK) + (filter_param_count(chain->stage[i].filter) > 0);
        first = rank > best ? i : first;
        best = rank > best ? rank : best;
    }
    settings_select(settings, first);
}

void settings_init(struct settings *settings, const struct chain *chain, int path)
{
    *settings = (struct settings){
        .path = path_named(path) ? path : PATH_AUTO,
        .divider = 0.5f,
        .zoom_x = 0.5f,
        .zoom_y = 0.5f,
        .vsync = true,
        .overlay = OVERLAY_SMALL,
        .matte_wait = -1,
        .show = -1,
    };
    if (chain)
        settings->chain = *chain;
    select_first(settings);
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

bool settings_put_part(struct settings *settings, enum chain_part which, const struct chain *part,
                       char error[CHAIN_ERROR])
{
    const int before = settings_places(settings);
    int stage, param;
    const enum chain_part selected =
        settings_selected(settings, &stage, &param) ? settings->chain.stage[stage].part : which;
    if (!chain_put_part(&settings->chain, which, part, error))
        return false;
    if (which == PART_LOOK || selected == which)
        select_first(settings);
    else if (selected > which)
        settings->selected += settings_places(settings) - before;
    return true;
}

void settings_cut(const struct settings *settings, struct chain *chain)
{
    while (settings->show >= 0 && chain->count > settings->show)
        chain_remove(chain, chain->count - 1);
}

bool settings_shown(const struct settings *settings, char text[SHOWN_TEXT])
{
    const struct chain *chain = &settings->chain;
    char name[CHAIN_TEXT] = "the original";
    if (settings->show < 0 || settings->show >= chain->count)
        return false;
    if (settings->show > 0)
        chain_print(&(struct chain){.stage = {chain->stage[settings->show - 1]}, .count = 1}, name);
    snprintf(text, SHOWN_TEXT, "%d of %d: %.100s", settings->show, chain->count, name);
    return true;
}

void settings_size(const struct chain *chain, const struct image_shape *input, int *width, int *height)
{
    char why[CHAIN_ERROR];
    *width = input->width;
    *height = input->height;
    chain_output_size(chain, width, height, why);
}

// Appends a filter with its first two parameters.
static bool append_sized(struct chain *chain, const char *name, int width, int height)
{
    const char *why;
    return chain_append(chain, filter_find(name)) && chain_set(chain, chain->count - 1, 0, (float)width, &why) &&
           chain_set(chain, chain->count - 1, 1, (float)height, &why);
}

static int scaled(int side, double factor)
{
    const int rounded = (int)(side * factor + 0.5);
    return rounded > 0 ? rounded : 1;
}

// Appends the filters of settings_fit. False: there is no room for all of them.
static bool append_fit(struct chain *chain, const struct image_shape *input, int width, int height, int fit)
{
    int from_width, from_height;
    settings_size(chain, input, &from_width, &from_height);
    const double across = (double)width / from_width, down = (double)height / from_height;
    const double factor = (fit == FIT_FILL) == (across > down) ? across : down;
    const int wide = scaled(from_width, factor), high = scaled(from_height, factor);
    if (wide == width && high == height && wide == from_width && high == from_height)
        return true;
    return ((wide == from_width && high == from_height) || append_sized(chain, "scale", wide, high)) &&
           ((wide == width && high == height) || append_sized(chain, fit == FIT_FILL ? "crop" : "pad", width, height));
}

// Returns the place of the first filter of the titles.
static int titles_at(const struct chain *chain)
{
    int at = chain->count;
    while (at > 0 && chain->stage[at - 1].part == PART_TITLES)
        at--;
    return at;
}

// Appends the filters of a chain from `first` on. False: there is no room.
static bool append_rest(struct chain *chain, const struct chain *from, int first)
{
    const int count = from->count - first;
    if (chain->count + count > CHAIN_MAX)
        return false;
    memcpy(&chain->stage[chain->count], &from->stage[first], (size_t)count * sizeof(*from->stage));
    chain->count += count;
    return true;
}

// Titles that change the size or have a matte are fitted, too.
bool settings_fit(struct chain *chain, const struct image_shape *input, int width, int height, int fit)
{
    char why[CHAIN_ERROR];
    for (int first = titles_at(chain);; first = chain->count) {
        struct chain fitted = *chain;
        int wide = 0, high = 0;
        fitted.count = first;
        if (append_fit(&fitted, input, width, height, fit) && append_rest(&fitted, chain, first))
            settings_size(&fitted, input, &wide, &high);
        if (wide == width && high == height && chain_check_masks(&fitted, why)) {
            *chain = fitted;
            return true;
        }
        if (first == chain->count)
            return false;
    }
}

// Sets where a crop of this side begins, so that `at` is in its middle if the picture's sides allow that.
static void place_crop(struct chain *chain, int param, float at, int side, int crop)
{
    const float most = (float)(side - crop), middle = roundf(at * (float)side - (float)crop / 2);
    const char *why;
    chain_set(chain, chain->count - 1, param, fminf(fmaxf(middle, 0), most), &why);
}

bool settings_enlarge(const struct settings *settings, struct chain *chain, const struct image_shape *input)
{
    struct chain before = *chain;
    int width, height;
    if (!settings->zoom_output || settings->zoom <= 0)
        return true;
    if (chain->count + 2 > CHAIN_MAX)
        return false;
    before.count = titles_at(chain);
    settings_size(&before, input, &width, &height);
    const int wide = scaled(width, (double)settings->zoom_side), high = scaled(height, (double)settings->zoom_side);
    append_sized(&before, "crop", wide, high);
    place_crop(&before, 2, settings->zoom_x, width, wide);
    place_crop(&before, 3, settings->zoom_y, height, high);
    append_sized(&before, "scale", width, height);
    append_rest(&before, chain, titles_at(chain));
    *chain = before;
    return true;
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

// ---- orientation ----

static bool mirrors(const struct stage *stage)
{
    return stage->filter->mirror || stage->filter->flip;
}

struct orientation settings_orientation(const struct chain *camera)
{
    struct orientation sum = {.angle = 0};
    int angle;
    for (const struct stage *stage = camera->stage; stage < camera->stage + camera->count; stage++) {
        stage_turns(stage, &angle);
        sum.mirror ^= stage->filter->mirror;
        sum.flip ^= stage->filter->flip;
        sum.angle = (sum.angle + angle) % 360;
        sum.back = mirrors(stage) && !sum.back;
    }
    return sum;
}

// Adds a filter at a place. False: the chain is full.
static bool insert(struct chain *chain, int at, const struct filter *filter)
{
    if (!chain_append(chain, filter))
        return false;
    const struct stage added = chain->stage[chain->count - 1];
    memmove(&chain->stage[at + 1], &chain->stage[at], (size_t)(chain->count - 1 - at) * sizeof(added));
    chain->stage[at] = added;
    return true;
}

// Removes the filter if it is one of the last ones, from `first` on; else adds it at a place.
static bool toggle(struct chain *chain, int first, const char *name, int at)
{
    const struct filter *filter = filter_find(name);
    for (; first < chain->count && chain->stage[first].filter != filter; first++)
        ;
    if (first == chain->count)
        return insert(chain, at, filter);
    chain_remove(chain, first);
    return true;
}

bool settings_orient(struct chain *camera, const struct orientation *to)
{
    const struct orientation is = settings_orientation(camera);
    const char *why;
    int first = camera->count;
    while (first > 0 && mirrors(&camera->stage[first - 1]))
        first--;
    if ((is.mirror != to->mirror && !toggle(camera, first, "mirror", first)) ||
        (is.flip != to->flip && !toggle(camera, first, "flip", camera->count)))
        return false;
    if (is.angle == to->angle)
        return true;
    int last = 0;
    if (first > 0)
        stage_turns(&camera->stage[first - 1], &last);
    const int angle = (last + to->angle - is.angle + 360) % 360, at = last > 0 ? first - 1 : first;
    if (last == 0 && !insert(camera, at, filter_find("rotate")))
        return false;
    if (angle == 0)
        chain_remove(camera, at);
    return angle == 0 || chain_set(camera, at, 0, (float)angle, &why);
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

// ---- changes of the chain by hand ----

void edits_keep(struct edits *edits, const struct settings *settings, enum edit_run run)
{
    const int last = edits->count - 1;
    const bool goes_on =
        run != EDIT_ALONE && last >= 0 && edits->run == (int)run && edits->before[last].selected == settings->selected;
    edits->run = (int)run;
    if (goes_on)
        return;
    if (edits->count == EDITS) {
        memmove(&edits->before[0], &edits->before[1], (EDITS - 1) * sizeof(edits->before[0]));
        edits->count--;
    }
    edits->before[edits->count].chain = settings->chain;
    edits->before[edits->count++].selected = settings->selected;
}

bool edits_undo(struct edits *edits, struct settings *settings)
{
    if (edits->count == 0)
        return false;
    edits->count--;
    edits->run = EDIT_ALONE;
    settings->chain = edits->before[edits->count].chain;
    settings->selected = edits->before[edits->count].selected;
    chain_renew(&settings->chain); // its users' filters may have been edited since
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

bool edits_add(struct edits *edits, struct settings *settings, const struct filter *filter)
{
    struct chain *chain = &settings->chain;
    int at, param;
    if (chain->count == CHAIN_MAX)
        return false;
    edits_keep(edits, settings, EDIT_ALONE);
    const bool title = filter && (strcmp(filter->name, "overlay") == 0 || strcmp(filter->name, "text") == 0);
    const enum chain_part part = title ? PART_TITLES : PART_LOOK;
    if (settings_selected(settings, &at, &param) && chain->stage[at].part == part)
        at++;
    else
        for (at = 0; at < chain->count && chain->stage[at].part <= part;)
            at++;
    insert(chain, at, filter ? filter : filter_beside(filter_find("none"), 1));
    chain->stage[at].part = part;
    settings_select(settings, at);
    return true;
}

bool edits_put(struct edits *edits, struct settings *settings, const struct stage *stage)
{
    int at, param;
    if (settings_selected(settings, &at, &param) && settings->chain.stage[at].filter == stage->filter)
        edits_keep(edits, settings, EDIT_ALONE);
    else if (!edits_add(edits, settings, stage->filter))
        return false;
    settings_selected(settings, &at, &param);
    const enum chain_part part = settings->chain.stage[at].part;
    settings->chain.stage[at] = *stage;
    settings->chain.stage[at].part = part;
    return true;
}

bool edits_remove(struct edits *edits, struct settings *settings)
{
    int stage, param;
    if (!settings_selected(settings, &stage, &param))
        return false;
    edits_keep(edits, settings, EDIT_ALONE);
    chain_remove(&settings->chain, stage);
    settings_select(settings, stage < settings->chain.count ? stage : settings->chain.count - 1);
    return true;
}

bool edits_move(struct edits *edits, struct settings *settings, int step)
{
    int stage, param;
    const struct chain *chain = &settings->chain;
    if (!settings_selected(settings, &stage, &param) || stage + step < 0 || stage + step >= chain->count ||
        chain->stage[stage].part != chain->stage[stage + step].part)
        return false;
    edits_keep(edits, settings, EDIT_ALONE);
    swap(&settings->chain, stage, stage + step);
    settings_select(settings, stage + step);
    return true;
}

bool edits_filter(struct edits *edits, struct settings *settings, int step)
{
    int stage, param;
    char error[CHAIN_ERROR];
    if (!settings_selected(settings, &stage, &param))
        return false;
    settings_select(settings, stage);
    edits_keep(edits, settings, EDIT_FILTER);
    struct chain *chain = &settings->chain;
    const struct stage old = chain->stage[stage];
    const struct filter *filter = old.filter;
    for (bool fits = false; !fits;) {
        filter = filter_beside(filter, step);
        if (filter == old.filter) {
            chain->stage[stage] = old;
            return false;
        }
        fits = stage_init(&chain->stage[stage], filter);
        chain->stage[stage].part = old.part;
        fits = fits && chain_check_masks(chain, error);
    }
    return true;
}
