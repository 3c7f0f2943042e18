// properties.c: reads, sets and lists the settings and figures of a run
#include "control/properties.h"

#include "base/json_text.h"
#include "base/log.h"
#include "base/options.h"
#include "base/text.h"
#include "control/request.h"
#include "stream/stream.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PROPERTIES = 96 };

union setting {
    bool flag;
    int choice;
    float number;
};

static const size_t sizes[] = {
    [PROPERTY_FLAG] = sizeof(bool), [PROPERTY_CHOICE] = sizeof(int), [PROPERTY_NUMBER] = sizeof(float)};

bool property_fail(char why[PROPERTY_WHY], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, PROPERTY_WHY, format, arguments);
    va_end(arguments);
    return false;
}

// Returns row `index` of the run's own and then of the common ones; NULL: there are fewer.
static const struct property *row(const struct controlled *run, int index)
{
    int own = 0;
    while (run->own[own].name)
        own++;
    const struct property *p = index < own ? &run->own[index] : &stream_properties[index - own];
    return p->name ? p : NULL;
}

// Finds the property, and what its functions get as `name`. NULL: `why` is set.
static const struct property *find(const struct controlled *run, const char *name, const char **rest,
                                   char why[PROPERTY_WHY])
{
    const char *names[PROPERTIES + 1] = {NULL};
    const struct property *p;
    for (int i = 0; i < PROPERTIES && (p = row(run, i)); i++) {
        const size_t length = strlen(p->name);
        const bool open = p->name[length - 1] == '/';
        *rest = open ? name + length : name;
        if (open ? strncmp(name, p->name, length) == 0 : strcmp(name, p->name) == 0)
            return p;
        names[i] = p->name;
    }
    options_unknown(why, PROPERTY_WHY, "property", name, names, "`monocle ctl SOCKET list` lists them");
    return NULL;
}

// ---- members ----

bool property_flag(const char *text, bool *flag, char why[PROPERTY_WHY])
{
    static const char *const words[] = {"off", "on", "false", "true", "no", "yes", "0", "1"};
    for (int i = 0; i < (int)(sizeof(words) / sizeof(*words)); i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *flag = i % 2;
            return true;
        }
    }
    return property_fail(why, "'%.80s' is not on or off", text);
}

// Finds the text among the choices, such as "cpu|opencl": its index.
static bool find_choice(const char *choices, const char *text, int *choice, char why[PROPERTY_WHY])
{
    char word[PROPERTY_NAME];
    if ((*choice = options_find(choices, text)) >= 0)
        return true;
    property_fail(why, "'%.80s' is not one of", text);
    for (int i = 0; options_choice(choices, i, word, sizeof(word)); i++)
        text_append(why, PROPERTY_WHY, "%s %s", i ? "," : "", word);
    return false;
}

static bool parse(const struct property *p, const char *text, union setting *value, char why[PROPERTY_WHY])
{
    char *end;
    if (p->type == PROPERTY_FLAG)
        return property_flag(text, &value->flag, why);
    if (p->type == PROPERTY_CHOICE)
        return find_choice(p->choices, text, &value->choice, why);
    value->number = strtof(text, &end);
    return (end != text && !*end && value->number >= p->min && value->number <= p->max) ||
           property_fail(why, "'%.80s' is not a number from %g to %g", text, (double)p->min, (double)p->max);
}

static json_t *member_json(const struct property *p, const struct settings *settings)
{
    char word[PROPERTY_NAME];
    union setting value;
    memcpy(&value, (const char *)settings + p->member, sizes[p->type]);
    if (p->type == PROPERTY_FLAG)
        return json_boolean(value.flag);
    if (p->type == PROPERTY_NUMBER)
        return json_thousandths((double)value.number);
    options_choice(p->choices, value.choice, word, sizeof(word));
    return json_string(word);
}

static void changing(const struct controlled *run)
{
    if (run->changing)
        run->changing(run->context);
}

static bool set_member(const struct controlled *run, const struct property *p, const union setting *value,
                       char why[PROPERTY_WHY])
{
    char *member = (char *)&run->stream->settings + p->member;
    union setting before;
    changing(run); // it may change the same member
    memcpy(&before, member, sizes[p->type]);
    memcpy(member, value, sizes[p->type]);
    if (!p->changed || p->changed(run, why))
        return true;
    memcpy(member, &before, sizes[p->type]);
    return false;
}

