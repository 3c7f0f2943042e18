// chain.c: changes and prints chains; chain_parse.c parses them
#include "filter/chain.h"
#include "filter/user_filter.h"

#include "base/file.h"
#include "base/log.h"
#include "base/options.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool stage_init(struct stage *stage, const struct filter *filter)
{
    *stage = (struct stage){.filter = filter};
    for (int i = 0; i < filter_param_count(filter); i++)
        stage->values.value[i] = filter->params[i].preset;
    const char *why;
    return stage_prepare(stage, &why);
}

static void hold(struct stage *stage)
{
    const struct file_resource **resource = &stage->values.resource;
    if (*resource)
        file_resource_keep(*resource);
    else if (filter_file_wanted(stage->filter, &stage->values))
        *resource = file_resource_latest(stage->values.file, stage->filter->reads);
}

static void release(struct stage *stage)
{
    file_resource_put(stage->values.resource);
    stage->values.resource = NULL;
}

void chain_hold(struct chain *chain)
{
    for (int i = 0; i < chain->count; i++)
        hold(&chain->stage[i]);
}

void chain_release(struct chain *chain)
{
    for (int i = 0; i < chain->count; i++)
        release(&chain->stage[i]);
}

// Returns false if the file of a stage is refused. `why` is valid until the thread's next call.
static bool check_file(const struct stage *stage, const char **why)
{
    static _Thread_local char reason[FILTER_WHY];
    *why = "";
    if (!filter_file_wanted(stage->filter, &stage->values) || filter_file_varies(&stage->values))
        return true;
    const struct file_resource *resource = file_resource_get(stage->values.file, stage->filter->reads);
    const bool ok = resource->numbers;
    memcpy(reason, resource->why, sizeof(reason));
    *why = reason;
    file_resource_put(resource);
    return ok;
}

bool stage_prepare(struct stage *stage, const char **why)
{
    stage->arguments = (struct filter_arguments){.radius = stage->filter->radius};
    const bool ok = check_file(stage, why) &&
                    (!stage->filter->prepare || stage->filter->prepare(&stage->values, &stage->arguments, why));
    if (stage->filter->user)
        user_filter_prepare(stage->filter->user, &stage->values, &stage->arguments);
    const bool one_row = stage->filter->one_row || (stage->filter->separable && !stage->arguments.whole);
    stage->arguments.rows = one_row ? 0 : stage->arguments.radius;
    return ok;
}

bool chain_is_grey(const struct chain *chain, bool grey)
{
    for (int i = 0; i < chain->count; i++)
        grey = filter_leaves_grey(chain->stage[i].filter, grey);
    return grey;
}

bool chain_changes_alpha(const struct chain *chain)
{
    bool changes = false;
    for (int i = 0; i < chain->count; i++)
        changes = changes || chain->stage[i].filter->alpha == ALPHA_CHANGES;
    return changes;
}

bool chain_sees_frame(const struct chain *chain)
{
    bool sees = false;
    for (int i = 0; i < chain->count; i++)
        sees = sees || filter_sees_frame(chain->stage[i].filter);
    return sees;
}

bool stage_turns(const struct stage *stage, int *angle)
{
    const int degrees = strcmp(stage->filter->name, "rotate") == 0 ? (int)stage->values.value[0] : 1;
    const bool rotates = degrees % 90 == 0 && (float)degrees == stage->values.value[0];
    *angle = rotates ? (degrees + 360) % 360 : 0;
    return rotates || stage->filter->mirror || stage->filter->flip;
}

bool chain_turns(const struct chain *chain)
{
    bool turns = false;
    for (int i = 0; i < chain->count; i++) {
        const struct stage *stage = &chain->stage[i];
        struct filter_map map = {0};
        if (stage->filter->kind != FILTER_WARP || stage->filter->warp->returns)
            continue;
        stage->filter->warp->map(&stage->values, CHAIN_SIDE_MAX, CHAIN_SIDE_MAX, &map);
        turns ^= map.matrix[0] == 0 && map.matrix[4] == 0 && map.matrix[1] != 0 && map.matrix[3] != 0;
    }
    return turns;
}

