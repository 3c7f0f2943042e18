// tracker.c: follows lane lines over frames: smooths them, rejects jumps, drops lines that stay out of sight
#include "lane/tracker.h"

#include <math.h>
#include <string.h>

enum { REJECTED_MAX = 3, SIDE_LINES = 2 };

static const double same_line = 0.6;      // metres between a line and its track
static const double trust = 0.3;          // of a new support in the strength
static const double dropped = 0.12;       // a track with less ends
static const double enough_support = 0.4; // counts as full support, because dashes have gaps
static const double confirming = 0.4;     // quality of a line that confirms another one
static const double reported = 0.3;       // smallest strength of a reported line
static const double sure_line = 0.8;      // strength of a line that separates others
static const double clear_quality = 0.9;  // of a line that needs no other one
static const double ahead = 0.06;         // largest heading of a line that needs no other one
static const double long_line = 15;       // metres: a shorter one may be the edge of a patch or of the road

static double quality(const struct lane_line *line)
{
    return fmin(line->support / enough_support, 1);
}

static int nearest_line(const struct lane_shape *shape, double offset)
{
    int best = -1;
    double distance = same_line;
    for (int i = 0; i < shape->lines; i++) {
        if (fabs(shape->line[i].offset - offset) > distance)
            continue;
        distance = fabs(shape->line[i].offset - offset);
        best = i;
    }
    return best;
}

// Returns true if the found shape continues the tracks: most of the confirmed ones are found again.
static bool continues(const struct lane_tracker *tracker, const struct lane_shape *found)
{
    double again = 0, all = 0;
    for (int i = 0; i < tracker->tracks; i++) {
        all += tracker->track[i].strength;
        if (nearest_line(found, tracker->track[i].line.offset) >= 0)
            again += tracker->track[i].strength;
    }
    return again >= all / 2;
}

// Moves the tracks to the found lines, and removes those lines from `found`.
static void move_tracks(struct lane_tracker *tracker, struct lane_shape *found, double smoothing)
{
    for (int i = 0; i < tracker->tracks; i++) {
        struct lane_track *track = &tracker->track[i];
        const int index = nearest_line(found, track->line.offset);
        if (index < 0) {
            track->line.support = 0;
            track->strength -= trust / 2 * track->strength;
            track->confidence -= trust / 2 * track->confidence;
            continue;
        }
        const double offset = track->line.offset;
        track->line = found->line[index];
        if (track->line.agreement > 0)
            track->confidence += trust * (track->line.agreement - track->confidence);
        track->strength += trust * (quality(&track->line) - track->strength);
        track->line.offset = offset + (1 - smoothing) * (track->line.offset - offset);
        found->line[index] = found->line[--found->lines];
    }
}

static void end_tracks(struct lane_tracker *tracker)
{
    int kept = 0;
    for (int i = 0; i < tracker->tracks; i++) {
        if (tracker->track[i].strength >= dropped)
            tracker->track[kept++] = tracker->track[i];
    }
    tracker->tracks = kept;
}

// A line alone may be any edge, with any bend, unless it is clear and long, and leads ahead.
static bool is_clear(const struct lane_shape *found, int line)
{
    return quality(&found->line[line]) >= clear_quality && found->line[line].longest >= long_line &&
           fabs(found->term[LANE_HEADING]) < ahead;
}

// A weak line must be seen twice before it is reported, except in the first frame of a road: two lines there confirm
// each other, because they are parallel. A single clear line is also reported there.
static void start_tracks(struct lane_tracker *tracker, const struct lane_shape *found)
{
    int sure = 0;
    for (int i = 0; i < found->lines; i++)
        sure += quality(&found->line[i]) >= confirming;
    const bool first = tracker->tracks == 0;
    for (int i = 0; i < found->lines && tracker->tracks < LANE_LINES; i++) {
        double trusted = !first || is_clear(found, i) ? 0.5 : 0.25;
        if (first && sure >= 2)
            trusted = 1;
        const double strength = trusted * quality(&found->line[i]);
        if (strength >= dropped)
            tracker->track[tracker->tracks++] = (struct lane_track){
                .line = found->line[i], .strength = strength, .confidence = found->line[i].agreement};
    }
}

