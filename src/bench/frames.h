// frames.h: whole frames through a path, from the source's memory to a texture or to the host's memory
#pragma once

#include "bench/pool.h"
#include "path/path.h"
#include "screen/renderer.h"

// The times of a frame. Not every path has all of them.
enum frame_part {
    FRAME_LATENCY,  // from submit to the end
    FRAME_PINNED,   // from the end of FRAME_COPY_IN to the end; from submit if there is no copy
    FRAME_WAIT,     // before FRAME_COPY_IN, for earlier frames in flight
    FRAME_COPY_IN,  // by the host, to memory that the device reaches
    FRAME_UPLOAD,   // to the device
    FRAME_PASSES,   // the filters
    FRAME_SHARE,    // a texture acquired from GL and released
    FRAME_DOWNLOAD, // from the device, or mapped
    FRAME_TEXTURE,  // from memory to a texture, until GL has finished
    FRAME_PARTS
};
extern const char *const frame_part_names[FRAME_PARTS]; // "copy_in"

struct frames {
    struct path *path;
    const struct pictures *pictures; // borrowed; used in turn
    int next;                        // index of a picture
    int depth;                       // frames in flight
    bool gl;                         // a frame ends in a texture
    struct upload upload;
    struct {
        double sum_ms;
        int count;       // 0: the path has no such part
    } part[FRAME_PARTS]; // of the latest frames_run
};

// Opens a path for pictures of the setup's input; with `textures`, frames end in textures. On failure returns false,
// and *error is as in path_open.
bool frames_open(struct frames *frames, const struct path_setup *setup, const struct pictures *pictures, char **error);
void frames_close(struct frames *frames); // accepts zeroed ones

// Makes `runs` frames, and sets *ms to the average time from the end of one frame to the end of the next. Other frames
// fill the pipeline first. False on failure (logged).
bool frames_run(struct frames *frames, int runs, double *ms);
// Filters the first picture alone and copies the result to `rgba`. False on failure (logged).
bool frames_first(void *frames, struct image *rgba);
