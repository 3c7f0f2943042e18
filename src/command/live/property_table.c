// property_table.c: the settings of the live view, each row below its functions; control/properties.c has the others
#include "base/log.h"
#include "command/live/controls.h"
#include "command/live/session.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// ---- chain and its parameters ----

static enum chain_part part_named(const char *name)
{
    enum chain_part part = PART_CAMERA;
    while (strcmp(chain_part_name(part), name) != 0)
        part++;
    return part;
}

static json_t *get_part(const struct controlled *run, const char *name, char why[PROPERTY_WHY])
{
    char text[CHAIN_TEXT];
    chain_print_part(&run->stream->settings.chain, part_named(name), text);
    return text_json(text);
}

// Makes `chain` the chain of the settings, unless its result is too large or its text too long.
static bool take_chain(struct session *s, const struct chain *chain, char why[PROPERTY_WHY])
{
    int width = s->stream.playback.info->shape.width, height = s->stream.playback.info->shape.height;
    char text[CHAIN_TEXT];
    if (!chain_check_masks(chain, why) || !chain_output_size(chain, &width, &height, why))
        return false;
    if (!chain_print(chain, text))
        return property_fail(why, "the chain with all parameters is longer than %d characters", CHAIN_TEXT - 2);
    edits_keep(&s->edits, &s->stream.settings, EDIT_ALONE);
    s->stream.settings.chain = *chain;
    panes_changed(s->stream.panes, false);
    return true;
}

_Static_assert((int)PROPERTY_WHY >= CHAIN_ERROR && (int)PROPERTY_WHY >= SOURCE_WHY &&
                   (int)PROPERTY_WHY >= SOURCE_SET_WHY,
               "room for their messages");

// Replaces a part of the chain, with the same limits.
static bool take_part(struct session *s, enum chain_part which, const struct chain *part, char why[PROPERTY_WHY])
{
    struct settings changed = s->stream.settings;
    if (!settings_put_part(&changed, which, part, why) || !take_chain(s, &changed.chain, why))
        return false;
    s->stream.settings.selected = changed.selected;
    return true;
}

static bool set_part(const struct controlled *run, const char *name, const char *value, char why[PROPERTY_WHY])
{
    const enum chain_part which = part_named(name);
    struct chain part = {.count = 0};
    if ((strcmp(value, "none") != 0 && !chain_parse_part(&part, which, value, NULL, why)) ||
        !take_part(run->context, which, &part, why))
        return false;
    chain_warn_useless(&part);
    session_warn_transparency(run->context);
    return true;
}

static json_t *get_look(const struct controlled *run, const char *name, char why[PROPERTY_WHY])
{
    struct session *s = run->context;
    const struct look *look = looks_with(&s->looks, &s->stream.settings.chain);
    return look ? json_string(look->name) : json_null();
}

static bool set_look(const struct controlled *run, const char *name, const char *value, char why[PROPERTY_WHY])
{
    struct session *s = run->context;
    const struct look *look = looks_find(&s->looks, value);
    if (!look && strcmp(value, "none") != 0) {
        looks_describe_unknown(&s->looks, value, why);
        return false;
    }
    if (!set_part(run, chain_part_name(PART_LOOK), look ? look->chain : value, why))
        return false;
    if (look)
        note_set(&s->stream.note, false, NOTE_S, "%s: %s", look->name, look->chain);
    return true;
}

// Finds "STAGE/NAME", where STAGE is a filter's name or the number of a stage, from 0 on.
static bool find_param(const struct chain *chain, const char *rest, int *stage, int *param, char why[PROPERTY_WHY])
{
    const char *slash = strchr(rest, '/');
    const size_t length = slash ? (size_t)(slash - rest) : strlen(rest);
    for (int i = 0; slash && i < chain->count; i++) {
        char number[16];
        snprintf(number, sizeof(number), "%d", i);
        const struct filter *filter = chain->stage[i].filter;
        if ((strlen(filter->name) != length || memcmp(rest, filter->name, length) != 0) &&
            (strlen(number) != length || memcmp(rest, number, length) != 0))
            continue;
        for (int p = 0; p < filter_param_count(filter); p++) {
            if (strcmp(filter->params[p].name, slash + 1) != 0)
                continue;
            *stage = i;
            *param = p;
            return true;
        }
        return property_fail(why, "%s has no parameter '%.80s'", filter->name, slash + 1);
    }
    return property_fail(why,
                         "the chain has no stage '%.*s'; write param/STAGE/NAME, such as param/blur/radius or "
                         "param/0/radius",
                         length < 80 ? (int)length : 80, rest);
}

