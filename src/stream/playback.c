// playback.c: pause, seek and step of the source
#include "stream/playback.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/thread.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

// ---- the change of the source: a thread opens the new one while the old one runs ----

// ---- playlists ----

void playlist_init(struct playlist *list, const char *lines)
{
    const size_t bytes = strlen(lines) + 1;
    size_t most = 1, used = 0;
    for (const char *at = lines; *at; at++)
        most += *at == '\n';
    *list = (struct playlist){.text = xmalloc(bytes + most * sizeof("@\n")), .item = xcalloc(most, sizeof(char *))};
    bool slides = false;
    for (const char *line = lines;; line++) {
        const size_t length = strcspn(line, "\n");
        memcpy(list->text + used, line, length);
        list->text[used + length] = '\0';
        const bool image = most > 1 && source_is_image_name(list->text + used);
        if (image && slides)
            list->text[used - 1] = '\n'; // in place of the NUL
        else
            list->item[list->count++] = list->text + used;
        if (image && !slides) {
            memmove(list->text + used + 2, list->text + used, length + 1);
            memcpy(list->text + used, "@\n", 2);
            used += 2;
        }
        slides = image;
        used += length + 1;
        line += length;
        if (!*line)
            return;
    }
}

static void playlist_free(struct playlist *list)
{
    free(list->text);
    free(list->item);
    *list = (struct playlist){0};
}

static bool playlist_more(const struct playlist *list, bool loop)
{
    return list->failures < list->count && (list->next < list->count || (loop && list->count > 1));
}

const char *playlist_take(struct playlist *list, bool loop)
{
    return playlist_more(list, loop) ? list->item[list->next++ % list->count] : NULL;
}

// There is no next source after `count` failures in a row.
static void playlist_opened(struct playlist *list, bool ok)
{
    list->failures = ok ? 0 : list->failures + 1;
}

// ---- the change ----

enum { PATIENCE_MS = 3000, POLL_MS = 10 };

bool source_change_request(struct source_change *change, const char *text, char why[SOURCE_WHY])
{
    struct playlist list;
    playlist_init(&list, text);
    const char *first = playlist_take(&list, false);
    if (change->refused)
        snprintf(why, SOURCE_WHY, "the source cannot change %s", change->refused);
    if (change->refused || !source_check(&(struct source_setup){.text = first}, why)) {
        playlist_free(&list);
        note_set(change->note, true, NOTE_S, "%s", why);
        return false;
    }
    playlist_free(&change->list);
    change->list = list;
    free(change->wanted);
    change->wanted = xstrdup(first);
    change->given_up = true; // the source that the thread is opening
    change->requests++;
    const char *name = text[0] ? text : "the first camera"; // several texts: the first one
    note_set(change->note, false, 0, "opening %.*s", (int)strcspn(name, "\n"), name);
    return true;
}

const char *source_change_text(const struct source_change *change)
{
    return change->present ? change->present : change->first;
}

const char *source_change_failure(const struct source_change *change)
{
    return change->why[0] ? change->why : NULL;
}

bool source_change_loops(const struct source_change *change)
{
    return change->playback->loop && change->list.count < 2;
}

bool source_change_more(const struct source_change *change)
{
    return !change->playback->settings->paused && playlist_more(&change->list, change->playback->loop);
}

bool source_change_busy(const struct source_change *change)
{
    return change->wanted || change->running;
}

static void *run(void *context)
{
    struct source_change *change = context;
    const struct source_setup setup = {.text = change->text,
                                       .loop = change->loop,
                                       .paced = change->plays,
                                       .slides = change->plays,
                                       .brief = true,
                                       .given_up = &change->given_up};
    log_keep_error(change->why, sizeof(change->why));
    change->source = source_open(&setup);
    change->done = true;
    return NULL;
}

// Stores the error if none is stored, and shows the stored one.
static void fail(struct source_change *change, const char *why)
{
    if (!change->why[0])
        snprintf(change->why, sizeof(change->why), "%s", why);
    note_set(change->note, true, NOTE_S, "%s", change->why);
    playlist_opened(&change->list, false);
}

// Opens the wanted source.
static void start(struct source_change *change)
{
    change->text = change->wanted;
    change->wanted = NULL;
    change->loop = source_change_loops(change);
    change->source = NULL;
    change->why[0] = '\0';
    change->done = change->given_up = false;
    change->running = thread_start(&change->thread, run, change, "open source");
    if (change->running)
        return;
    free(change->text);
    change->text = NULL;
    fail(change, "cannot open the source: no thread can start");
}

// Stops the capture of the old source. Returns false while its thread has to be waited for, because a driver stalls.
static bool stop_old(struct source_change *change)
{
    const int64_t now_ns = clock_now_ns();
    if (change->stop_ns == 0)
        change->stop_ns = now_ns;
    if (playback_stop(change->playback, 0))
        return true;
    if (!change->told && now_ns - change->stop_ns > PATIENCE_MS * NS_PER_MS) {
        log_warn("%s", note_set(change->note, true, 0, "waiting for %s, which does not answer",
                                change->playback->info->name));
        change->told = true;
    }
    return false;
}

// Returns false if the opened source must not be used (logged; change->why has the reason).
static bool usable(struct source_change *change)
{
    log_keep_error(change->why, sizeof(change->why));
    const bool ok = change->source && change->allows(change->context, change->source);
    log_keep_error(NULL, 0);
    return ok;
}

// Returns true if the source that the thread has opened is to be used; else closes it.
static bool accept(struct source_change *change)
{
    pthread_join(change->thread, NULL);
    if (!change->wanted && usable(change)) // else a later request replaces this one
        return true;
    if (!change->wanted)
        fail(change, "cannot change the source");
    source_close(change->source);
    free(change->text);
    change->source = NULL;
    change->text = NULL;
    change->running = false;
    return false;
}

// Takes the source that the thread has opened. NULL: it cannot be used, or the old one has to stop first.
static struct source *take(struct source_change *change)
{
    if ((change->stop_ns == 0 && !accept(change)) || !stop_old(change))
        return NULL;
    struct source *source = change->source;
    change->source = NULL;
    change->running = change->told = false;
    change->stop_ns = 0;
    change->why[0] = '\0';
    playlist_opened(&change->list, true);
    return source;
}

struct source *source_change_step(struct source_change *change)
{
    const struct playback *playback = change->playback;
    const bool opened = change->running && change->done; // else the thread may set change->source
    const bool waits =
        opened && change->source && change->stop_ns == 0 && !change->wanted && panes_build_runs(playback->panes);
    struct source *source = opened && !waits ? take(change) : NULL;
    if (source)
        return source;
    if (playback->ended && !source_change_busy(change) && source_change_more(change))
        change->wanted = xstrdup(playlist_take(&change->list, playback->loop));
    if (change->wanted && !change->running)
        start(change);
    return NULL;
}

void source_change_taken(struct source_change *change)
{
    free(change->present);
    change->present = change->text;
    change->text = NULL;
}

bool source_change_close(struct source_change *change)
{
    const int64_t end_ns = clock_now_ns() + PATIENCE_MS * NS_PER_MS;
    change->given_up = true;
    while (change->running && !change->done && clock_now_ns() < end_ns)
        clock_sleep_until_ns(clock_now_ns() + POLL_MS * NS_PER_MS);
    if (change->running && !change->done)
        return false;
    if (change->running && change->stop_ns == 0)
        pthread_join(change->thread, NULL);
    source_close(change->source);
    playlist_free(&change->list);
    free(change->text);
    free(change->wanted);
    free(change->present);
    *change = (struct source_change){0};
    return true;
}
