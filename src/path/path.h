// path.h: a path runs a plan on frames: cpu, opencl, gl or zerocopy
#pragma once

#include "filter/chain.h"
#include "image/image.h"

#include <stdbool.h>
#include <stdint.h>

struct device;
struct gl_context;
struct tuned;
struct tuned_found;

// The kinds of path. Their rows are in path.c. The `p` key goes through them in this order.
enum path_kind { PATH_CPU, PATH_OPENCL, PATH_GL, PATH_ZEROCOPY, PATH_KINDS, PATH_DEFAULT = PATH_ZEROCOPY };
#define PATH_CHOICES "cpu|opencl|gl|zerocopy"
// What the user may name: a kind, or PATH_AUTO (choice.h).
enum { PATH_AUTO = PATH_KINDS };
#define PATH_OR_AUTO_CHOICES PATH_CHOICES "|auto"

struct path_kind_info {
    const char *name;  // "zerocopy"
    bool needs_device; // it runs on an OpenCL device
    bool needs_gl;     // it draws in a GL context
    bool shares_gl;    // its results are textures if the device shares with the window's GL context
    bool steps_down;   // the gl path or the cpu path replaces it if there is no device
};
const struct path_kind_info *path_kind_info(enum path_kind kind);
const char *path_kind_name(enum path_kind kind);

enum { PATH_DEPTH_MAX = 4, PATH_STAGES = FILTER_STEPS * CHAIN_MAX + 8 };

// A picture whose rows arrive and leave one after the other, so that they stay in the cache through all steps. A path
// that cannot work by rows requests all rows at once.
struct path_feed {
    void *context;
    // Writes rows 0..last of the picture, and at most PATH_FEED_MORE more. The path owns the image, which may keep only
    // a few rows; image_row returns their addresses. False abandons the picture: the path requests and makes no more
    // rows.
    bool (*need)(void *context, struct image *picture, int last);
    // Rows 0..count-1 of the result are ready. The path overwrites all but the last PATH_FEED_MORE after this call.
    void (*made)(void *context, const struct image *encoded, int count);
};
enum { PATH_FEED_MORE = 31 };

// Measures: small numbers of a fixed size that a path computes from a result. Sums are of the channel green; all
// channels of grey pixels are equal.
enum path_measure { MEASURE_HISTOGRAM = 1, MEASURE_COLUMNS = 2, MEASURE_ROWS = 4, MEASURE_END = 8 };
enum { MEASURE_CHANNELS = 3, MEASURE_SUMMED = 1, MEASURE_STRIPS_MAX = 64 };

struct path_measures {
    const uint32_t (*histogram)[FILTER_LEVELS]; // pixels of each value, for red, green and blue
    // columns[strip * width + x]: the sum of column x over the rows height * strip / strips to
    // height * (strip + 1) / strips - 1
    const uint32_t *columns;
    const uint32_t *rows; // rows[y]: the sum of row y
};

// The mean and the extremes of each channel, which follow from its histogram. All 0 without pixels.
struct path_levels {
    double mean[MEASURE_CHANNELS];
    int least[MEASURE_CHANNELS], most[MEASURE_CHANNELS];
};
void path_levels(const uint32_t histogram[MEASURE_CHANNELS][FILTER_LEVELS], struct path_levels *levels);

struct path_setup {
    enum path_kind kind;
    struct device *device;    // borrowed until path_close; NULL for a kind that needs none
    struct image_shape input; // shape of every frame
    // If the width is not 0, every result is also converted to this shape: a YUV format, the top left of the result
    // (docs/pixels.md section 6).
    struct image_shape encode;
    bool encoded_only;  // results have this shape only; no RGBA is returned
    bool fed;           // PATH_CPU, encoded_only: all frames arrive by path_feed, and the chain does not change
    unsigned measures;  // of enum path_measure, for each result; not with encoded_only. 0: none
    int strips;         // of MEASURE_COLUMNS, 1 to MEASURE_STRIPS_MAX
    bool measured_only; // results have measures only: no pixels are downloaded or returned
    const struct chain *chain;
    int depth; // frames in flight, 1..PATH_DEPTH_MAX; default: 1
    // "window", "generic:GROUP_WIDTH=64" (variants.h), "vectors" (filter/rows.h): used for each pass that it fits;
    // other passes use the generic code. "rows:BANDS=8": the best rows with these parameters (cpu_rows.h). Borrowed
    // until path_close. NULL: the best variants and parameters.
    const char *variant;
    int threads;         // PATH_CPU: threads; 0: one per CPU. Other paths: threads that copy a frame (copier.h)
    struct tuned *tuned; // PATH_CPU: tuning results, borrowed until path_close; NULL: none
    size_t cache_bytes;  // PATH_CPU: of the last level of cache; 0: this system's
    // A GL context, bound to the thread that submits until path_close; NULL: none. Borrowed until path_close.
    struct gl_context *gl;
    bool textures;       // results may be textures of this context
    const char *kernels; // PATH_GL: a directory with files that replace embedded kernels, or NULL; borrowed likewise
};

enum stage_clock { STAGE_HOST, STAGE_DEVICE }; // measured by the host, or by the device's profiling events