static json_t *param_value(const struct stage *stage, int param)
{
    const struct param *row = &stage->filter->params[param];
    char text[64];
    chain_value_text(stage, param, text);
    if (row->type == PARAM_INT)
        return json_integer((json_int_t)stage->values.value[param]);
    if ((row->type == PARAM_FILE || row->type == PARAM_TEXT) && stage->values.value[param] > 0)
        return text_json(stage->values.file);
    return row->type == PARAM_REAL ? json_real(strtod(text, NULL)) : json_string(text);
}

static json_t *get_param(const struct controlled *run, const char *name, char why[PROPERTY_WHY])
{
    const struct chain *chain = &run->stream->settings.chain;
    int stage, param;
    return find_param(chain, name, &stage, &param, why) ? param_value(&chain->stage[stage], param) : NULL;
}

static bool set_param(const struct controlled *run, const char *name, const char *value, char why[PROPERTY_WHY])
{
    struct session *s = run->context;
    int stage, param;
    struct chain chain = s->stream.settings.chain, one;
    char text[CHAIN_TEXT];
    const char *reason = "";
    if (!find_param(&chain, name, &stage, &param, why))
        return false;
    struct stage *at = &chain.stage[stage];
    const enum param_type type = at->filter->params[param].type;
    const bool named = type == PARAM_FILE || type == PARAM_TEXT;
    char quoted[CHAIN_TEXT / 2];
    if ((!named && strpbrk(value, ",:")) || !chain_quote(value, quoted, sizeof(quoted)) ||
        snprintf(text, sizeof(text), "%s=%s=%s", at->filter->name, at->filter->params[param].name, quoted) >=
            CHAIN_TEXT)
        return property_fail(why, "'%.80s' is not one value", value);
    if (!chain_parse(&one, text, why))
        return false;
    const struct filter_values *from = &one.stage[0].values;
    at->values.value[param] = from->value[param];
    if (param_has_numbers(&at->filter->params[param])) {
        at->values.matrix_count = from->matrix_count;
        memcpy(at->values.matrix, from->matrix, sizeof(from->matrix));
    }
    if (named)
        memcpy(at->values.file, from->file, sizeof(from->file));
    if (!stage_prepare(at, &reason))
        return property_fail(why, "%s: %s", at->filter->name, reason);
    return take_chain(s, &chain, why);
}

// "luma|average|paint" as a list.
static json_t *choices_json(const char *choices)
{
    char word[PROPERTY_NAME];
    json_t *list = json_array();
    for (int i = 0; options_choice(choices, i, word, sizeof(word)); i++)
        json_array_append_new(list, text_json(word));
    return list;
}

static json_t *get_params(const struct controlled *run, const char *name, char why[PROPERTY_WHY])
{
    const struct chain *chain = &run->stream->settings.chain;
    json_t *list = json_array();
    for (int i = 0; i < chain->count; i++) {
        const struct stage *stage = &chain->stage[i];
        for (int p = 0; p < filter_param_count(stage->filter); p++) {
            const struct param *row = &stage->filter->params[p];
            char whole[PROPERTY_NAME];
            snprintf(whole, sizeof(whole), "param/%d/%s", i, row->name);
            json_t *object = json_pack("{s:s,s:s,s:o}", "name", whole, "filter", stage->filter->name, "value",
                                       param_value(stage, p));
            if (row->type != PARAM_FILE && row->type != PARAM_TEXT)
                json_object_update_new(object, json_pack("{s:f,s:f,s:f}", "min", (double)row->min, "max",
                                                         (double)row->max, "step", (double)row->step));
            if (row->choices)
                json_object_set_new(object, "choices", choices_json(row->choices));
            json_array_append_new(list, object);
        }
    }
    return list;
}

// ---- path and device ----

static bool changed_panes(const struct controlled *run, char why[PROPERTY_WHY])
{
    panes_changed(run->stream->panes, false);
    return true;
}

static json_t *get_path(const struct controlled *run, const char *name, char why[PROPERTY_WHY])
{
    const struct stream_state *state = &run->stream->state;
    return json_string(state->automatic ? "auto" : path_kind_name(state->kind));
}

