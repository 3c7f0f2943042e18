// playback.c: pause, seek and step of the source
#include "stream/playback.h"

#include "base/file.h"
#include "stream/stream.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PLAYBACK_TIME = 48, SKIP_S = 5 };

static bool can_seek(const struct stream *s, char why[PLAYBACK_WHY])
{
    if (s->capture && s->info->frame_s > 0)
        return true;
    snprintf(why, PLAYBACK_WHY,
             s->still ? "cannot seek in %s: it is one image"
                      : "cannot seek in %s: only video files and slide shows have a position",
             s->info->name);
    return false;
}

double playback_duration(const struct stream *s)
{
    struct source_slide slide;
    return source_slide(s->source, s->playback.position_s, &slide) ? slide.count * s->info->frame_s
                                                                   : s->info->duration_s;
}

// Returns the time of the last frame; infinite: unknown.
static double last_s(const struct stream *s)
{
    const double duration_s = playback_duration(s);
    return duration_s > 0 ? duration_s - s->info->frame_s : INFINITY;
}

// Returns the time, or that of the last frame if it is earlier.
static double within(const struct stream *s, double seconds)
{
    return fmin(seconds, last_s(s));
}

// A frame that the main thread must take and show, also while it is paused.
static void await_frame(struct stream *s)
{
    s->playback.stepping = true;
    s->ended = false;
    meter_pause(&s->meter);
}

static void set_paused(struct stream *s, bool paused)
{
    s->settings.paused = paused;
    meter_pause(&s->meter);
    if (s->capture && s->info->frame_s > 0)
        capture_pause(s->capture, paused);
}

bool playback_seek(struct stream *s, double seconds, char why[PLAYBACK_WHY])
{
    if (!can_seek(s, why))
        return false;
    if (seconds > last_s(s) && !s->set.loop && !s->info->slides)
        set_paused(s, true);
    seconds = fmax(within(s, seconds), 0);
    if (!capture_seek(s->capture, seconds)) {
        snprintf(why, PLAYBACK_WHY, "cannot seek in %s now", s->info->name);
        return false;
    }
    s->playback.position_s = seconds;
    await_frame(s);
    return true;
}

// Returns true if no frame of the source was shown or is on its way.
static bool lacks_frame(const struct stream *s)
{
    return s->capture && !s->ended && !s->playback.stepping && panes_in_flight(s->panes) == 0 &&
           !panes_rerun(s->panes) && !panes_result(s->panes, PANE_MAIN);
}

void playback_pause(struct stream *s, bool paused)
{
    char why[PLAYBACK_WHY];
    const bool last = s->ended || s->playback.position_s > last_s(s) - s->info->frame_s / 2;
    const bool again = s->settings.paused && !paused && last && !s->set.loop;
    set_paused(s, paused);
    if (again)
        playback_seek(s, 0, why);
    if (paused && lacks_frame(s)) {
        capture_step(s->capture);
        await_frame(s);
    }
}

// Continues some images later in a slide show, or some seconds later in other sources.
static bool move(struct stream *s, int images, double seconds, char why[PLAYBACK_WHY])
{
    struct source_slide slide;
    if (!can_seek(s, why))
        return false;
    if (!source_slide(s->source, s->playback.position_s, &slide))
        return playback_seek(s, s->playback.position_s + seconds, why);
    int next = slide.number - 1 + images;
    if (s->set.loop && slide.count > 0)
        next = (next + slide.count) % slide.count;
    else if (next < 0 || next >= slide.count)
        return true; // the message names the image
    return playback_seek(s, next * s->info->frame_s, why);
}

bool playback_skip(struct stream *s, int sign, char why[PLAYBACK_WHY])
{
    return move(s, sign, sign * fmax(s->info->frame_s, SKIP_S), why);
}

bool playback_step(struct stream *s, int frames, char why[PLAYBACK_WHY])
{
    if (!can_seek(s, why))
        return false;
    if (!s->settings.paused)
        set_paused(s, true);
    if (frames != 1 || s->playback.stepping)
        return move(s, frames, frames * s->info->frame_s, why);
    if (!s->ended) { // else the last frame stays
        capture_step(s->capture);
        s->playback.position_s = within(s, s->playback.position_s + s->info->frame_s); // until the frame says it
        await_frame(s);
    }
    return true;
}

static void print_time(char text[PLAYBACK_TIME], double seconds)
{
    const long long tenths = llround(seconds * 10);
    snprintf(text, PLAYBACK_TIME, "%lld:%02lld.%lld", tenths / 600, tenths / 10 % 60, tenths % 10);
}

static void note_place(struct stream *s)
{
    struct source_slide slide;
    char at[PLAYBACK_TIME], whole[PLAYBACK_TIME] = "";
    const double duration_s = playback_duration(s);
    if (source_slide(s->source, s->playback.position_s, &slide)) {
        const bool last = slide.number == slide.count && !s->set.loop;
        note_set(&s->note, false, NOTE_S, "%s  %d of %d%s", file_base(slide.path), slide.number, slide.count,
                 last ? ", the last image" : "");
        return;
    }
    print_time(at, s->playback.position_s);
    if (duration_s > 0)
        print_time(whole, duration_s);
    note_set(&s->note, false, NOTE_S, "%s%s%s", at, duration_s > 0 ? " of " : "", whole);
}

void playback_note(struct stream *s)
{
    struct source_slide slide;
    if (!s->playback.stepping ||
        !source_slide(s->source, s->playback.position_s, &slide)) // else playback_arrived says which image came
        note_place(s);
}

void playback_arrived(struct stream *s, const struct frame *frame)
{
    struct source_slide slide;
    const bool awaited = s->playback.stepping;
    s->playback.stepping = false;
    if (awaited && frame)
        s->playback.stepped = s->taken;
    if (frame)
        s->playback.position_s = (double)frame->video_ns / 1e9;
    else if (awaited) // no image of a slide show after this one could be read
        s->playback.position_s = within(s, s->playback.position_s);
    if (awaited && source_slide(s->source, s->playback.position_s, &slide))
        note_place(s);
}
