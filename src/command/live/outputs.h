// outputs.h: screenshots, the recording and the virtual camera. Main thread. Zeroed has none.
#pragma once

#include "command/live/lanes.h"
#include "image/y4m.h"
#include "sink/virtual_camera.h"

enum { OUTPUT_NAME = 4096 };

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

struct outputs {
    struct recorder recorder;
    struct virtual_camera *camera; // the virtual camera; NULL: none
};

// Opens the virtual camera `node` (NULL: none) for the source's frames. False on failure (logged).
bool outputs_open_camera(struct outputs *outputs, const char *node, const struct source_info *info);
// Write the main lane's result to the recording or to the virtual camera, if that is open, and measure it. If the
// recording's reader has stalled, waits for it (`wait`) or drops the frame. False: the output failed and is closed
// (logged; the note reports it).
bool outputs_record(struct outputs *outputs, struct lanes *lanes, bool wait);
bool outputs_send(struct outputs *outputs, struct lanes *lanes);
// Continues both with the source's new frame size: the recording in a new file, because a video has one frame size.
// False if one of them stopped (logged; the note reports it).
bool outputs_resize(struct outputs *outputs, const char *node, const struct source_info *info, struct note *note);