static bool changed_path(const struct controlled *run, char why[PROPERTY_WHY])
{
    const int path = run->stream->settings.path;
    if (stream_follow_path(run->stream))
        return true;
    const enum path_kind kind = path == PATH_AUTO ? run->stream->state.kind : (enum path_kind)path;
    return property_fail(why, "the %s path needs %s", path_kind_name(kind),
                         path_kind_info(kind)->needs_gl ? "a GL context; start monocle with a window or with -p gl"
                                                        : "an OpenCL device; run monocle doctor");
}

static bool next_path(const struct controlled *run, char next[PROPERTY_NAME], char why[PROPERTY_WHY])
{
    const struct stream_state *state = &run->stream->state;
    const enum path_kind kind = panes_next_kind(run->stream->panes);
    const char *name = kind <= state->kind ? "auto" : path_kind_name(kind);
    snprintf(next, PROPERTY_NAME, "%s", state->automatic ? path_kind_name(PATH_CPU) : name);
    return kind != state->kind || property_fail(why, "there is no OpenCL device and no GL, so only the cpu path works");
}

static json_t *get_device(const struct controlled *run, const char *name, char why[PROPERTY_WHY])
{
    const int device = run->stream->state.device;
    return device < 0 ? json_null() : text_json(run->stream->devices.info[device].name);
}

static bool set_device(const struct controlled *run, const char *name, const char *value, char why[PROPERTY_WHY])
{
    struct stream *s = run->stream;
    const int index = device_find(s->devices.info, s->devices.count, value);
    if (index < 0)
        return property_fail(why, "no OpenCL device matches '%.80s'; monocle devices lists them", value);
    const char *device = s->devices.info[index].name;
    property_fail(why, "cannot open %.80s", device); // an error that is logged replaces this
    log_keep_error(why, PROPERTY_WHY);
    const bool opened = stream_use_device(s, index);
    log_keep_error(NULL, 0);
    if (opened)
        note_set(&s->note, false, NOTE_S, "device %s%s", device,
                 path_kind_info(s->state.kind)->needs_device ? "" : " (this path does not use it)");
    return opened;
}

static bool next_device(const struct controlled *run, char next[PROPERTY_NAME], char why[PROPERTY_WHY])
{
    const int count = run->stream->devices.count;
    snprintf(next, PROPERTY_NAME, "%d", count > 0 ? (run->stream->state.device + 1) % count : 0);
    return count > 1 || property_fail(why, "there is %s OpenCL device", count == 1 ? "only one" : "no");
}

// ---- controls of the camera ----

static json_t *control_value(const struct source_control *control)
{
    if (control->type == SOURCE_SWITCH)
        return json_boolean(strcmp(control->value, "on") == 0);
    return control->type == SOURCE_NUMBER ? json_integer(atoi(control->value)) : text_json(control->value);
}

// Finds a control of the camera by its name. NULL: `why` is set.
static const struct source_control *find_control(struct session *s, const char *name, char why[PROPERTY_WHY])
{
    const char *names[SOURCE_CONTROLS + 1] = {NULL};
    int count;
    const struct source_control *list = controls_list(&s->controls, s->stream.playback.source, &count);
    for (int i = 0; i < count; i++) {
        if (strcasecmp(list[i].name, name) == 0)
            return &list[i];
        names[i] = list[i].name;
    }
    const char *nearest = options_nearest(name, names);
    if (count == 0)
        property_fail(why, "%s", controls_missing(s->stream.playback.source));
    else if (nearest)
        property_fail(why, "the camera has no control '%.80s'; did you mean control/%s?", name, nearest);
    else
        property_fail(why, "the camera has no control '%.80s'; the property controls lists them", name);
    return NULL;
}

static json_t *get_control(const struct controlled *run, const char *name, char why[PROPERTY_WHY])
{
    struct session *s = run->context;
    const struct source_control *control = find_control(s, name, why);
    return control ? control_value(control) : NULL;
}

static bool set_control(const struct controlled *run, const char *name, const char *value, char why[PROPERTY_WHY])
{
    struct session *s = run->context;
    const struct source_control *control = find_control(s, name, why);
    return control && controls_set(&s->controls, s->stream.playback.source, control->name, value, why);
}

