// stream_properties.c: the settings and figures that every run with a stream has, each row below its functions
#include "base/json_text.h"
#include "base/log.h"
#include "control/properties.h"
#include "stream/stream.h"

#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool set_paused(const struct controlled *run, const char *rest, const char *value, char why[PROPERTY_WHY])
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

static json_t *get_position(const struct controlled *run, const char *rest, char why[PROPERTY_WHY])
{
    return seconds_json(run, run->stream->playback.position_s);
}

static bool set_position(const struct controlled *run, const char *rest, const char *value, char why[PROPERTY_WHY])
{
    char *end, reason[PLAYBACK_WHY];
    const double seconds = strtod(value, &end);
    if (end == value || *end || !isfinite(seconds))
        return property_fail(why, "'%.80s' is not a time; write seconds, such as 90 or 12.5", value);
    return playback_seek(&run->stream->playback, seconds, reason) || property_fail(why, "%.200s", reason);
}

static json_t *get_duration(const struct controlled *run, const char *rest, char why[PROPERTY_WHY])
{
    const double seconds = playback_duration(&run->stream->playback);
    return seconds > 0 ? seconds_json(run, seconds) : json_null();
}

static bool set_source(const struct controlled *run, const char *rest, const char *value, char why[PROPERTY_WHY])
{
    return source_change_request(&run->stream->change, value, why);
}

static bool set_recording(const struct controlled *run, const char *rest, const char *value, char why[PROPERTY_WHY])
{
    struct outputs *outputs = &run->stream->outputs;
    const char *now = outputs_describe(outputs).recording;
    const bool ends = strcmp(value, "none") == 0;
    if (ends && now && outputs_ending(outputs))
        return property_fail(why, "monocle is still finishing %.200s; try again later",
                             outputs_describe(outputs).ending);
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

static json_t *get_size(const struct controlled *run, const char *rest, char why[PROPERTY_WHY])
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

static json_t *get_version(const struct controlled *run, const char *rest, char why[PROPERTY_WHY])
{
    return json_string(MONOCLE_VERSION);
}

static json_t *get_stages(const struct controlled *run, const char *rest, char why[PROPERTY_WHY])
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

static json_t *get_status(const struct controlled *run, const char *rest, char why[PROPERTY_WHY])
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
