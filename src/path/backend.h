// backend.h: the interface of a path for its implementations; path.h is the interface for its users
#pragma once

#include "base/clock.h"
#include "filter/plan.h"
#include "path/measures.h"
#include "path/path.h"

#include <pthread.h>

struct backend {
    // Makes the programs, buffers and scratch memory of a chain. On any thread. NULL on failure: *error as in
    // path_open.
    void *(*build)(const struct path *path, const struct chain *chain, char **error);
    void (*build_free)(void *build); // accepts NULL
    // As path_submit and path_collect; these count the frames in flight.
    bool (*submit)(struct path *path, const struct image *frame);
    void (*feed)(struct path *path, const struct path_feed *feed); // as path_feed; NULL: never fed
    bool (*collect)(struct path *path, struct path_result *result);
    bool (*ready)(const struct path *path); // as path_ready; NULL: collect never waits for a device
    int (*passes)(const struct path *path, struct path_pass passes[PATH_PASSES]); // as path_passes; NULL: none
    const struct opencl_target *(*target)(const struct path *path);               // as path_target; NULL: none
    bool (*read_texture)(struct path *path, struct image *rgba); // as path_read; NULL: no result is a texture
    void (*close)(struct path *path);                            // also frees the path; accepts a partly built one
};

// The first member of each implementation's struct.
struct path {
    const struct backend *backend;
    struct path_info info;
    struct image_shape input;
    struct image_shape encode; // width 0: none
    bool encoded_only, measured_only, fed;
    struct measuring measuring;
    struct frame_time frame_time; // of the frame that is being submitted
    const void *ran;              // the build of the frame before, whose output filters may get; NULL: none
    void *build;                  // made by backend->build, in use
    void *pending;                // the next one, until path_swap
    void *tried;                  // borrowed; the next frame runs it instead of `build`; NULL: none
    pthread_mutex_t lock;         // guards `pending`, which path_prepare sets on any thread
};

// The first step of open and the last step of close in each implementation.
void path_init(struct path *path, const struct backend *backend, const struct path_setup *setup, const char *sharing);
void path_finish(struct path *path);

struct path *cpu_open(const struct path_setup *setup, char **error);
int cpu_variants(const struct path_setup *setup, const char *names[PATH_VARIANTS]); // as path_variants

struct path *gl_open(const struct path_setup *setup, char **error);
struct path *zerocopy_open(const struct path_setup *setup, char **error);

// The place of an OpenCL path's output, cheapest for the screen first.
enum opencl_output { OUTPUT_TEXTURE, OUTPUT_MAPPED, OUTPUT_READ, OPENCL_OUTPUTS };
struct path *opencl_open(const struct path_setup *setup, enum opencl_output output, char **error);
int opencl_variants(const struct path_setup *setup, const char *names[PATH_VARIANTS]); // as path_variants

void path_add_stage(struct path_result *result, const char *name, enum stage_clock clock, int64_t start_ns,
                    int64_t end_ns);
// Sets *error to a copy of the text, or logs the text if `error` is NULL.
void path_fail(char **error, const char *text);