// ---- values ----

static json_t *get(const struct controlled *run, const struct property *p, const char *rest, json_t **report,
                   char why[PROPERTY_WHY])
{
    why[0] = '\0';
    if (!p->get && !p->member && !*report)
        *report = run->state(run->context);
    json_t *value = NULL;
    if (p->get)
        value = p->get(run, rest, why);
    else if (p->member)
        value = member_json(p, &run->stream->settings);
    else
        value = json_incref(json_object_get(*report, p->name));
    return value;
}

json_t *properties_get(const struct controlled *run, const char *name, json_t **report, char why[PROPERTY_WHY])
{
    const char *rest;
    const struct property *p = find(run, name, &rest, why);
    return p ? get(run, p, rest, report, why) : NULL;
}

// Writes the value as text; "": it is null, a list or an object.
static void print_value(const struct controlled *run, const struct property *p, const char *rest,
                        char text[REQUEST_TEXT])
{
    char why[PROPERTY_WHY];
    json_t *report = NULL, *value = get(run, p, rest, &report, why);
    if (!request_text(value, text))
        text[0] = '\0';
    json_decref(value);
    json_decref(report);
}

static bool writable(const struct property *p)
{
    return p->set || p->member;
}

// Finds a property that can be set now. NULL: `why` is set.
static const struct property *find_writable(const struct controlled *run, const char *name, const char **rest,
                                            char why[PROPERTY_WHY])
{
    const struct property *p = find(run, name, rest, why);
    if (!p)
        return NULL;
    if (!writable(p))
        property_fail(why, "%s cannot be set", name);
    else if (p->window && !run->stream->window)
        property_fail(why, "%s needs a window, and there is none", name);
    else
        return p;
    return NULL;
}

bool properties_set(const struct controlled *run, const char *name, const char *value, char why[PROPERTY_WHY])
{
    union setting parsed;
    const char *rest;
    char text[REQUEST_TEXT];
    const struct property *p = find_writable(run, name, &rest, why);
    if (!p)
        return false;
    if (!value)
        return property_fail(why, "%.80s must be a text, a number or a boolean of at most %d bytes", name,
                             REQUEST_TEXT - 1);
    if (p->set && !p->set(run, rest, value, why))
        return false;
    if (!p->set && !(parse(p, value, &parsed, why) && set_member(run, p, &parsed, why)))
        return false;
    changing(run);
    if (p->noted) {
        print_value(run, p, rest, text);
        note_set(&run->stream->note, false, NOTE_S, "%s %s", p->name, text);
    }
    return true;
}

// Returns true if two texts mean the same value, such as 1 and 1.0.
static bool same_value(const struct property *p, const char *a, const char *b)
{
    union setting one = {0}, other = {0};
    char why[PROPERTY_WHY];
    return strcmp(a, b) == 0 || (p->member && parse(p, a, &one, why) && parse(p, b, &other, why) &&
                                 memcmp(&one, &other, sizes[p->type]) == 0);
}

bool properties_cycle(const struct controlled *run, const char *name, const char *const *values, char why[PROPERTY_WHY])
{
    char now[REQUEST_TEXT], next[PROPERTY_NAME];
    const char *rest;
    int i = 0;
    const struct property *p = find_writable(run, name, &rest, why);
    if (!p)
        return false;
    if (p->next && !values[0])
        return p->next(run, next, why) && properties_set(run, name, next, why);
    const char *choices = p->type == PROPERTY_FLAG ? "off|on" : p->choices;
    if (!values[0] && !choices)
        return property_fail(why, "cycle %s needs the values", name);
    print_value(run, p, rest, now);
    while (values[i] && !same_value(p, values[i], now))
        i++;
    if (values[0])
        return properties_set(run, name, values[i] && values[i + 1] ? values[i + 1] : values[0], why);
    i = options_find(choices, now);
    if (!options_choice(choices, i + 1, next, sizeof(next)))
        options_choice(choices, 0, next, sizeof(next));
    return properties_set(run, name, next, why);
}