struct stage_time {
    char name[140]; // "upload", "pass blur+gray", "download"
    enum stage_clock clock;
    int64_t start_ns, end_ns; // times of clock_now_ns; device times are converted
};

// One finished frame.
struct path_result {
    // RGBA, borrowed until the next path_collect; planes NULL if the result is a texture, encoded_only or measured_only
    struct image image;
    unsigned texture; // GL texture (GL_TEXTURE_2D, RGBA8), borrowed for the same time; 0: the result is an image
    int width, height;
    struct image encoded;          // in the shape path_setup.encode, borrowed for the same time; planes NULL: none
    struct path_measures measures; // borrowed for the same time; NULL members: not wanted
    uint64_t number;               // of the frame in its source: frame_time.number
    struct stage_time stage[PATH_STAGES];
    int stages;
};

// Returns true if the cpu path can compile the chain's users' filters: there are none, or there is a C compiler.
bool path_compiles(const struct chain *chain);
// Warns that path `kind` replaces the cpu path, because there is no C compiler.
void path_warn_compiler(enum path_kind kind);

struct path;

// Opens the path and compiles its programs. PATH_ZEROCOPY uses the first mode that works: gl-shared, mapped,
// opencl. On any thread.
// NULL on failure: *error gets a text, which the caller frees (compiler log or one line); if `error` is NULL, the text
// is logged.
struct path *path_open(const struct path_setup *setup, char **error);
// Sets `names` to the variants that fit a pass of the setup's chain on its device, the generic code first.
// Returns their number.
enum { PATH_VARIANTS = 8 };
int path_variants(const struct path_setup *setup, const char *names[PATH_VARIANTS]);
// Waits for the frames in flight. Accepts NULL. Call it on the thread that submits if the path uses GL.
void path_close(struct path *path);

struct path_info {
    enum path_kind kind;
    const char *sharing; // "gl-shared", "gl", "mapped", "opencl", "cpu"
    char why[200];       // one sentence: why this mode
    int width, height;   // of the results
    int depth;           // maximum number of frames in flight
    int in_flight;       // frames submitted and not yet collected
    bool lost;           // the latest submit or collect failed because the device was lost
    // How the device got the latest frame; "" before the first:
    //   "host-ptr"  it reads the frame in place; only the cpu path and devices that share the host's memory
    //   "pinned"    it copied the frame from memory of device.pages
    //   "copy"      the host copied the frame first
    // All but "copy" need image.reach_bytes.
    const char *input;
};
const struct path_info *path_info(const struct path *path); // borrowed until path_close

// How a path runs a pass of its chain.
enum { PATH_PASSES = FILTER_STEPS * CHAIN_MAX + 1, PATH_CHOICE = 96 };
struct path_pass {
    const char *name;         // "blur+gray"; valid until the path's chain changes
    char choice[PATH_CHOICE]; // the variant and its parameters: "window:ROWS=8"
    // The database's entry that named the choice (compute/tuned.h), valid as `name`; NULL: the choice is a default.
    const struct tuned_found *tuned;
};
// Writes the passes of the current chain. Returns their number; 0: the cpu path with its default parameters. Call it on
// the thread that submits.
int path_passes(const struct path *path, struct path_pass passes[PATH_PASSES]);

// The next frame has no previous output.
void path_forget(struct path *path);
// Starts work on a frame, whose pixels must stay valid until the frame is collected. At most `depth` frames may be in
// flight. `frame_time` NULL: the picture belongs to no source. False on failure (logged once): see path_info.lost.
bool path_submit(struct path *path, const struct image *frame, const struct frame_time *frame_time);
// Submits a frame by rows, for a path with `fed`. All rows have arrived and left when this returns. The result of
// path_collect has no pixels, and its stage times include the feed's time.
void path_feed(struct path *path, const struct path_feed *feed, const struct frame_time *frame_time);
// Waits for the oldest frame in flight and fills `result`, whose memory stays valid until the next collect. False as in
// path_submit.
bool path_collect(struct path *path, struct path_result *result);
// Returns true if path_collect would not wait for a device: the oldest frame is finished, or none is in flight.
bool path_ready(const struct path *path);

// Copies the pixels of the latest result, an image or a texture, to `rgba`, an allocated image of its size. Not for
// results that are encoded_only or measured_only. False on failure (logged).
bool path_read(struct path *path, const struct path_result *result, struct image *rgba);
// Filters one picture with a path of its own. `rgba` is an image of the result's size, or empty: it is then allocated,
// and the caller frees it. False on failure: *error as in path_open, or NULL (logged).
bool path_filter(const struct path_setup *setup, const struct image *picture, struct image *rgba, char **error);

// These change the chain while frames run, if the size of the results stays the same. path_prepare builds the new chain
// on any thread while the old one runs. If it fails, nothing changes, and *error is as in path_open. path_swap starts
// to use the prepared chain; call it on the thread that submits, without frames in flight.
bool path_prepare(struct path *path, const struct chain *chain, char **error);
void path_swap(struct path *path);

// ---- how a path runs its passes, as JSON ----

struct json_t; // of jansson

// Returns how a path runs its passes, as a JSON array.
struct json_t *passes_json(const struct path_pass *pass, int passes);
