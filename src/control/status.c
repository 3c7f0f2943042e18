// status.c: collects the state of a run from its parts
#include "control/status.h"

#include "base/json_text.h"
#include "control/properties.h"
#include "path/path.h"
#include "sink/virtual_camera.h"
#include "stream/stream.h"

#include <jansson.h>
#include <stdio.h>

void status_tuning_words(const struct status *s, char text[TUNING_WORDS])
{
    const struct live_tuning_state *at = &s->tuning;
    const char *pause = s->settings->tune ? " (paused: frames would be skipped)" : " (paused: tune is off)";
    text[0] = '\0';
    if (!s->settings->tune && at->phase != LIVE_TUNING_TUNING)
        return;
    switch (at->phase) {
    case LIVE_TUNING_WAITING:
        snprintf(text, TUNING_WORDS, "waiting for a frame");
        break;
    case LIVE_TUNING_NOTHING:
        snprintf(text, TUNING_WORDS, "the %s path has nothing to tune", s->pane.kind);
        break;
    case LIVE_TUNING_TUNING:
        if (at->total == 0)
            snprintf(text, TUNING_WORDS, "starting");
        else
            snprintf(text, TUNING_WORDS, "%s: %d of %d, %.2f x%s", at->pass, at->tried, at->total, at->gain,
                     at->paused ? pause : "");
        break;
    case LIVE_TUNING_DONE:
        snprintf(text, TUNING_WORDS, "done, %d of %d passes faster", at->faster, s->pane.passes);
        break;
    case LIVE_TUNING_ENDED:
        snprintf(text, TUNING_WORDS, "ended: %s", at->why);
        break;
    }
}

void status_read(const struct stream *s, struct status *status)
{
    const struct capture_counts counts = playback_counts(&s->playback);
    *status = (struct status){
        .info = s->playback.info,
        .health = source_health(s->playback.source),
        .captured = counts.captured,
        .skipped = counts.skipped + counts.dropped,
        .settings = &s->settings,
        .state = &s->state,
        .meter = &s->meter,
        .building = panes_building(s->panes),
        .split = panes_split(s->panes),
        .depth = s->setup.depth,
        .outputs = outputs_describe(&s->outputs),
        .screen = s->window ? window_gl_name(s->window) : NULL,
    };
    status->note = note_text(&s->note, &status->note_is_error);
    if (s->tuning)
        status->tuning = live_tuning_describe(s->tuning);
    panes_describe(s->panes, PANE_MAIN, &status->pane);
    panes_describe(s->panes, PANE_OTHER, &status->other);
    while (status->mattes < STATUS_MATTES && matte_describe(status->mattes, &status->matte[status->mattes]))
        status->mattes++;
}

// ---- JSON ----

static json_t *json_camera(const struct outputs_facts *outputs)
{
    if (!outputs->camera)
        return json_null();
    const struct image_shape *shape = &outputs->camera_shape;
    const struct virtual_camera_state *at = &outputs->at;
    return json_pack("{s:o,s:s,s:i,s:i,s:s,s:I,s:I,s:I,s:o,s:o}", "name", text_json(outputs->camera), "pixel_format",
                     pixfmt_info(shape->format)->name, "width", shape->width, "height", shape->height, "matrix",
                     color_matrix_name(shape->color.matrix), "sent", (json_int_t)at->sent, "skipped",
                     (json_int_t)at->skipped, "repeated", (json_int_t)at->repeated, "resting",
                     outputs->on_demand ? json_boolean(outputs->resting) : json_null(), "watched",
                     at->watched < 0 ? json_null() : json_boolean(at->watched));
}

