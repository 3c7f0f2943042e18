// status.c: collects the state of a run from its parts
#include "command/live/status.h"

#include "command/live/session.h"

const struct status *status_read(struct session *s)
{
    struct status *status = &s->status;
    const struct capture_counts counts = s->capture ? capture_counts(s->capture) : (struct capture_counts){0};
    *status = (struct status){
        .info = s->info,
        .health = source_health(s->source),
        .captured = counts.captured,
        .skipped = counts.skipped + counts.dropped,
        .wish = &s->wish,
        .meter = &s->meter,
        .building = lanes_building(s->lanes),
        .split = lanes_split(s->lanes),
        .depth = s->depth,
        .outputs = outputs_describe(&s->outputs),
        .adjusted = &s->controls.adjusted,
        .screen = s->window ? window_gl_name(s->window) : NULL,
    };
    status->note = note_text(&s->note, &status->note_is_error);
    lanes_describe(s->lanes, LANE_MAIN, &status->lane);
    lanes_describe(s->lanes, LANE_OTHER, &status->other);
    return status;
}