static void sort_tracks(struct lane_tracker *tracker)
{
    for (int i = 1; i < tracker->tracks; i++) {
        const struct lane_track track = tracker->track[i];
        int k = i;
        for (; k > 0 && tracker->track[k - 1].line.offset > track.line.offset; k--)
            tracker->track[k] = tracker->track[k - 1];
        tracker->track[k] = track;
    }
}

// Returns the next confirmed track from `from` on, in steps of 1 or -1, at least `away` metres from `offset` and from
// each sure track in between (one that is not sure may be an arrow on the road); -1: none.
static int next_track(const struct lane_tracker *tracker, int from, int step, double offset, double away)
{
    for (int i = from; i >= 0 && i < tracker->tracks; i += step) {
        const struct lane_track *track = &tracker->track[i];
        if (track->strength < reported)
            continue;
        if (fabs(track->line.offset - offset) >= away)
            return i;
        if (track->strength >= sure_line)
            offset = track->line.offset;
    }
    return -1;
}

static void add_line(const struct lane_track *track, struct lane_result *result)
{
    struct lane_shape *shape = &result->shape;
    result->state = track->line.support > 0 || result->state == LANE_SEEN ? LANE_SEEN : LANE_HELD;
    result->confidence += track->confidence;
    result->line[shape->lines] = track->confidence;
    shape->line[shape->lines++] = track->line;
}

// Reports the lines beside the camera, and the next one on each side that is a lane away: a nearer one is a kerb, or
// the border of a cycle lane.
static void report(const struct lane_tracker *tracker, struct lane_result *result)
{
    int middle = 0, line[2 * SIDE_LINES]; // from left to right
    while (middle < tracker->tracks && tracker->track[middle].line.offset < 0)
        middle++;
    for (int side = 0; side < 2; side++) {
        const int step = 2 * side - 1, inner = 1 + side, own = next_track(tracker, middle - !side, step, 0, 0);
        line[inner] = line[inner + step] = own;
        if (own >= 0)
            line[inner + step] = next_track(tracker, own, step, tracker->track[own].line.offset, lane_narrowest);
    }
    *result = (struct lane_result){.shape = tracker->shape, .left = -1, .right = -1};
    result->shape.lines = 0;
    for (int i = 0; i < 2 * SIDE_LINES; i++) {
        if (line[i] < 0)
            continue;
        result->left = i == 1 ? result->shape.lines : result->left;
        result->right = i == 2 ? result->shape.lines : result->right;
        add_line(&tracker->track[line[i]], result);
    }
    result->confidence /= result->shape.lines > 0 ? result->shape.lines : 1;
}

void lane_track(struct lane_tracker *tracker, const struct lane_table *table, struct lane_result *result,
                struct lane_trace *trace)
{
    struct lane_shape found;
    lane_find(&found, table, &tracker->shape, tracker->known, trace);
    if (tracker->known && !continues(tracker, &found)) {
        found.lines = 0;
        if (++tracker->rejected > REJECTED_MAX)
            *tracker = (struct lane_tracker){.known = false};
    } else if (found.lines > 0) {
        tracker->rejected = 0;
        memcpy(tracker->shape.term, found.term, sizeof(found.term));
    }
    move_tracks(tracker, &found, table->settings->smoothing);
    end_tracks(tracker);
    if (tracker->tracks == 0 && (found.lines == 0 || (found.lines == 1 && !is_clear(&found, 0))))
        *tracker = (struct lane_tracker){.known = false};
    start_tracks(tracker, &found);
    sort_tracks(tracker);
    tracker->known = tracker->tracks > 0;
    tracker->shape.lines = tracker->tracks;
    for (int i = 0; i < tracker->tracks; i++)
        tracker->shape.line[i] = tracker->track[i].line;
    report(tracker, result);
}
