// paths.h: whole frames through one path, for measuring
#pragma once

#include "command/bench/memory.h"
#include "path/path.h"
#include "screen/upload.h"

// What a frame goes through. Not every path has all.
enum frame_part {
    PART_COPY_IN,  // by the host, to memory that the device reaches
    PART_UPLOAD,   // to the device
    PART_PASSES,   // the filters
    PART_SHARE,    // a texture acquired from GL and given back
    PART_DOWNLOAD, // from the device, or mapped
    PART_TEXTURE,  // from memory to a texture, waited for
    PARTS
};

// Sums of one measurement, then a value per round.
struct frame_figure {
    double sum_ms;
    int count;
    struct samples ms;
};

struct frames_bench {
    struct path *path;
    const struct bench_pictures *pictures;
    bool gl; // a frame ends in a texture
    int depth, next;
    struct upload upload;
    struct frame_figure part[PARTS];
    struct frame_figure latency; // from submit to the end
    struct frame_figure pinned;  // from where the pixels lie in memory that the device reaches
};

bool frames_run(void *frames, int runs, struct trial_time *time); // for a trial: the time from frame to frame
void frames_keep(void *frames);
// The first picture's result.
bool frames_first(struct frames_bench *frames, struct image *rgba);
void frames_finish(struct frames_bench *frames);