bool chain_size_possible(int width, int height)
{
    return width <= CHAIN_SIDE_MAX && height <= CHAIN_SIDE_MAX && (int64_t)width * height <= CHAIN_PIXELS_MAX;
}

bool chain_output_size(const struct chain *chain, int *width, int *height, char error[CHAIN_ERROR])
{
    for (int i = 0; i < chain->count; i++) {
        struct stage *stage = &(struct stage){.filter = NULL};
        struct filter_map map = {0};
        *stage = chain->stage[i];
        if (stage->filter->kind != FILTER_WARP || stage->filter->warp->returns)
            continue;
        hold(stage);
        stage->filter->warp->map(&stage->values, *width, *height, &map);
        release(stage);
        if (!chain_size_possible(map.width, map.height)) {
            snprintf(error, CHAIN_ERROR,
                     "%s: the result of %dx%d pixels would have %dx%d; at most %d on a side and %d in all are possible",
                     stage->filter->name, *width, *height, map.width, map.height, CHAIN_SIDE_MAX, CHAIN_PIXELS_MAX);
            return false;
        }
        *width = map.width;
        *height = map.height;
    }
    return true;
}

// ---- masks ----

static bool is(const struct chain *chain, int stage, const char *name)
{
    return strcmp(chain->stage[stage].filter->name, name) == 0;
}

// Returns the first stage of the part that has this stage.
static int part_begin(const struct chain *chain, int stage)
{
    const enum chain_part part = chain->stage[stage].part;
    while (stage > 0 && chain->stage[stage - 1].part == part)
        stage--;
    return stage;
}

// Returns the first of the last `count` filters of its part before the stage.
static int filters_before(const struct chain *chain, int stage, int count)
{
    const int begin = part_begin(chain, stage);
    while (stage > begin && count > 0) {
        stage--;
        count -= !is(chain, stage, "none") && !is(chain, stage, "keep");
    }
    return stage;
}

// As chain_kept, but stages may move pixels.
static int kept_stage(const struct chain *chain, int mask)
{
    const int begin = part_begin(chain, mask);
    int open[CHAIN_MAX], depth = 0, single = begin; // single: the newest filter that is no mask
    bool masked = false;                            // a mask follows directly: the outermost group ends after it
    for (int i = begin; i < mask; i++) {
        const struct stage *stage = &chain->stage[i];
        if (is(chain, i, "none"))
            continue;
        if (filter_is_mask(stage->filter)) {
            masked = masked || (depth == 1 && stage->arguments.spans == 0);
            depth -= depth > 1 && stage->arguments.spans == 0;
            continue;
        }
        depth = masked ? 0 : depth;
        masked = false;
        if (is(chain, i, "keep"))
            open[depth++] = i;
        else
            single = i;
    }
    if (chain->stage[mask].arguments.spans > 0)
        return filters_before(chain, mask, chain->stage[mask].arguments.spans);
    return depth > 0 ? open[depth - 1] : single;
}

int chain_kept(const struct chain *chain, int stage)
{
    int first = kept_stage(chain, stage);
    for (int i = first; i < stage; i++)
        first = filter_moves(chain->stage[i].filter) ? i + 1 : first;
    return first;
}