static json_t *get_controls(const struct controlled *run, const char *name, char why[PROPERTY_WHY])
{
    struct session *s = run->context;
    static const char *const types[] = {[SOURCE_NUMBER] = "number", [SOURCE_SWITCH] = "flag", [SOURCE_MENU] = "choice"};
    int count;
    const struct source_control *control = controls_list(&s->controls, s->stream.playback.source, &count);
    json_t *list = json_array();
    for (const struct source_control *end = control + count; control < end; control++) {
        char whole[PROPERTY_NAME];
        snprintf(whole, sizeof(whole), "control/%s", control->name);
        json_t *object = json_pack("{s:o,s:s,s:o,s:b}", "name", text_json(whole), "type", types[control->type], "value",
                                   control_value(control), "locked", (int)control->locked);
        if (control->type == SOURCE_NUMBER)
            json_object_update_new(object,
                                   json_pack("{s:i,s:i,s:i,s:i}", "min", control->minimum, "max", control->maximum,
                                             "step", control->step, "default", control->preset));
        else if (control->type == SOURCE_MENU)
            json_object_set_new(object, "choices", choices_json(control->choices));
        json_array_append_new(list, object);
    }
    return list;
}

// ---- view ----

static json_t *get_split(const struct controlled *run, const char *name, char why[PROPERTY_WHY])
{
    char word[PROPERTY_NAME];
    const struct stream *stream = run->stream;
    options_choice(SPLIT_CHOICES, (int)(stream->state.split_failed ? SPLIT_OFF : stream->settings.split), word,
                   sizeof(word));
    return json_string(word);
}

static bool changed_split(const struct controlled *run, char why[PROPERTY_WHY])
{
    struct stream *stream = run->stream;
    const enum path_kind other = panes_next_kind(stream->panes);
    if (stream->settings.split == SPLIT_PATH &&
        (other == stream->state.kind || !devices_serve(&stream->devices, &stream->state, other)))
        return property_fail(why, "there is no other path");
    panes_split_again(stream->panes);
    return true;
}

static bool set_show(const struct controlled *run, const char *name, const char *value, char why[PROPERTY_WHY])
{
    struct stream *stream = run->stream;
    const int count = stream->settings.chain.count;
    char *end, shown[SHOWN_TEXT];
    const long number = strtol(value, &end, 10);
    const bool all = strcmp(value, "all") == 0;
    if (!all && (end == value || *end || number < 0 || number > count))
        return property_fail(why, "show is all, or the number of filters that run: 0 (the original) to %d", count);
    stream->settings.show = all ? -1 : (int)number;
    note_set(&stream->note, false, NOTE_S, "%s", settings_shown(&stream->settings, shown) ? shown : "the result");
    panes_changed(stream->panes, false);
    return true;
}

static bool next_show(const struct controlled *run, char next[PROPERTY_NAME], char why[PROPERTY_WHY])
{
    const struct settings *settings = &run->stream->settings;
    snprintf(next, PROPERTY_NAME, settings->show + 1 < settings->chain.count ? "%d" : "all", settings->show + 1);
    return settings->chain.count > 0 || property_fail(why, "the chain has no filter");
}

static bool orient(struct session *s, const struct orientation *to, char why[PROPERTY_WHY])
{
    struct chain camera;
    chain_get_part(&s->stream.settings.chain, PART_CAMERA, &camera);
    const int count = camera.count;
    const struct orientation is = settings_orientation(&camera);
    if (is.mirror == to->mirror && is.flip == to->flip && is.angle == to->angle)
        return true;
    if (!settings_orient(&camera, to))
        return property_fail(why, "cannot add a filter to the camera's %d: a chain has at most %d", count, CHAIN_MAX);
    return take_part(s, PART_CAMERA, &camera, why);
}

static struct orientation orientation_of(const struct controlled *run)
{
    struct chain camera;
    chain_get_part(&run->stream->settings.chain, PART_CAMERA, &camera);
    return settings_orientation(&camera);
}

// Sets mirror or flip.
static bool set_mirrored(const struct controlled *run, const char *name, const char *value, char why[PROPERTY_WHY])
{
    struct orientation to = orientation_of(run);
    bool *flag = strcmp(name, "flip") == 0 ? &to.flip : &to.mirror;
    return property_flag(value, flag, why) && orient(run->context, &to, why);
}

#define ANGLES "0|90|180|270"

static bool set_rotate(const struct controlled *run, const char *name, const char *value, char why[PROPERTY_WHY])
{
    struct orientation to = orientation_of(run);
    const int quarters = options_find(ANGLES, value);
    to.angle = 90 * quarters;
    return quarters < 0 ? property_fail(why, "rotate is 0, 90, 180 or 270") : orient(run->context, &to, why);
}

