// runner.h: runs images of any size through one chain: on a device that all runners share, in a GL context of its own,
// or on the cpu path; replaces a lost device
#pragma once

#include "compute/device.h"
#include "compute/gl_context.h"
#include "image/codec/codec.h"
#include "path/path.h"

#include <pthread.h>

enum { FLEET_OPENINGS = 4 }; // attempts to open one device; after that many losses, it is not opened again

struct fleet_member {
    struct device_info info;
    int number;           // its number in the list of `monocle devices`
    pthread_mutex_t lock; // guards the members below
    // The last one is in use. Lost devices stay open until the end, because another thread may still use them.
    struct device *device[FLEET_OPENINGS];
    int openings;
};

// The OpenCL devices of a batch
struct fleet {
    struct fleet_member member[DEVICE_MAX];
    int count;
    const char *kernel_dir;
};

// Selects the devices that `text` names (as device_choose does), and opens none yet. "all" selects every GPU; on a
// machine without a GPU, every accelerator; without accelerators, every CPU device. Returns false on failure (logged).
// If the machine has no device, it logs nothing and *why is a static text.
bool fleet_init(struct fleet *fleet, const char *text, const char *kernel_dir, const char **why);
void fleet_finish(struct fleet *fleet); // accepts a zeroed fleet; no thread may use a device any more

enum {
    RUNNER_FLIGHTS = 2,
    RUNNER_SLOTS = 8, // paths that stay open, for the landscape and portrait images of a few cameras
};

struct runner_setup {
    const struct chain *chain; // at most CHAIN_MAX filters; 2 fewer if images are rotated
    struct fleet *fleet;
    int member;          // number of the fleet's member; -1: the cpu path or the gl path
    bool gl;             // the gl path
    int threads;         // threads of a cpu path
    struct tuned *tuned; // tuning results for a cpu path; NULL: none
    uint64_t keep_bytes; // memory of a device that idle paths may keep; 0: close idle paths
};

// An image for a runner
struct runner_request {
    const struct image *picture;  // must stay valid until the image is collected
    const char *name;             // of the file, for the filter `text`; valid likewise
    const char *relative;         // its name below the named directory, for files of filters; valid likewise
    const struct path_feed *feed; // only on the cpu path: callbacks for rows; NULL: whole images
    struct codec_turn turn;       // mirror and flip run before the chain; the caller has transposed already
    struct image_shape encode;    // format of the result, as path_setup.encode; width 0: RGBA
};

// A path for images of one shape
struct runner_slot {
    struct path *path; // NULL: none
    struct image_shape input, encode;
    struct codec_turn turn;
    bool fed;
    char *relative;      // the image whose own files the filters have; NULL: they have none
    uint64_t bytes;      // estimated memory of the path
    unsigned long asked; // value of runner.asked at its last use
};

struct runner {
    struct runner_setup setup;
    struct device *device; // NULL: the cpu path or the gl path
    struct gl_context *gl; // NULL: not the gl path
    struct runner_slot slot[RUNNER_SLOTS];
    unsigned long asked; // counts the uses of paths
    struct {
        struct runner_request request;
        struct runner_slot *slot;       // its path, if it is submitted
        bool no_matte;                  // a filter got no matte
    } flight[RUNNER_FLIGHTS];           // the oldest first
    int flights, submitted;             // images in flight; the first `submitted` of them are on their paths
    const struct fleet_member *done_by; // device of the last collected image; NULL: the cpu path
    const struct path *done_path;       // of the last collected image; valid until the next submit
    bool recovering;                    // a device was lost and no image was collected since
    bool given_up;                      // no device or path could replace a lost device
};

// Returns false on failure (logged). Call it and all other functions on one thread.
bool runner_open(struct runner *runner, const struct runner_setup *setup);
void runner_close(struct runner *runner); // accepts a zeroed runner; runner_submit may follow, except with gl

// Number of images that may stay in flight while the caller prepares the next one. It is 0 on the cpu path, which only
// works within runner_collect.
int runner_lag(const struct runner *runner);
// Copies the request; the cpu path begins it within runner_collect. At most RUNNER_FLIGHTS images may be in flight.
void runner_submit(struct runner *runner, const struct runner_request *request);
// Waits for the oldest image. `result` points to memory that stays valid until the next submit or collect. Returns
// false if the image cannot be processed; *why is then the reason, or NULL. The caller frees *why in either case.
bool runner_collect(struct runner *runner, struct path_result *result, char **why);