// Returns false if pixels have moved before a filter that needs them where the frame has them.
static bool check_frame(const struct chain *chain, char error[CHAIN_ERROR])
{
    const struct stage *mover = NULL;
    int angle;
    for (int i = 0; i < chain->count; i++) {
        const struct stage *stage = &chain->stage[i];
        const char *name = stage->filter->name, *before = mover ? mover->filter->name : NULL;
        if (filter_sees_frame(stage->filter) && mover && mover->part == stage->part)
            snprintf(error, CHAIN_ERROR, "%s: %s before it moves pixels; put %s after %s", name, before, before, name);
        else if (filter_sees_frame(stage->filter) && mover)
            snprintf(error, CHAIN_ERROR, "%s: %s of %s before it moves pixels; put %s into %s, after %s", name, before,
                     chain_part_name(mover->part), before, chain_part_name(stage->part), name);
        if (filter_sees_frame(stage->filter) && mover)
            return false;
        mover = filter_moves(stage->filter) && !stage_turns(stage, &angle) ? stage : mover;
    }
    return true;
}

bool chain_check_masks(const struct chain *chain, char error[CHAIN_ERROR])
{
    if (!check_frame(chain, error))
        return false;
    for (int i = 0; i < chain->count; i++) {
        const struct stage *mask = &chain->stage[i];
        const int after = filter_is_mask(mask->filter) ? chain_kept(chain, i) : 0;
        if (after == 0 || !filter_is_mask(mask->filter) || after == kept_stage(chain, i))
            continue;
        const char *mover = chain->stage[after - 1].filter->name;
        snprintf(error, CHAIN_ERROR, "%s: a mask cannot limit %s, which moves pixels; put %s before %s",
                 mask->filter->name, mover, mover,
                 is(chain, kept_stage(chain, i), "keep") ? "keep" : "the filters that the mask limits");
        return false;
    }
    return true;
}

// Returns the number of filters from stage `first` to before `end`.
static int count_filters(const struct chain *chain, int first, int end)
{
    int count = 0;
    for (int i = first; i < end; i++)
        count += !is(chain, i, "none") && !is(chain, i, "keep") && !filter_is_mask(chain->stage[i].filter);
    return count;
}

bool chain_is_useless(const struct chain *chain, int stage, char why[CHAIN_ERROR])
{
    const struct filter *filter = chain->stage[stage].filter;
    const struct filter_values *values = &chain->stage[stage].values;
    const int spans = chain->stage[stage].arguments.spans;
    why[0] = '\0';
    if (is(chain, stage, "keep")) {
        bool used = false;
        for (int i = stage + 1; i < chain->count; i++)
            used = used || (filter_is_mask(chain->stage[i].filter) && kept_stage(chain, i) == stage);
        if (!used)
            snprintf(why, CHAIN_ERROR, "keep: no mask follows it, so it has no effect; add one, such as inside");
    } else if (is(chain, stage, "text") && *values->file && !values->file[strspn(values->file, "0123456789")] &&
               values->value[1] > 0) {
        const double x = (double)values->value[1];
        snprintf(why, CHAIN_ERROR, "text: it is '%s', with x=%g; if ':' belongs to it, write text='%s:%g'",
                 values->file, x, values->file, x);
    } else if (filter_is_mask(filter) && count_filters(chain, chain_kept(chain, stage), stage) == 0) {
        snprintf(why, CHAIN_ERROR, "%s: it limits the filters before it, but there is none; add one, as in blur=8,%s",
                 filter->name, filter->name);
    } else if (filter_is_mask(filter) && spans > 1 &&
               filters_before(chain, stage, spans - 1) == part_begin(chain, stage)) {
        snprintf(why, CHAIN_ERROR, "%s: filters is %d, but fewer filters come before it; it limits all of them",
                 filter->name, spans);
    }
    return why[0];
}

void chain_warn_useless(const struct chain *chain)
{
    char why[CHAIN_ERROR];
    for (int i = 0; i < chain->count; i++) {
        if (chain_is_useless(chain, i, why))
            log_warn("%s", why);
    }
}

bool chain_append(struct chain *chain, const struct filter *filter)
{
    if (chain->count == CHAIN_MAX || !stage_init(&chain->stage[chain->count], filter))
        return false;
    chain->count++;
    return true;
}

void chain_remove(struct chain *chain, int stage)
{
    chain->count--;
    memmove(&chain->stage[stage], &chain->stage[stage + 1], (size_t)(chain->count - stage) * sizeof(*chain->stage));
}

