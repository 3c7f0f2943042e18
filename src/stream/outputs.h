// outputs.h: the recording and the virtual camera of a run. Main thread.
#pragma once

#include "base/file.h"
#include "sink/recording.h"
#include "sink/virtual_camera.h"
#include "stream/output_files.h"
#include "stream/panes.h"

enum { OUTPUTS_ENDINGS = 4 }; // recordings that end at the same time

// Only outputs.c and its test use the members, except for `encode`, `chain`, `node_failed` and `resting`.
struct outputs {
    const struct source_info *info;
    struct meter *meter;
    struct note *note;
    int width, height;                // of the results
    const struct chain *chain;        // of the results; borrowed; set after outputs_open; NULL: none
    const struct option_texts *nodes; // of the virtual camera
    struct virtual_camera *camera;    // NULL: none
    struct image_shape encode;        // of its frames, which the panes deliver; width 0: there is no virtual camera
    bool node_failed;                 // one of several virtual cameras has stopped (logged)
    bool on_demand;                   // the source rests while no program reads the virtual camera
    bool resting;
    int64_t watched_ns; // when a program last read the virtual camera; 0: never

    int quality;             // of encoded videos; 0: the default
    char given[OUTPUT_NAME]; // the last recording that the user has named; "": none
    bool animation;          // the recording ends by itself
    uint64_t most;           // frames of the recording; 0: no limit
    int64_t time_ns;         // time of the last recorded frame in the recording
    int64_t lag_ns;          // from the time of the first frame, or the first after a shift, to when it was added
    int64_t rest_ns;         // time from this frame to the end of the video; 0 or less: unknown
    int64_t shift_ns;        // time in the recording minus frame.elapsed_ns
    bool shifted;            // the next frame sets shift_ns
    struct outputs_file {
        struct recording *recording; // NULL: none
        char name[OUTPUT_NAME];
        struct file_id own; // of a file that this run has created; else zero
        double rate;        // frames per second
        uint64_t frames;
        uint64_t left_out; // frames dropped because the reader stalled
        bool asked;        // it was begun during the run
        bool starting;     // ffmpeg starts, or
        bool measures;     // the rate of the frames is not known yet
        bool waits;        // as `wait` of outputs_add_frame
        bool ends;         // a thread ends it
        int64_t begun_ns;  // when it began to start, on the clock
        int64_t end_ns;    // its end in the recording, once it ends; else 0
        int64_t first_ns;  // time of the first frame that was to be recorded
        size_t queued;     // frames that wait for the start
        struct queued_frame {
            struct image picture;
            int64_t time_ns; // in the recording
        } queue[128];
    } file, ending[OUTPUTS_ENDINGS]; // `ending`: the oldest one first
    int endings;
    bool incomplete;             // a recording was, and outputs_follow has to report it
    char failure[RECORDING_WHY]; // why the recording that began or ended last is incomplete; "": it is complete
};

// Opens the virtual camera with these nodes (NULL: none) for results of this size. False on failure (logged). All
// pointers are borrowed.
bool outputs_open(struct outputs *outputs, const struct option_texts *nodes, const struct source_info *info, int width,
                  int height, struct meter *meter, struct note *note);
// Makes the source rest while no program reads the virtual camera: see outputs_rest_changed. False: the device does not
// report this (logged).
bool outputs_watch(struct outputs *outputs);
// Sets the source of later frames; borrowed. `was_live`: the source before it was live.
void outputs_set_source(struct outputs *outputs, const struct source_info *info, bool was_live);
void outputs_close(struct outputs *outputs); // accepts a zeroed struct

