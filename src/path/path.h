// path.h: a way to run a plan on frames: cpu, opencl or zerocopy
#pragma once

#include "compute/device.h"
#include "filter/chain.h"
#include "image/image.h"

#include <stdbool.h>
#include <stdint.h>

// The kinds of path. Their rows are in path.c. The `p` key goes through them in this order.
enum path_kind { PATH_CPU, PATH_OPENCL, PATH_ZEROCOPY, PATH_KINDS, PATH_DEFAULT = PATH_ZEROCOPY };
#define PATH_CHOICES "cpu|opencl|zerocopy"

struct path_kind_info {
    const char *name;  // "zerocopy"
    bool needs_device; // it runs on an OpenCL device
    bool shares_gl;    // its results are textures if the device shares with the window's GL context
    bool steps_down;   // the cpu path replaces it if there is no device
};
const struct path_kind_info *path_kind_info(enum path_kind kind);
const char *path_kind_name(enum path_kind kind);

enum { PATH_DEPTH_MAX = 4, PATH_STAGES = 40 };

// A picture whose rows arrive and leave one after the other, so that they stay in cache from the first step to the
// last. A path that cannot work by rows requests all rows at once.
struct path_feed {
    void *context;
    // Brings rows 0..last of the picture, and at most PATH_FEED_MORE further ones. The image, the path's own, may have
    // places for few rows: go by image_row. Returns false to give the picture up: the path then asks for no more rows
    // and makes none.
    bool (*need)(void *context, struct image *picture, int last);
    // Rows 0..count-1 of the result are there; all but the last PATH_FEED_MORE will be overwritten.
    void (*made)(void *context, const struct image *encoded, int count);
};
enum { PATH_FEED_MORE = 31 };

struct path_setup {
    enum path_kind kind;
    struct device *device;    // borrowed until path_close; NULL for a kind that needs none
    struct image_shape input; // shape of every frame
    // If the width is not 0, every result is also converted to this shape: a YUV format, the top left of the result
    // (docs/pixels.md section 6).
    struct image_shape encode;
    bool encoded_only; // results have this shape only; no RGBA is returned
    bool fed;          // PATH_CPU, encoded only: frames come by path_feed alone, and the chain stays
    const struct chain *chain;
    int depth; // frames in flight, 1..PATH_DEPTH_MAX; 0 means 1
    // "window", "generic:GROUP_WIDTH=64" (variants.h), "vectors" (filter/rows.h): used for each pass that it fits;
    // other passes use the generic code. Borrowed until path_close. NULL: the best variants.
    const char *variant;
    int threads;        // PATH_CPU: threads; 0 means one per CPU
    size_t cache_bytes; // PATH_CPU: of the last level of cache; 0 means this system's
    bool gl;            // a GL context is current where submit is called: results may be textures
};

enum stage_clock { STAGE_HOST, STAGE_DEVICE }; // clock_now_ns around the work, or the device's own profile

struct stage_time {
    char name[140]; // "upload", "pass blur+gray", "download"
    enum stage_clock clock;
    int64_t start_ns, end_ns; // clock_now_ns time; a device's stamps are moved to it
};

// One finished frame.
struct path_result {
    // RGBA, borrowed until the next path_collect; planes NULL when the result is a texture, or encoded only
    struct image image;
    unsigned texture; // GL texture name (GL_TEXTURE_2D, RGBA8), borrowed likewise; 0 when the result is an image
    int width, height;
    struct image encoded; // as path_setup.encode has it, borrowed likewise; planes NULL without
    uint64_t tag;         // as given to path_submit
    struct stage_time stage[PATH_STAGES];
    int stages;
};

struct path;

// Opens the path, compiling what it needs. A PATH_ZEROCOPY that cannot share steps down: mapped, opencl, cpu. On any
// thread. NULL on failure: `*error`, when not NULL, gets a text the caller frees (compiler log or one line), else
// logged.
struct path *path_open(const struct path_setup *setup, char **error);
// Fills in the names of the variants that fit a pass of the setup's chain on its device, the generic code first.
// Returns their number.
enum { PATH_VARIANTS = 8 };
int path_variants(const struct path_setup *setup, const char *names[PATH_VARIANTS]);
// Waits for what is in flight. Takes NULL. On the thread that submits, when the path has textures.
void path_close(struct path *path);

enum path_kind path_kind(const struct path *path);
const char *path_rung(const struct path *path); // "gl-shared", "mapped", "opencl", "cpu"
const char *path_why(const struct path *path);  // one sentence: why this rung
int path_depth(const struct path *path);
// How the latest frame came to the device; "" before the first:
//   "host-ptr"  read where it lies, as the cpu path always does; a device must share the host's memory for it
//   "pinned"    copied by the device, since it lies in memory of device.pages
//   "dma-buf"   copied by the device from another driver's memory, which device.pages have adopted
//   "copy"      copied by the host first
// All but the last need image.reach_bytes.
const char *path_input(const struct path *path);

// Starts work on a frame; its pixels must stay valid until the frame is collected. At most `depth` frames may be in
// flight. False on failure (logged once); *lost tells a device that will not come back.
bool path_submit(struct path *path, const struct image *frame, uint64_t tag, bool *lost);
// The same for a frame that comes by rows, of a path that is fed; it has come and gone when this returns, and what
// path_collect gives has no pixels, and stages that took the feed's time, too.
void path_feed(struct path *path, const struct path_feed *feed);
// Waits for the oldest frame in flight. `result` is filled; what it points to stays valid until the next collect.
bool path_collect(struct path *path, struct path_result *result, bool *lost);
int path_in_flight(const struct path *path);
// Whether the oldest frame in flight is finished, so that collecting it will not wait for a device. True where none is.
bool path_ready(const struct path *path);

// Copies a result's pixels into `rgba` (own memory of the result's size), reading the texture back where it is one. Not
// of one that is encoded only.
bool path_read(struct path *path, const struct path_result *result, struct image *rgba);

// Changes the chain without stopping: prepare builds on any thread while the old chain runs on; swap (on the thread
// that submits, with nothing in flight) puts the prepared one to work. A failed prepare leaves everything as it was;
// `*error` then gets a text the caller frees.
bool path_prepare(struct path *path, const struct chain *chain, char **error);
void path_swap(struct path *path);
