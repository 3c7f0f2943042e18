// playback.h: the source of a running stream: pause and seeks, and its replacement by another source. Main thread.
#pragma once

#include "source/capture.h"
#include "stream/panes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct playback {
    struct source *source;
    const struct source_info *info;
    struct capture *capture;    // NULL: not started
    struct capture_counts past; // of the sources before this one
    uint64_t taken;             // frames taken from all sources
    bool still;                 // the source is one image, shown once
    bool reshaped;              // the source's next frames have another shape
    bool ended;                 // the source has no more frames
    double position_s;          // time of the newest frame in a source that can seek, or of the frame that is due
    bool stepping;              // a frame is due that a seek or a step has asked for
    uint64_t stepped;           // `taken` when the latest such frame arrived
    // Set by the stream; borrowed.
    bool loop; // of stream_setup
    struct settings *settings;
    const struct panes *panes;
    struct meter *meter;
    struct note *note;
};

// Starts the capture. False on failure (logged).
bool playback_start(struct playback *playback, struct trace *trace);
// Stops the capture, after which no thread writes the trace. False: as capture_stop.
bool playback_stop(struct playback *playback, int wait_ms);
// Continues with another source, from its start. Closes the present one, whose capture has stopped.
void playback_replace(struct playback *playback, struct source *source);

// Freezes or continues the view. After the last frame, it continues from the start. Before the first frame of a source,
// a pause waits for this frame. A source that can seek waits meanwhile; others go on, and their frames are skipped.
void playback_pause(struct playback *playback, bool paused);

// The next functions return false if the source cannot seek; `why` is then one line.
enum { PLAYBACK_WHY = 400 };
// Continues at this time of the source. A paused view then shows that frame. A time after the last frame pauses there.
bool playback_seek(struct playback *playback, double seconds, char why[PLAYBACK_WHY]);
// The same by about 5 s forward (`sign` 1) or back (-1). A slide show moves by an image, with --loop from the last one
// to the first; without it, the first and the last image stay.
bool playback_skip(struct playback *playback, int sign, char why[PLAYBACK_WHY]);
// The same by a number of frames or images, and pauses.
bool playback_step(struct playback *playback, int frames, char why[PLAYBACK_WHY]);

double playback_duration(const struct playback *playback);              // 0: unknown
struct capture_counts playback_counts(const struct playback *playback); // frames of all sources of the run
// Sets the note to the new position after a seek or a step: "0:12.3 of 1:30.0". Of a slide show, the awaited frame sets
// it: "photo.jpg  2 of 3".
void playback_note(struct playback *playback);
// Follows a frame that was taken; NULL: the source has ended.
void playback_arrived(struct playback *playback, const struct frame *frame);

// ---- the change of the source: a thread opens the new one while the old one runs ----

// ---- playlists ----

// Zeroed is empty. Only playback.c uses the members.
struct playlist {
    char *text;   // the items, each with its NUL
    char **item;  // texts of sources: source_setup.text
    int count;    // 0 or 1: there is nothing to play after the first source
    int next;     // index of the next item
    int failures; // in a row
};

// Makes a playlist of the sources in `lines`, one per line. Image files that follow one another are one slide show.
void playlist_init(struct playlist *list, const char *lines);
// Returns the next source, valid until source_change_close. NULL: there is none. `loop`: the first one follows the last
// one.
const char *playlist_take(struct playlist *list, bool loop);

// ---- the change ----

// Zeroed: no change. Only playback.c uses the members after `requests`.
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