void chain_get_part(const struct chain *chain, enum chain_part which, struct chain *part)
{
    part->count = 0;
    for (int i = 0; i < chain->count; i++) {
        if (chain->stage[i].part == which)
            part->stage[part->count++] = chain->stage[i];
    }
}

// Writes `why` with the name of the part, unless that is the look. Returns false.
static bool fail_part(enum chain_part which, const char *why, char error[CHAIN_ERROR])
{
    const char *name = which == PART_LOOK ? "" : chain_part_name(which);
    snprintf(error, CHAIN_ERROR, "%s%s%.*s", name, text_if(name[0], ": "), CHAIN_ERROR - 16, why);
    return false;
}

bool chain_parse_part(struct chain *part, enum chain_part which, const char *text, const char *directory,
                      char error[CHAIN_ERROR])
{
    char why[CHAIN_ERROR];
    return chain_parse_from(part, text, directory, why) || fail_part(which, why, error);
}

bool chain_put_part(struct chain *chain, enum chain_part which, const struct chain *part, char error[CHAIN_ERROR])
{
    struct chain parts[CHAIN_PARTS], whole = {.count = 0};
    char why[CHAIN_ERROR];
    for (int i = 0; i < CHAIN_PARTS; i++) {
        const enum chain_part at = (enum chain_part)(i + PART_CAMERA);
        if (at == which)
            parts[i] = *part;
        else
            chain_get_part(chain, at, &parts[i]);
        if (whole.count + parts[i].count > CHAIN_MAX) {
            snprintf(why, CHAIN_ERROR, "camera, chain and titles have at most %d filters together", CHAIN_MAX);
            return fail_part(which, why, error);
        }
        for (int k = 0; k < parts[i].count; k++) {
            whole.stage[whole.count] = parts[i].stage[k];
            whole.stage[whole.count++].part = at;
        }
    }
    if (!chain_check_masks(&whole, error))
        return false;
    *chain = whole;
    return true;
}

bool param_is_size(const struct filter *filter, int param)
{
    static const char *const names[] = {"width", "height", "most", NULL};
    bool found = false;
    for (int i = 0; names[i]; i++)
        found = found || strcmp(filter->params[param].name, names[i]) == 0;
    return found && filter->kind == FILTER_WARP;
}

float chain_value(const struct chain *chain, int stage, int param, int width, int height)
{
    const struct stage *at = &chain->stage[stage];
    const char *name = at->filter->params[param].name;
    const float value = at->values.value[param];
    struct chain until = *chain;
    char error[CHAIN_ERROR];
    until.count = stage + 1;
    if (value != 0 || !param_is_size(at->filter, param) || !chain_output_size(&until, &width, &height, error))
        return value;
    const bool wide = strcmp(name, "width") == 0 || (strcmp(name, "most") == 0 && width > height);
    return (float)(wide ? width : height);
}

bool chain_set(struct chain *chain, int stage, int param, float value, const char **why)
{
    struct stage changed = chain->stage[stage];
    const struct param *row = &changed.filter->params[param];
    value = fminf(fmaxf(value, row->min), row->max);
    changed.values.value[param] = row->type == PARAM_REAL ? value : roundf(value);
    if ((row->type == PARAM_FILE || row->type == PARAM_TEXT) && !changed.values.file[0])
        changed.values.value[param] = 0;
    if (!stage_prepare(&changed, why))
        return false;
    chain->stage[stage] = changed;
    return true;
}

static bool same_param(const struct param *a, const struct param *b)
{
    return strcmp(a->name, b->name) == 0 && a->type == b->type && (!a->choices || strcmp(a->choices, b->choices) == 0);
}