// Begins a recording. `quality`: as in struct recording_setup, also for later recordings. False on failure (logged).
// An encoded video, and one of a live source whose rate has to be measured, starts later: frames wait for this,
// those of a live source only if they fit (else the oldest ones are dropped), and outputs_follow reports it.
bool outputs_start_recording(struct outputs *outputs, struct claim *claim, int quality);
// Waits for the start of the recording, but not longer than `most_ns`, and not after a signal. False if it has failed
// (logged).
bool outputs_await_start(struct outputs *outputs, int64_t most_ns);
// The same during a run, in a new file; the note names it. A recording that runs ends when the file is there. Refuses
// an existing file, standard output and a wrong suffix. False on failure (logged).
bool outputs_record_new(struct outputs *outputs, const char *path, int quality);
// Adds the result of a frame, at frame->elapsed_ns: the time of the clock for a live source, else the time in the
// video. If the reader has stalled, waits for it (`wait`) or drops the frame. The frame waits for the start of the
// recording. False if the recording must end (logged).
bool outputs_add_frame(struct outputs *outputs, const struct frame *frame, const struct image *rgba, bool wait);
// Ends the recording, if there is one, and waits until it has ended. Returns true if every frame that was not dropped
// is written; logs the number of dropped frames. Removes a video without frames if monocle created its file (logged).
// After the end of a video, its last frame lasts until the video's duration; a longer rest than `most_ns` is left out.
// `quit`, or after a signal: waits at most OUTPUTS_START_NS for the start.
bool outputs_end_recording(struct outputs *outputs, int64_t most_ns, bool quit);
// Ends the recording on a thread, or begins one in the first of "monocle-NNNN.SUFFIX" that does not exist yet, or of
// "NAME-2.SUFFIX", "NAME-3.SUFFIX", ... after the user has named NAME.SUFFIX; or (`animation`) in a GIF, which ends
// after 10 s. If a recording has not started 10 s after it began, its end gives it up. The note reports the start,
// the end, or the reason why none begins. `still`: the source is a still image, which cannot be recorded.
void outputs_toggle_recording(struct outputs *outputs, const char *suffix, bool animation, bool still);
// Returns true while a recording ends.
bool outputs_ending(const struct outputs *outputs);
// Returns true while a recording ends, and for the first OUTPUTS_START_NS in which one starts.
#define OUTPUTS_START_NS 2000000000
bool outputs_busy(const struct outputs *outputs);
// Returns true while there is no room for more frames that must wait for the start, and none may be lost: the caller
// takes no frame.
bool outputs_full(const struct outputs *outputs);
// Call it at each turn of the loop. While a live source delivers no frame, repeats the last one. Adds frames that have
// waited for the start. Closes a recording that the thread has ended; the note reports the result. If `paused`, the
// note of a recording without a frame says that the view was paused. False: the recording is incomplete (logged).
bool outputs_follow(struct outputs *outputs, bool paused);
// Returns why the recording that began or ended last is incomplete; NULL: it is complete.
const char *outputs_failure(const struct outputs *outputs);

bool outputs_recording(const struct outputs *outputs); // true: there is a recording
// Adds the picture of a frame to the recording (`wait`: see outputs_add_frame). `picture` NULL: it is missing. False:
// the recording has failed and is closed (logged; the note reports it).
bool outputs_record(struct outputs *outputs, const struct frame *frame, const struct image *picture, bool wait);
// The same for the virtual camera, if there is one, and the main pane's result; measures this.
bool outputs_send(struct outputs *outputs, const struct panes *panes);
// While no frame is in flight: a program that begins to read the virtual camera gets the last one.
bool outputs_send_again(struct outputs *outputs, const struct panes *panes);
// Results have this size from now on. False: a recording or the virtual camera has begun with another size, which it
// keeps.
bool outputs_resize(struct outputs *outputs, int width, int height);
// Opens the virtual camera, if there is one, with results of this size. False (logged): it stays as it was, or
// it has stopped, and the width of `encode` is 0.
bool outputs_reopen(struct outputs *outputs, int width, int height);
void outputs_stop_recording(struct outputs *outputs); // because the size changed (logged; the note reports it)
// After outputs_watch: outputs->resting is true if no program has read the virtual camera for 2 s. The virtual camera
// is then black. Returns true if it has changed: the caller then calls source_rest.
bool outputs_rest_changed(struct outputs *outputs);

// The texts are borrowed.
struct outputs_facts {
    const char *recording; // name of the file; NULL: none
    const char *ending;    // name of the file that outputs_follow awaits; NULL: none
    uint64_t recorded;     // number of frames in this file
    int recorded_s;        // their time
    const char *camera;    // name of the virtual camera; NULL: none
    struct image_shape camera_shape;
    struct virtual_camera_state at;
    bool on_demand, resting; // as in struct outputs
};
struct outputs_facts outputs_describe(const struct outputs *outputs);