json_t *properties_list(const struct controlled *run)
{
    static const char *const types[] = {
        [PROPERTY_TEXT] = "text", [PROPERTY_NUMBER] = "number", [PROPERTY_FLAG] = "flag",  [PROPERTY_CHOICE] = "choice",
        [PROPERTY_LIST] = "list", [PROPERTY_OBJECT] = "object", [PROPERTY_VALUE] = "value"};
    json_t *list = json_array();
    const struct property *p;
    for (int i = 0; (p = row(run, i)); i++) {
        json_t *object = json_pack("{s:s,s:s,s:b,s:s}", "name", p->name, "type", types[p->type], "writable",
                                   (int)writable(p), "help", p->help);
        if (p->choices)
            json_object_set_new(object, "choices", json_string(p->choices));
        if (p->max > p->min)
            json_object_update_new(object, json_pack("{s:f,s:f}", "min", (double)p->min, "max", (double)p->max));
        json_array_append_new(list, object);
    }
    return list;
}

// ---- members for others ----

void properties_add(const struct property *rows, const struct settings *settings, json_t *state)
{
    for (const struct property *p = rows; p->name; p++) {
        if (!p->member || json_object_get(state, p->name)) // the state has the path of the frame, not the requested one
            continue;
        json_object_set_new(state, p->name, member_json(p, settings));
    }
}

void properties_kept(const struct property *rows, const struct settings *settings, char text[PROPERTIES_KEPT])
{
    char value[REQUEST_TEXT];
    text[0] = '\0';
    for (const struct property *p = rows; p->name; p++) {
        json_t *json = p->kept ? member_json(p, settings) : NULL;
        if (json && request_text(json, value))
            text_append(text, PROPERTIES_KEPT, "%s = %s\n", p->name, value);
        json_decref(json);
    }
}

void properties_restore(const struct property *rows, struct settings *settings, const char *name, const char *value)
{
    char why[PROPERTY_WHY];
    union setting restored;
    for (const struct property *p = rows; p->name; p++) {
        if (p->kept && strcmp(p->name, name) == 0 && parse(p, value, &restored, why))
            memcpy((char *)settings + p->member, &restored, sizes[p->type]);
    }
}

// ---- the settings and figures that every run with a stream has, each row below its functions ----

static bool set_paused(const struct controlled *run, const char *name, const char *value, char why[PROPERTY_WHY])
{
    bool paused = false;
    if (!property_flag(value, &paused, why))
        return false;
    playback_pause(&run->stream->playback, paused);
    return true;
}

static json_t *seconds_json(const struct controlled *run, double seconds)
{
    return run->stream->playback.info->frame_s > 0 ? json_real(round(seconds * 1e6) / 1e6) : json_null();
}

static json_t *get_position(const struct controlled *run, const char *name, char why[PROPERTY_WHY])
{
    return seconds_json(run, run->stream->playback.position_s);
}

static bool set_position(const struct controlled *run, const char *name, const char *value, char why[PROPERTY_WHY])
{
    char *end, reason[PLAYBACK_WHY];
    const double seconds = strtod(value, &end);
    if (end == value || *end || !isfinite(seconds))
        return property_fail(why, "'%.80s' is not a time; write seconds, such as 90 or 12.5", value);
    return playback_seek(&run->stream->playback, seconds, reason) || property_fail(why, "%.200s", reason);
}

static json_t *get_duration(const struct controlled *run, const char *name, char why[PROPERTY_WHY])
{
    const double seconds = playback_duration(&run->stream->playback);
    return seconds > 0 ? seconds_json(run, seconds) : json_null();
}

static bool set_source(const struct controlled *run, const char *name, const char *value, char why[PROPERTY_WHY])
{
    return source_change_request(&run->stream->change, value, why);
}

static bool set_recording(const struct controlled *run, const char *name, const char *value, char why[PROPERTY_WHY])
{
    struct outputs *outputs = &run->stream->outputs;
    const char *now = outputs_describe(outputs).recording;
    const bool ends = strcmp(value, "none") == 0;
    if (ends && now)
        outputs_toggle_recording(outputs, NULL, false, false);
    if (ends)
        return true;
    if (run->stream->playback.still)
        return property_fail(why, "a still image cannot be recorded; save a screenshot instead");
    property_fail(why, "cannot start a recording"); // an error that is logged replaces this
    log_keep_error(why, PROPERTY_WHY);
    const bool ok = outputs_record_new(outputs, value, run->stream->files.options->record_quality);
    log_keep_error(NULL, 0);
    return ok;
}

