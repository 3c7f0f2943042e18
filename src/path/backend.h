// backend.h: what a path is to those who implement one (path.h is for those who use it)
#pragma once

#include "base/clock.h"
#include "filter/plan.h"
#include "path/path.h"

#include <pthread.h>

enum { PATH_WHY = 200 };

struct backend {
    // Makes what a chain needs besides frames: programs, buffers, scratch. On any thread. NULL on failure: *error as in
    // path_open.
    void *(*build)(const struct path *path, const struct chain *chain, char **error);
    void (*build_free)(void *build); // takes NULL
    // As path_submit and path_collect, which count the frames in flight.
    bool (*submit)(struct path *path, const struct image *frame, uint64_t tag, bool *lost);
    void (*feed)(struct path *path, const struct path_feed *feed); // as path_feed; NULL: never fed
    bool (*collect)(struct path *path, struct path_result *result, bool *lost);
    bool (*ready)(const struct path *path); // as path_ready; NULL: collect never waits for a device
    bool (*read)(struct path *path, const struct path_result *result, struct image *rgba); // as path_read
    void (*close)(struct path *path); // frees the path too; accepts the half-built
};

// Every implementation's struct begins with this one.
struct path {
    const struct backend *backend;
    enum path_kind kind; // what was asked for
    const char *rung;    // as path_rung returns it
    const char *came_in; // of the latest frame: as path_input returns it
    char why[PATH_WHY];  // as path_why returns it
    struct image_shape input;
    struct image_shape encode; // width 0: none
    bool encoded_only, fed;
    int depth, in_flight;
    void *build;          // what backend->build made, in use
    void *pending;        // the next one, which waits for path_swap
    pthread_mutex_t lock; // over `pending`, which path_prepare sets from any thread
};

// How open and close of every implementation begin and end.
void path_init(struct path *path, const struct backend *backend, const struct path_setup *setup, const char *rung);
void path_finish(struct path *path);

struct path *cpu_open(const struct path_setup *setup, char **error);
int cpu_variants(const struct path_setup *setup, const char *names[PATH_VARIANTS]); // as path_variants

// Where an OpenCL path leaves its output, cheapest for the screen first.
enum output { OUTPUT_TEXTURE, OUTPUT_MAPPED, OUTPUT_READ };
struct path *opencl_open(const struct path_setup *setup, enum output output, char **error);
int opencl_variants(const struct path_setup *setup, const char *names[PATH_VARIANTS]); // as path_variants

// The picture copied row by row from an image result.
bool path_read_image(struct path *path, const struct path_result *result, struct image *rgba);
struct stage_time *path_add_stage(struct path_result *result, const char *name, enum stage_clock clock);
// Sets *error to a copy of the text, or logs it where error is NULL.
void path_fail(char **error, const char *text);
