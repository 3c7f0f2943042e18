// source_change.h: replaces the source of a running stream: a thread opens the new one while the old one runs. Sources
// of a playlist follow one another. Main thread.
#pragma once

#include "stream/playback.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

// ---- playlists ----

// Zeroed is empty. Only source_change.c uses the members.
struct playlist {
    char *text;   // the items, each with its NUL
    char **item;  // texts of sources: source_setup.text
    int count;    // 0 or 1: there is nothing to play after the first source
    int next;     // index of the next item
    int failures; // in a row
};

// Makes a playlist of the sources in `lines`, one per line. Image files that follow one another are one slide show.
void playlist_init(struct playlist *list, const char *lines);
void playlist_free(struct playlist *list); // accepts a zeroed struct
// Returns the next source, valid until playlist_free. NULL: there is none. `loop`: the first one follows the last one.
const char *playlist_take(struct playlist *list, bool loop);
bool playlist_more(const struct playlist *list, bool loop); // true: playlist_take would return a source
// Tells the playlist whether the source of the latest playlist_take could be opened. There is no next source after
// `count` failures in a row.
void playlist_opened(struct playlist *list, bool ok);

// ---- the change ----

// Zeroed: no change. Only source_change.c uses the members after `requests`.
struct source_change {
    // Set by the stream; borrowed.
    struct playback *playback;
    struct note *note;
    const char *first;                                          // text of the source of the start
    const char *refused;                                        // why the source cannot change; NULL: it can
    bool plays;                                                 // stream_setup.paced
    bool (*allows)(void *context, const struct source *source); // as of stream_client
    void *context;
    struct playlist list; // the sources after the present one; before the start, set by the client
    unsigned requests;    // number of source_change_request so far

    char *wanted;          // text of the next source; NULL: none
    char *text;            // of the source that is being opened
    char *present;         // of the stream's source, which may use it; NULL: the source of the start
    bool loop;             // of source_setup
    bool running;          // the thread runs, or waits to be joined
    atomic_bool done;      // the thread has ended
    atomic_bool given_up;  // of source_setup: the run ends, or another source is wanted
    struct source *source; // that the thread opened; NULL: it failed (logged)
    int64_t stop_ns;       // when the old source had to stop, because `source` is accepted; 0: not yet
    bool told;             // the log has said that the old source is waited for
    char why[SOURCE_WHY];  // error of the latest change; "": none
    pthread_t thread;
};

// Requests a source by its text (source_setup.text), or several sources, one per line, which play one after another.
// The latest request wins. The view goes on with the old source if the new one cannot be opened (logged; the note
// reports it). False: source_check refuses the text, or the source of this run cannot change; `why` is one line, which
// the note shows.
bool source_change_request(struct source_change *change, const char *text, char why[SOURCE_WHY]);
// Returns the text of the stream's source, as source_setup.text.
const char *source_change_text(const struct source_change *change);
// Returns why the latest request failed; NULL: the stream has its source. Call when source_change_busy is false.
const char *source_change_failure(const struct source_change *change);
bool source_change_more(const struct source_change *change); // true: another source of the playlist follows at the end
// Returns source_setup.loop: a playlist repeats all of its sources.
bool source_change_loops(const struct source_change *change);
bool source_change_busy(const struct source_change *change); // true: the latest request is not carried out yet
// Starts to open a requested source. When it is open and no build runs (panes_close waits for a build), stops the
// capture of the old source, and returns the new one as soon as that has stopped; else NULL. No frame may be in flight.
// The caller then closes the old source and calls source_change_taken.
struct source *source_change_step(struct source_change *change);
// The stream has its new source, and nothing uses the text of the old one.
void source_change_taken(struct source_change *change);
// Ends a change at the end of the run. Call after the stream's source was closed. False: the thread still opens a
// source; the stream must then stay as it is.
bool source_change_close(struct source_change *change);
