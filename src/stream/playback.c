// playback.c: pause, seek and step of the source
#include "stream/playback.h"

#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PLAYBACK_TIME = 48, SKIP_S = 5 };

static bool can_seek(const struct playback *p, char why[PLAYBACK_WHY])
{
    if (p->capture && p->info->frame_s > 0)
        return true;
    snprintf(why, PLAYBACK_WHY,
             p->still ? "cannot seek in %s: it is one image"
                      : "cannot seek in %s: only video files and slide shows have a position",
             p->info->name);
    return false;
}

struct capture_counts playback_counts(const struct playback *p)
{
    const struct capture_counts now = p->capture ? capture_counts(p->capture) : (struct capture_counts){0};
    return (struct capture_counts){.captured = p->past.captured + now.captured,
                                   .skipped = p->past.skipped + now.skipped,
                                   .dropped = p->past.dropped + now.dropped};
}

bool playback_start(struct playback *p, struct trace *trace)
{
    p->capture = capture_start(p->source, trace);
    return p->capture != NULL;
}

bool playback_stop(struct playback *p, int wait_ms)
{
    const struct capture_counts counts = playback_counts(p);
    if (!capture_stop(p->capture, wait_ms))
        return false;
    p->past = counts;
    p->capture = NULL;
    return true;
}

void playback_replace(struct playback *p, struct source *source)
{
    source_close(p->source);
    p->source = source;
    p->info = source_info(source);
    p->reshaped = p->ended = p->stepping = p->settings->paused = false;
    p->position_s = 0;
    p->stepped = 0;
    meter_pause(p->meter);
}

double playback_duration(const struct playback *p)
{
    struct source_slide slide;
    return source_slide(p->source, p->position_s, &slide) ? slide.count * p->info->frame_s : p->info->duration_s;
}

// Returns the time of the last frame; infinite: unknown.
static double last_s(const struct playback *p)
{
    const double duration_s = playback_duration(p);
    return duration_s > 0 ? duration_s - p->info->frame_s : INFINITY;
}

// Returns the time, or that of the last frame if it is earlier.
static double within(const struct playback *p, double seconds)
{
    return fmin(seconds, last_s(p));
}

// A frame that the main thread must take and show, also while it is paused.
static void await_frame(struct playback *p)
{
    p->stepping = true;
    p->ended = false;
    meter_pause(p->meter);
}

static void set_paused(struct playback *p, bool paused)
{
    p->settings->paused = paused;
    meter_pause(p->meter);
    if (p->capture && p->info->frame_s > 0)
        capture_pause(p->capture, paused);
}

bool playback_seek(struct playback *p, double seconds, char why[PLAYBACK_WHY])
{
    if (!can_seek(p, why))
        return false;
    if (seconds > last_s(p) && !p->loop && !p->info->slides)
        set_paused(p, true);
    seconds = fmax(within(p, seconds), 0);
    if (!capture_seek(p->capture, seconds)) {
        snprintf(why, PLAYBACK_WHY, "cannot seek in %s now", p->info->name);
        return false;
    }
    p->position_s = seconds;
    await_frame(p);
    return true;
}

// Returns true if no frame of the source was shown or is on its way.
static bool lacks_frame(const struct playback *p)
{
    return p->capture && !p->ended && !p->stepping && panes_in_flight(p->panes) == 0 && !panes_rerun(p->panes) &&
           !panes_result(p->panes, PANE_MAIN);
}

void playback_pause(struct playback *p, bool paused)
{
    char why[PLAYBACK_WHY];
    const bool last = p->ended || p->position_s > last_s(p) - p->info->frame_s / 2;
    const bool again = p->settings->paused && !paused && last && !p->loop;
    set_paused(p, paused);
    if (again)
        playback_seek(p, 0, why);
    if (paused && lacks_frame(p)) {
        capture_step(p->capture);
        await_frame(p);
    }
}

// Continues some images later in a slide show, or some seconds later in other sources.
static bool move(struct playback *p, int images, double seconds, char why[PLAYBACK_WHY])
{
    struct source_slide slide;
    if (!can_seek(p, why))
        return false;
    if (!source_slide(p->source, p->position_s, &slide))
        return playback_seek(p, p->position_s + seconds, why);
    int next = slide.number - 1 + images;
    if (p->loop && slide.count > 0)
        next = (next + slide.count) % slide.count;
    else if (next < 0 || next >= slide.count)
        return true; // the message names the image
    return playback_seek(p, next * p->info->frame_s, why);
}

bool playback_skip(struct playback *p, int sign, char why[PLAYBACK_WHY])
{
    return move(p, sign, sign * fmax(p->info->frame_s, SKIP_S), why);
}

bool playback_step(struct playback *p, int frames, char why[PLAYBACK_WHY])
{
    if (!can_seek(p, why))
        return false;
    if (!p->settings->paused)
        set_paused(p, true);
    if (frames != 1 || p->stepping)
        return move(p, frames, frames * p->info->frame_s, why);
    if (!p->ended) { // else the last frame stays
        capture_step(p->capture);
        p->position_s = within(p, p->position_s + p->info->frame_s); // until the frame says it
        await_frame(p);
    }
    return true;
}

static void print_time(char text[PLAYBACK_TIME], double seconds)
{
    const long long tenths = llround(seconds * 10);
    snprintf(text, PLAYBACK_TIME, "%lld:%02lld.%lld", tenths / 600, tenths / 10 % 60, tenths % 10);
}

static void note_place(struct playback *p)
{
    struct source_slide slide;
    char at[PLAYBACK_TIME], whole[PLAYBACK_TIME] = "";
    const double duration_s = playback_duration(p);
    if (source_slide(p->source, p->position_s, &slide)) {
        const bool last = slide.number == slide.count && !p->loop;
        note_set(p->note, false, NOTE_S, "%s  %d of %d%s", file_base(slide.path), slide.number, slide.count,
                 last ? ", the last image" : "");
        return;
    }
    print_time(at, p->position_s);
    if (duration_s > 0)
        print_time(whole, duration_s);
    note_set(p->note, false, NOTE_S, "%s%s%s", at, duration_s > 0 ? " of " : "", whole);
}

void playback_note(struct playback *p)
{
    struct source_slide slide;
    if (!p->stepping || !source_slide(p->source, p->position_s, &slide)) // else playback_arrived says which image came
        note_place(p);
}

void playback_arrived(struct playback *p, const struct frame *frame)
{
    struct source_slide slide;
    const bool awaited = p->stepping;
    p->stepping = false;
    if (awaited && frame)
        p->stepped = p->taken;
    if (frame)
        p->position_s = (double)frame->video_ns / 1e9;
    else if (awaited) // no image of a slide show after this one could be read
        p->position_s = within(p, p->position_s);
    if (awaited && source_slide(p->source, p->position_s, &slide))
        note_place(p);
}
