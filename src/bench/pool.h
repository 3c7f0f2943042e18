// pool.h: random pictures to measure with, made once for all cases; the check of a chain's result; plain copies
#pragma once

#include "bench/chosen.h"
#include "compute/device.h"
#include "compute/timing.h"
#include "filter/chain.h"
#include "image/image.h"
#include "path/path.h"
#include "path/rig.h"
#include "screen/renderer.h"

// ---- pictures ----

// Pictures of one shape.
struct pictures {
    struct image *image;
    int count;
};

// Makes one frame as a camera delivers it: NV21. False: logged.
bool pictures_make_camera(struct pictures *pictures, int width, int height);
void pictures_free(struct pictures *pictures); // accepts a zeroed one

// Calls first(context, rgba), which must filter the first picture into `rgba`, and compares `rgba` with the cpu path's
// output, computed filter by filter. Returns true if both are equal. Otherwise logs the first difference of `what`.
bool pictures_check(const struct pictures *pictures, const struct chain *chain,
                    bool (*first)(void *context, struct image *rgba), void *context, const char *what);

// ---- the pool ----

struct picture_pool;

enum { POOL_OUTPUTS = 2, POOL_PICTURES_MAX = 64 }; // outputs of a path or a rig, used in turn

// `pictures`: the number of pictures per shape. 0: one picture up to 4 megapixels, because a camera's frame is in the
// caches, too; otherwise enough to exceed the caches. NULL on failure (logged).
struct picture_pool *pool_open(int pictures);
void pool_close(struct picture_pool *pool); // accepts NULL; close the users of its pictures before

// Random pictures of this shape; owned by the pool. NULL on failure (logged).
const struct pictures *pool_pictures(struct picture_pool *pool, const struct image_shape *shape);
// The same pictures in the device's memory; owned by the pool. NULL on failure.
struct rig *pool_rig(struct picture_pool *pool, struct device *device, const struct image_shape *shape, bool to_image);

// Random memory of the host for copies, at least `bytes` large. Valid until the next call. NULL on failure (logged).
uint8_t *pool_copies(struct picture_pool *pool, size_t bytes);

// ---- plain copies within a device's memory, with which the speed of passes is compared ----

struct device_copy;

// Allocates `sources` sources and two targets of `bytes` each, used in turn, and fills them with random bytes. Measures
// the driver's own copy and the kernels, and selects the fastest. NULL on failure (logged).
struct device_copy *device_copy_open(struct device *device, size_t bytes, int sources);
void device_copy_close(struct device_copy *copy); // accepts NULL

// Makes 1 to TIMING_RUNS copies; the times are those of `bytes`. False on failure (logged).
bool device_copy_run(struct device_copy *copy, int runs, struct timing *timing);

// ---- whole frames through a path, from the source's memory to a texture or to the host's memory ----

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