static bool next_rotate(const struct controlled *run, char next[PROPERTY_NAME], char why[PROPERTY_WHY])
{
    const struct orientation is = orientation_of(run);
    snprintf(next, PROPERTY_NAME, "%d", (is.angle + (is.back ? 270 : 90)) % 360);
    return true;
}

// The message may be the hint to press h, and it would hide a part of the help.
static bool changed_help(const struct controlled *run, char why[PROPERTY_WHY])
{
    note_clear(&run->stream->note, false);
    return true;
}

static bool changed_zoom(const struct controlled *run, char why[PROPERTY_WHY])
{
    events_note_zoom(run->context);
    return true;
}

static json_t *get_output_size(const struct controlled *run, const char *name, char why[PROPERTY_WHY])
{
    const struct option_size *size = &run->stream->settings.output;
    char text[32];
    snprintf(text, sizeof(text), "%dx%d", size->width, size->height);
    return json_string(size->width > 0 ? text : "auto");
}

static bool set_output_size(const struct controlled *run, const char *name, const char *value, char why[PROPERTY_WHY])
{
    struct stream *s = run->stream;
    struct option_size size = {0};
    if (strcmp(value, "auto") != 0 && !options_parse_size(value, &size))
        return property_fail(why, "output_size is WIDTHxHEIGHT, such as 1280x720, or auto");
    if (!chain_size_possible(size.width, size.height))
        return property_fail(why, "output_size has at most %d pixels on a side and %d in all", CHAIN_SIDE_MAX,
                             CHAIN_PIXELS_MAX);
    if (outputs_recording(&s->outputs))
        return property_fail(why, "a recording keeps its size; set recording none ends it");
    struct option_size to = size;
    if (size.width == 0)
        settings_size(&s->settings.chain, &s->playback.info->shape, &to.width, &to.height);
    if (!outputs_reopen(&s->outputs, to.width, to.height)) {
        if (s->outputs.encode.width > 0)
            return property_fail(why, "the virtual camera keeps its size while a program reads it");
        stream_output_failed(s);
        return property_fail(why, "the virtual camera stopped");
    }
    s->settings.output = size;
    return true;
}

static bool changed_vsync(const struct controlled *run, char why[PROPERTY_WHY])
{
    window_set_vsync(run->stream->window, run->stream->settings.vsync);
    return true;
}

static bool changed_fullscreen(const struct controlled *run, char why[PROPERTY_WHY])
{
    window_set_fullscreen(run->stream->window, run->stream->settings.fullscreen);
    return true;
}

static bool changed_tune(const struct controlled *run, char why[PROPERTY_WHY])
{
    struct stream *s = run->stream;
    if (s->settings.tune && !path_kind_info(s->state.kind)->needs_device)
        return property_fail(why, "the %s path has nothing to tune; %s", path_kind_name(s->state.kind),
                             s->devices.count > 0 ? "change to opencl or zerocopy first"
                                                  : "the others need an OpenCL device");
    return stream_tune(s) || property_fail(why, "cannot tune; see standard error");
}

#define AT(member) offsetof(struct settings, member)

