// playback.c: pause, seek and step of the source
#include "command/live/playback.h"

#include "command/live/session.h"

#include <math.h>
#include <stdio.h>

void playback_pause(struct session *s, bool paused)
{
    s->wish.frozen = paused;
    meter_pause(&s->meter);
    if (s->capture && s->info->frame_s > 0)
        capture_pause(s->capture, paused);
}

static bool can_seek(const struct session *s, char why[PLAYBACK_WHY])
{
    if (s->capture && s->info->frame_s > 0)
        return true;
    snprintf(why, PLAYBACK_WHY, "cannot seek in %s: only videos, films and images in files can", s->info->name);
    return false;
}

// A frame that the main thread must take and show, also while it is paused.
static void await_frame(struct session *s)
{
    s->stepping = true;
    s->ended = false;
    meter_pause(&s->meter);
}

bool playback_seek(struct session *s, double seconds, char why[PLAYBACK_WHY])
{
    const struct source_info *info = s->info;
    if (!can_seek(s, why))
        return false;
    if (info->duration_s > 0)
        seconds = fmin(seconds, info->duration_s - info->frame_s);
    seconds = fmax(seconds, 0);
    if (!capture_seek(s->capture, seconds)) {
        snprintf(why, PLAYBACK_WHY, "cannot seek in %s now", info->name);
        return false;
    }
    s->position_s = seconds;
    await_frame(s);
    return true;
}

bool playback_step(struct session *s, int frames, char why[PLAYBACK_WHY])
{
    if (!can_seek(s, why))
        return false;
    if (!s->wish.frozen)
        playback_pause(s, true);
    if (frames != 1 || s->stepping)
        return playback_seek(s, s->position_s + frames * s->info->frame_s, why);
    if (!s->ended) { // else the last frame stays
        capture_step(s->capture);
        s->position_s += s->info->frame_s; // until the frame says it
        if (s->info->duration_s > 0)
            s->position_s = fmin(s->position_s, s->info->duration_s - s->info->frame_s);
        await_frame(s);
    }
    return true;
}

static int print_time(char *text, size_t size, double seconds)
{
    const long long tenths = llround(seconds * 10);
    return snprintf(text, size, "%lld:%02lld.%lld", tenths / 600, tenths / 10 % 60, tenths % 10);
}

void playback_print(const struct session *s, char text[PLAYBACK_TIME])
{
    text[0] = '\0';
    if (s->info->frame_s <= 0)
        return;
    const int used = print_time(text, PLAYBACK_TIME, s->position_s);
    if (s->info->duration_s > 0) {
        char whole[PLAYBACK_TIME / 2];
        print_time(whole, sizeof(whole), s->info->duration_s);
        snprintf(text + used, (size_t)(PLAYBACK_TIME - used), " of %s", whole);
    }
}