void chain_replace(struct chain *chain, int stage, const struct filter *filter)
{
    const struct stage old = chain->stage[stage];
    const char *why;
    if (!stage_init(&chain->stage[stage], filter)) {
        chain->stage[stage] = old;
        return;
    }
    chain->stage[stage].part = old.part;
    memcpy(chain->stage[stage].values.file, old.values.file, sizeof(old.values.file));
    for (int i = 0; i < filter_param_count(filter); i++) {
        for (int k = 0; k < filter_param_count(old.filter); k++) {
            if (same_param(&filter->params[i], &old.filter->params[k]))
                chain_set(chain, stage, i, old.values.value[k], &why);
        }
    }
}

void chain_renew(struct chain *chain)
{
    for (int i = 0; i < chain->count; i++) {
        const struct filter *filter = chain->stage[i].filter, *now = filter_find(filter->name);
        if (filter->user && now && now != filter)
            chain_replace(chain, i, now);
    }
}

// Writes the shortest decimal that parses to the same float, with an exponent only if that is shorter.
static void print_number(float value, char *text, size_t size)
{
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(text, size, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            break;
    }
    for (int decimals = 0; decimals <= 9; decimals++) {
        char plain[64];
        snprintf(plain, sizeof(plain), "%.*f", decimals, (double)value);
        if (strtof(plain, NULL) == value) {
            if (strlen(plain) <= strlen(text))
                snprintf(text, size, "%s", plain);
            return;
        }
    }
}

// ---- colours ----

// HTML 4.01, 6.5: colors. The first of two names of the same colour is printed.
static const struct {
    const char *name;
    int value;
} colors[] = {{"black", 0},          {"white", 0xffffff},   {"gray", 0x808080},   {"grey", 0x808080},
              {"silver", 0xc0c0c0},  {"red", 0xff0000},     {"maroon", 0x800000}, {"yellow", 0xffff00},
              {"olive", 0x808000},   {"lime", 0x00ff00},    {"green", 0x008000},  {"aqua", 0x00ffff},
              {"cyan", 0x00ffff},    {"teal", 0x008080},    {"blue", 0x0000ff},   {"navy", 0x000080},
              {"fuchsia", 0xff00ff}, {"magenta", 0xff00ff}, {"purple", 0x800080}, {"orange", 0xffa500}};

enum { COLORS = sizeof(colors) / sizeof(*colors), DIGITS = 6 };

bool color_parse(const char *text, float *value)
{
    for (int i = 0; i < COLORS; i++) {
        if (strcasecmp(text, colors[i].name) == 0) {
            *value = (float)colors[i].value;
            return true;
        }
    }
    if (text[0] != '#' || strlen(text) != 1 + DIGITS || strspn(text + 1, "0123456789abcdefABCDEF") != DIGITS)
        return false;
    *value = (float)strtol(text + 1, NULL, 16);
    return true;
}

static void print_color(float value, char text[64])
{
    for (int i = 0; i < COLORS; i++) {
        if (colors[i].value == (int)value) {
            snprintf(text, 64, "%s", colors[i].name);
            return;
        }
    }
    snprintf(text, 64, "#%06x", (unsigned)value);
}

// ---- values as text ----

// Writes the name of the file without its directories.
static void print_file(const struct filter_values *values, bool wanted, char text[64])
{
    snprintf(text, 64, "%.63s", wanted ? file_base(values->file) : "none");
}

void chain_value_text(const struct stage *stage, int param, char text[64])
{
    const struct param *row = &stage->filter->params[param];
    const float value = stage->values.value[param];
    const int side = (int)lround(sqrt(stage->values.matrix_count));
    if (row->type == PARAM_MATRIX && value < 0)
        snprintf(text, 64, "%dx%d", side, side);
    else if (row->type == PARAM_MAP && value < 0)
        snprintf(text, 64, "%d numbers", stage->values.matrix_count);
    else if (row->type == PARAM_POINTS && value < 0)
        snprintf(text, 64, "%d pairs", stage->values.matrix_count / 2);
    else if (row->type == PARAM_TEXT)
        snprintf(text, 64, "%.63s", value > 0 ? stage->values.file : row->choices);
    else if (row->type == PARAM_FILE)
        print_file(&stage->values, value > 0, text);
    else if (row->type == PARAM_COLOR)
        print_color(value, text);
    else if (row->choices)
        options_choice(row->choices, (int)value, text, 64);
    else
        print_number(value, text, 64);
}

