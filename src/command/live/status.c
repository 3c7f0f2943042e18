// status.c: collects the state of a run from its parts
#include "command/live/status.h"

#include "command/live/session.h"

#include <stdio.h>

// Counts the frames of all sources of the run.
static struct capture_counts count(const struct session *s)
{
    const struct capture_counts now = s->capture ? capture_counts(s->capture) : (struct capture_counts){0};
    return (struct capture_counts){.captured = s->past.captured + now.captured,
                                   .skipped = s->past.skipped + now.skipped,
                                   .dropped = s->past.dropped + now.dropped};
}

uint64_t status_skipped(const struct session *s)
{
    const struct capture_counts counts = count(s);
    return counts.skipped + counts.dropped;
}

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
    *status = (struct status){
        .info = s->info,
        .health = source_health(s->source),
        .captured = count(s).captured,
        .skipped = status_skipped(s),
        .wish = &s->wish,
        .meter = &s->meter,
        .look = showcase_look(s),
        .building = lanes_building(s->lanes),
        .split = lanes_split(s->lanes),
        .depth = s->depth,
        .outputs = outputs_describe(&s->outputs),
        .adjusted = &s->controls.adjusted,
        .screen = s->window ? window_gl_name(s->window) : NULL,
    };
    status->note = note_text(&s->note, &status->note_is_error);
    if (s->online)
        status->tuning = online_describe(s->online);
    lanes_describe(s->lanes, LANE_MAIN, &status->lane);
    lanes_describe(s->lanes, LANE_OTHER, &status->other);
    return status;
}
