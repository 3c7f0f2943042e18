// source_change.c: replaces the source of a running view
#include "stream/source_change.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void playlist_free(struct playlist *list)
{
    free(list->text);
    free(list->item);
    *list = (struct playlist){0};
}

bool playlist_more(const struct playlist *list, bool loop)
{
    return list->failures < list->count && (list->next < list->count || (loop && list->count > 1));
}

const char *playlist_take(struct playlist *list, bool loop)
{
    return playlist_more(list, loop) ? list->item[list->next++ % list->count] : NULL;
}

void playlist_opened(struct playlist *list, bool ok)
{
    list->failures = ok ? 0 : list->failures + 1;
}

// ---- the change ----

enum { PATIENCE_MS = 3000, POLL_MS = 10, NS_PER_MS = 1000000 };

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
    note_set(change->note, false, 0, "opening %s", text[0] ? text : "the first camera");
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
    if (!change->running)
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
    if (!change->told && now_ns - change->stop_ns > (int64_t)PATIENCE_MS * NS_PER_MS) {
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
    const int64_t end_ns = clock_now_ns() + (int64_t)PATIENCE_MS * NS_PER_MS;
    change->given_up = true;
    while (change->running && !change->done && clock_now_ns() < end_ns)
        clock_sleep_until_ns(clock_now_ns() + (int64_t)POLL_MS * NS_PER_MS);
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
