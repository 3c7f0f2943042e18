// status.c: collects the state of a run from its parts
#include "command/live/status.h"

#include "command/live/session.h"

#include <stdio.h>

void status_tuning_words(const struct status *s, char text[TUNING_WORDS])
{
    const struct online_state *at = &s->tuning;
    text[0] = '\0';
    if (!s->wish->tune && at->phase != ONLINE_TUNING)
        return;
    switch (at->phase) {
    case ONLINE_WAITING:
        snprintf(text, TUNING_WORDS, "waiting for a frame");
        break;
    case ONLINE_NOTHING:
        snprintf(text, TUNING_WORDS, "the %s path has nothing to tune", s->lane.kind);
        break;
    case ONLINE_TUNING:
        if (at->total == 0)
            snprintf(text, TUNING_WORDS, "starting");
        else
            snprintf(text, TUNING_WORDS, "%s: %d of %d, %.2f x%s", at->pass, at->tried, at->total, at->gain,
                     at->paused ? " (paused)" : "");
        break;
    case ONLINE_DONE:
        snprintf(text, TUNING_WORDS, "done, %d of %d passes faster", at->faster, s->lane.passes);
        break;
    case ONLINE_ENDED:
        snprintf(text, TUNING_WORDS, "ended: %s", at->why);
        break;
    }
}

const struct status *status_read(struct session *s)
{
    struct status *status = &s->status;
    const struct capture_counts counts = stream_counts(&s->stream);
    *status = (struct status){
        .info = s->stream.info,
        .health = source_health(s->stream.source),
        .captured = counts.captured,
        .skipped = counts.skipped + counts.dropped,
        .wish = &s->stream.wish,
        .meter = &s->stream.meter,
        .look = showcase_look(s),
        .building = lanes_building(s->stream.lanes),
        .split = lanes_split(s->stream.lanes),
        .depth = s->stream.set.depth,
        .outputs = outputs_describe(&s->stream.outputs),
        .adjusted = &s->controls.adjusted,
        .screen = s->stream.window ? window_gl_name(s->stream.window) : NULL,
    };
    chooser_fill(s, &status->list);
    status->note = note_text(&s->stream.note, &status->note_is_error);
    if (s->stream.online)
        status->tuning = online_describe(s->stream.online);
    lanes_describe(s->stream.lanes, LANE_MAIN, &status->lane);
    lanes_describe(s->stream.lanes, LANE_OTHER, &status->other);
    return status;
}