static json_t *get_size(const struct controlled *run, const char *name, char why[PROPERTY_WHY])
{
    const struct path_result *result = panes_result(run->stream->panes, PANE_MAIN);
    char text[32];
    int width, height;
    settings_size(&run->stream->settings.chain, &run->stream->playback.info->shape, &width, &height);
    if (result) {
        width = result->width;
        height = result->height;
    }
    snprintf(text, sizeof(text), "%dx%d", width, height);
    return json_string(text);
}

static json_t *get_version(const struct controlled *run, const char *name, char why[PROPERTY_WHY])
{
    return json_string(MONOCLE_VERSION);
}

static json_t *get_stages(const struct controlled *run, const char *name, char why[PROPERTY_WHY])
{
    const struct meter *meter = &run->stream->meter;
    json_t *object = json_object();
    for (int i = 0; i < meter->shown_stages; i++) {
        const struct meter_stage *stage = &meter->stage[meter->shown_stage[i]];
        json_object_set_new(object, stage->name,
                            json_pack("{s:o,s:o,s:s}", "median_ms", json_thousandths(meter_late_ms(&stage->ms, 50)),
                                      "p95_ms", json_thousandths(meter_late_ms(&stage->ms, 95)), "clock",
                                      stage->clock == STAGE_DEVICE ? "device" : "host"));
    }
    return object;
}

static json_t *get_status(const struct controlled *run, const char *name, char why[PROPERTY_WHY])
{
    return run->state(run->context);
}

const struct property stream_properties[] = {
    {"source", .type = PROPERTY_TEXT, .set = set_source, .complete = "source",
     .help = "name of the source; set: file, URL, camera:NAME, ..."},
    {"size", .type = PROPERTY_TEXT, .get = get_size, .help = "size of the filtered frames, as 640x480"},
    {"sharing", .type = PROPERTY_TEXT, .help = "sharing mode of the last frame"},
    {"building", .type = PROPERTY_FLAG, .help = "the requested chain is being built"},
    {"paused", .type = PROPERTY_FLAG, .member = offsetof(struct settings, paused), .set = set_paused,
     .help = "the view is paused"},
    {"position", .type = PROPERTY_NUMBER, .get = get_position, .set = set_position,
     .help = "time in the video, in seconds, or null"},
    {"duration", .type = PROPERTY_NUMBER, .get = get_duration, .help = "duration of the video, in seconds, or null"},
    {"frames", .type = PROPERTY_NUMBER, .help = "number of frames shown"},
    {"captured", .type = PROPERTY_NUMBER, .help = "number of frames from the source"},
    {"skipped", .type = PROPERTY_NUMBER, .help = "number of frames that were not shown"},
    {"damaged", .type = PROPERTY_NUMBER, .help = "number of the camera's damaged frames"},
    {"lost", .type = PROPERTY_NUMBER, .help = "number of frames that the camera missed"},
    {"outages", .type = PROPERTY_NUMBER, .help = "number of the camera's outages"},
    {"delivered", .type = PROPERTY_NUMBER, .help = "frames per second from the camera"},
    {"trouble", .type = PROPERTY_TEXT, .help = "why the source delivers no frames, or empty"},
    {"hint", .type = PROPERTY_TEXT, .help = "advice about the source, such as that its privacy switch is on, or empty"},
    {"fps", .type = PROPERTY_NUMBER, .help = "frames per second"},
    {"low_fps", .type = PROPERTY_NUMBER, .help = "1 % low"},
    {"age_ms", .type = PROPERTY_NUMBER, .help = "median age of the last 60 frames when shown"},
    {"stages", .type = PROPERTY_OBJECT, .get = get_stages, .help = "time of each stage, over the last 60 frames"},
    {"mattes", .type = PROPERTY_LIST, .help = "programs of mattes: name, state, rate, times, restarts, trouble"},
    {"recording", .type = PROPERTY_TEXT, .set = set_recording, .complete = "file",
     .help = "file of the recording, or null; set FILE: record to FILE from the next frame on; set none: end"},
    {"virtual_camera", .type = PROPERTY_OBJECT, .help = "device, size and counts of the virtual camera, or null"},
    {"message", .type = PROPERTY_TEXT, .help = "message in the window"},
    {"status", .type = PROPERTY_OBJECT, .get = get_status,
     .help = "all fields of the JSON event progress, and those of the source"},
    {"version", .type = PROPERTY_TEXT, .get = get_version, .help = "version of monocle"},
    {0},
};