static json_t *json_tuning(const struct status *s)
{
    static const char *const phases[] = {
        [LIVE_TUNING_WAITING] = "waiting", [LIVE_TUNING_NOTHING] = "nothing", [LIVE_TUNING_TUNING] = "tuning",
        [LIVE_TUNING_DONE] = "done",       [LIVE_TUNING_ENDED] = "ended",
    };
    const struct live_tuning_state *at = &s->tuning;
    char text[TUNING_WORDS];
    status_tuning_words(s, text);
    if (!text[0])
        return json_null();
    return json_pack("{s:s,s:s,s:s,s:i,s:i,s:i,s:f,s:i,s:i,s:o}", "state", at->paused ? "paused" : phases[at->phase],
                     "text", text, "pass", at->pass, "tried", at->tried, "total", at->total, "failed", at->failed,
                     "gain", at->gain, "tuned", at->tuned, "faster", at->faster, "why", text_json(at->why));
}

static json_t *json_mattes(const struct status *s)
{
    json_t *list = json_array();
    for (int i = 0; i < s->mattes; i++) {
        const struct matte_facts *m = &s->matte[i];
        json_array_append_new(list, json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:I,s:i,s:o}", "name", m->name, "state",
                                              m->state, "rate", json_thousandths(m->rate), "program_ms",
                                              json_thousandths(m->program_ms), "age_ms", json_thousandths(m->age_ms),
                                              "wait_ms", json_thousandths(m->wait_ms), "late", (json_int_t)m->late,
                                              "restarts", m->restarts, "trouble", text_json(m->trouble)));
    }
    return list;
}

void status_add_source(const struct status *s, json_t *object)
{
    const struct image_shape *shape = &s->info->shape;
    json_object_update_new(
        object, json_pack("{s:o,s:s,s:i,s:i,s:s,s:s,s:s,s:o}", "source", text_json(s->info->name), "kind",
                          s->info->kind, "width", shape->width, "height", shape->height, "pixel_format",
                          pixfmt_info(shape->format)->name, "matrix", color_matrix_name(shape->color.matrix), "range",
                          color_range_name(shape->color.range), "rate", json_thousandths(s->info->rate)));
}

void status_add_run(const struct status *s, json_t *object)
{
    const struct source_health *health = &s->health;
    const struct pane_facts *pane = &s->pane;
    char chain[CHAIN_TEXT];
    chain_print_part(pane->chain, PART_LOOK, chain);
    json_object_update_new(object,
                           json_pack("{s:I,s:I,s:I,s:I,s:I,s:i,s:o,s:o,s:o}", "frames", (json_int_t)s->meter->frames,
                                     "skipped", (json_int_t)s->skipped, "captured", (json_int_t)s->captured, "damaged",
                                     (json_int_t)health->damaged, "lost", (json_int_t)health->lost, "outages",
                                     health->outages, "delivered", json_thousandths(health->rate), "trouble",
                                     text_json(health->trouble), "hint", text_json(health->hint)));
    json_object_update_new(object, json_pack("{s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "path", pane->kind, "sharing",
                                             pane->sharing, "in", pane->input, "why", text_json(pane->why), "device",
                                             text_json(pane->device), "chain", text_json(chain), "passes",
                                             passes_json(pane->pass, pane->passes), "tuning", json_tuning(s), "mattes",
                                             json_mattes(s), "virtual_camera", json_camera(&s->outputs)));
}

void status_add_state(const struct status *s, json_t *object)
{
    const struct meter *meter = s->meter;
    json_object_set_new(object, "fps", json_thousandths(meter_fps_now(meter)));
    json_object_set_new(object, "low_fps", json_thousandths(meter_fps_low(meter)));
    json_object_set_new(object, "age_ms", json_thousandths(meter_late_ms(&meter->age_ms, 50)));
    status_add_run(s, object);
    json_object_set_new(object, "building", json_boolean(s->building));
    properties_add(stream_properties, s->settings, object);
    json_object_set_new(object, "recording", s->outputs.recording ? text_json(s->outputs.recording) : json_null());
    json_object_set_new(object, "message", text_json(s->note));
    json_object_set_new(object, "message_is_error", json_boolean(s->note_is_error));
}
