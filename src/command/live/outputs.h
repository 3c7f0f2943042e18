// outputs.h: screenshots, the recording and the virtual camera. Main thread.
#pragma once

#include "command/live/lanes.h"
#include "image/y4m.h"
#include "sink/virtual_camera.h"

enum { OUTPUT_NAME = 4096 };

// Zeroed is closed. Only outputs.c uses the members.
struct recorder {
    struct y4m_writer *writer; // NULL: not recording
    char name[OUTPUT_NAME];
    char first[OUTPUT_NAME]; // name of the recording's first file
    bool created;            // the file did not exist before
    uint64_t frames;
    uint64_t left_out; // frames dropped because the reader stalled
};

// Writes a picture as the first "monocle-NNNN.png" that does not exist yet. On failure returns false (logged) and
// leaves no file.
bool output_save_new(const struct image *picture, char name[OUTPUT_NAME]);
// Returns true if a new file can be created in the current directory; tries it. False is logged.
bool output_new_possible(void);
// Begins a recording; `path` NULL: as the first "monocle-NNNN.y4m" that does not exist yet. False on failure (logged).
bool recorder_open(struct recorder *recorder, const char *path, const struct source_info *info);
// Closes the file and continues with the source's new frame size in "NAME-2.y4m", or the first free number. False on
// failure, or if the recording is not a regular file (logged).
bool recorder_continue(struct recorder *recorder, const struct source_info *info);
// Adds a frame. If the reader has stalled, waits for it (`wait`) or drops the frame. False if the recording must end
// (logged).
bool recorder_add(struct recorder *recorder, const struct image *rgba, bool wait);
// Returns true if every frame that was not dropped is written; logs the number of dropped frames. Removes a video
// without frames if the recorder created its file (logged).
bool recorder_close(struct recorder *recorder);

// Zeroed has none. Only outputs.c uses the members.
struct outputs {
    struct recorder recorder;
    struct virtual_camera *camera; // the virtual camera; NULL: none
    const char *node;             // of the virtual camera
    const struct source_info *info;
    struct meter *meter;
    struct note *note;
};

// Opens the virtual camera `node` (NULL: none) for the source's frames. False on failure (logged). All pointers are
// borrowed.
bool outputs_open(struct outputs *outputs, const char *node, const struct source_info *info, struct meter *meter,
                  struct note *note);
void outputs_close(struct outputs *outputs);
// Begins the recording, as recorder_open.
bool outputs_start_recording(struct outputs *outputs, const char *path);
// Ends the recording, if there is one, as recorder_close.
bool outputs_end_recording(struct outputs *outputs);
// Ends the recording, or begins one under a new name. The note reports it. `still`: there is only one frame; `frozen`:
// no frames arrive. False: the recording is incomplete (logged).
bool outputs_toggle_recording(struct outputs *outputs, bool still, bool frozen);
// Write the main lane's result to the recording or to the virtual camera, if that is open, and measure it. If the
// recording's reader has stalled, waits for it (`wait`) or drops the frame. False: the output failed and is closed
// (logged; the note reports it).
bool outputs_record(struct outputs *outputs, struct lanes *lanes, bool wait);
bool outputs_send(struct outputs *outputs, const struct lanes *lanes);
// Continues both with the source's new frame size: the recording in a new file, because a video has one frame size.
// False if one of them stopped (logged; the note reports it).
bool outputs_resize(struct outputs *outputs);
// Returns the shape of the virtual camera's frames; NULL: there is none.
const struct image_shape *outputs_camera_shape(const struct outputs *outputs);

// The texts are borrowed.
struct outputs_facts {
    const char *recording; // name of the file; NULL: none
    uint64_t recorded;     // its frames
    const char *camera;    // name of the virtual camera; NULL: none
    struct image_shape camera_shape;
    struct virtual_camera_counts sent;
};
struct outputs_facts outputs_describe(const struct outputs *outputs);