const char *chain_file(const struct chain *chain, int stage)
{
    const struct stage *at = &chain->stage[stage];
    return filter_file_wanted(at->filter, &at->values) ? at->values.file : NULL;
}

bool chain_reads(const struct chain *chain, const char *path)
{
    bool reads = false;
    for (int i = 0; i < chain->count && !reads; i++) {
        const char *file = chain_file(chain, i);
        reads = file && file_same(file, path);
    }
    return reads;
}

bool chain_quote(const char *value, char *text, size_t size)
{
    const size_t length = strlen(value);
    const bool quoted = !length || strpbrk(value, ",:;|!'=") || value[0] == ' ' || value[length - 1] == ' ';
    size_t used = 0;
    if (!quoted)
        return (size_t)snprintf(text, size, "%s", value) < size;
    if (2 * length + 3 > size)
        return false;
    text[used++] = '\'';
    for (; *value; value++) {
        if (*value == '\'')
            text[used++] = '\'';
        text[used++] = *value;
    }
    text[used++] = '\'';
    text[used] = '\0';
    return true;
}

static void print_value(const struct stage *stage, int param, char *text)
{
    char value[64];
    const enum param_type type = stage->filter->params[param].type;
    if (type == PARAM_FILE || type == PARAM_TEXT) { // a stage without a file has the default value
        char quoted[2 * FILTER_FILE + 3];
        if (chain_quote(stage->values.file, quoted, sizeof(quoted)))
            text_append(text, CHAIN_TEXT, "%s", quoted);
        return;
    }
    if (!param_has_numbers(&stage->filter->params[param]) || stage->values.value[param] >= 0) {
        chain_value_text(stage, param, value);
        text_append(text, CHAIN_TEXT, "%s", value);
        return;
    }
    for (int i = 0; i < stage->values.matrix_count; i++) {
        print_number(stage->values.matrix[i], value, sizeof(value));
        const char *separator = type == PARAM_POINTS && i % 2 == 1 ? "/" : " ";
        text_append(text, CHAIN_TEXT, "%s%s", text_if(i > 0, separator), value);
    }
}

static void print_stage(const struct stage *stage, char *text)
{
    text_append(text, CHAIN_TEXT, "%s%s", text[0] ? "," : "", stage->filter->name);
    const int params = filter_param_count(stage->filter);
    bool any = false, gap = false;
    for (int i = 0; i < params; i++) {
        if (stage->values.value[i] == stage->filter->params[i].preset) {
            gap = true;
            continue;
        }
        text_append(text, CHAIN_TEXT, "%c", any ? ':' : '=');
        if (gap)
            text_append(text, CHAIN_TEXT, "%s=", stage->filter->params[i].name);
        print_value(stage, i, text);
        any = true;
    }
}

bool chain_print(const struct chain *chain, char text[CHAIN_TEXT])
{
    text[0] = '\0';
    for (int i = 0; i < chain->count; i++) {
        if (strcmp(chain->stage[i].filter->name, "none") != 0)
            print_stage(&chain->stage[i], text);
    }
    if (!text[0])
        strcpy(text, "none");
    return strlen(text) < CHAIN_TEXT - 1; // a cut text fills all bytes
}

const char *chain_part_name(enum chain_part part)
{
    static const char *const names[] = {"camera", "chain", "titles"};
    return names[part - PART_CAMERA];
}

bool chain_print_part(const struct chain *chain, enum chain_part which, char text[CHAIN_TEXT])
{
    struct chain part;
    chain_get_part(chain, which, &part);
    return chain_print(&part, text);
}