const struct property live_properties[] = {
    {"camera", .type = PROPERTY_TEXT, .get = get_part, .set = set_part, .complete = "filter",
     .help = "requested filters before the chain; a look does not change them"},
    {"chain", .type = PROPERTY_TEXT, .get = get_part, .set = set_part, .complete = "filter",
     .help = "requested filter chain"},
    {"titles", .type = PROPERTY_TEXT, .get = get_part, .set = set_part, .complete = "filter",
     .help = "requested filters after the chain; a look does not change them"},
    {"look", .type = PROPERTY_TEXT, .get = get_look, .set = set_look, .complete = "look",
     .help = "look with this chain, or null; set: a look's name, or none"},
    {"param/", .type = PROPERTY_VALUE, .get = get_param, .set = set_param,
     .help = "parameter: param/STAGE/NAME; STAGE: filter or number"},
    {"params", .type = PROPERTY_LIST, .get = get_params, .help = "all parameters of the chain, with their ranges"},
    {"control/", .type = PROPERTY_VALUE, .get = get_control, .set = set_control,
     .help = "camera control: control/NAME"},
    {"controls", .type = PROPERTY_LIST, .get = get_controls,
     .help = "all controls of the camera that can be set, with their ranges"},
    {"path", .type = PROPERTY_CHOICE, .choices = PATH_OR_AUTO_CHOICES, .member = AT(path), .get = get_path,
     .changed = changed_path, .next = next_path, .noted = true, .help = "requested path"},
    {"device", .type = PROPERTY_TEXT, .get = get_device, .set = set_device, .next = next_device,
     .help = "OpenCL device; set: as --device"},
    {"split", .type = PROPERTY_CHOICE, .choices = SPLIT_CHOICES, .member = AT(split), .get = get_split,
     .changed = changed_split, .window = true, .help = "split view"},
    {"divider", .type = PROPERTY_NUMBER, .max = 1, .member = AT(divider), .window = true,
     .help = "place of the divider"},
    {"overlay", .type = PROPERTY_CHOICE, .choices = OVERLAY_CHOICES, .member = AT(overlay), .window = true,
     .kept = true, .help = "size of the overlay"},
    {"scope", .type = PROPERTY_CHOICE, .choices = SCOPE_CHOICES, .member = AT(scope), .changed = changed_panes,
     .window = true, .noted = true, .help = "graph of the result"},
    {"levels", .type = PROPERTY_OBJECT, .help = "mean, least and most of the histogram that the scope shows, or null"},
    {"show", .type = PROPERTY_VALUE, .set = set_show, .next = next_show,
     .help = "how many filters run, from the first on: 0 shows the original; or all"},
    {"shown", .type = PROPERTY_TEXT,
     .help = "the last filter that runs, such as 2 of 5: blur=3; null: all filters run"},
    {"mirror", .type = PROPERTY_FLAG, .set = set_mirrored, .help = "the camera's image is mirrored"},
    {"flip", .type = PROPERTY_FLAG, .set = set_mirrored, .help = "the camera's image is upside down, as by a mirror"},
    {"rotate", .type = PROPERTY_CHOICE, .choices = ANGLES, .set = set_rotate, .next = next_rotate,
     .help = "the camera's image is rotated by this angle, before mirror and flip"},
    {"zoom", .type = PROPERTY_NUMBER, .max = ZOOM_MOST, .member = AT(zoom), .changed = changed_zoom, .window = true,
     .help = "screen pixels per pixel of the image; 0: the image fits the window"},
    {"zoom_output", .type = PROPERTY_FLAG, .member = AT(zoom_output), .changed = changed_zoom, .window = true,
     .noted = true, .help = "zoom recordings and the virtual camera, too, but not the titles"},
    {"zoom_at", .type = PROPERTY_LIST, .help = "place of the image in the middle of the window: x and y, 0 to 1"},
    {"help", .type = PROPERTY_FLAG, .member = AT(help), .changed = changed_help, .window = true,
     .help = "the list of keys is shown"},
    {"vsync", .type = PROPERTY_FLAG, .member = AT(vsync), .changed = changed_vsync, .window = true, .noted = true,
     .help = "vertical sync"},
    {"fullscreen", .type = PROPERTY_FLAG, .member = AT(fullscreen), .changed = changed_fullscreen, .window = true,
     .help = "full screen"},
    {"tune", .type = PROPERTY_FLAG, .member = AT(tune), .changed = changed_tune, .noted = true,
     .help = "search for faster kernels while frames run"},
    {"matte_wait", .type = PROPERTY_NUMBER, .min = -1, .max = 1000, .member = AT(matte_wait), .noted = true,
     .help = "longest wait of a camera's or stream's frame for its matte, in ms; -1: until the next frame"},
    {"selected", .type = PROPERTY_TEXT, .help = "selected parameter"},
    {"output_size", .type = PROPERTY_TEXT, .get = get_output_size, .set = set_output_size, .noted = true,
     .help = "size of the results, WIDTHxHEIGHT, or auto: that of the filtered frames"},
    {"output_fit", .type = PROPERTY_CHOICE, .choices = OUTPUT_FITS, .member = AT(output_fit), .changed = changed_panes,
     .noted = true, .help = "for images of another shape: letterbox adds black bars, fill cuts two sides"},
    {"recording_format", .type = PROPERTY_CHOICE, .choices = RECORDING_FORMATS, .member = AT(recording_format),
     .noted = true, .help = "format of the recordings of the key r"},
    {0},
};
