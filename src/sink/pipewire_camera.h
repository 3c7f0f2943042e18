// pipewire_camera.h: a virtual camera that is a node of the PipeWire daemon
#pragma once

#include "base/log.h"
#include "image/image.h"
#include "sink/virtual_camera.h"

struct pipewire_camera;

#ifdef HAVE_PIPEWIRE
// Starts a thread that makes the node `name`, and makes it again when the daemon has restarted. The first frame is a
// copy of `black`, whose shape all frames have (matrix 601, limited range). The thread repeats the last frame while the
// next one is late. Returns NULL on failure (logged).
struct pipewire_camera *pipewire_camera_open(const char *name, const struct image *black, int64_t period_ns);
void pipewire_camera_close(struct pipewire_camera *camera); // accepts NULL
// Copies a frame once: to the memory that programs read, or to its own memory if none reads it.
void pipewire_camera_send(struct pipewire_camera *camera, const struct image *frame);
bool pipewire_camera_watched(struct pipewire_camera *camera); // a program reads it
struct virtual_camera_counts pipewire_camera_counts(struct pipewire_camera *camera);

#else

static inline struct pipewire_camera *pipewire_camera_open(const char *name, const struct image *black,
                                                           int64_t period_ns)
{
    log_error("this monocle was built without PipeWire; install libpipewire-0.3-dev and build it again, or name a node "
              "such as /dev/video10");
    return NULL;
}

static inline void pipewire_camera_close(struct pipewire_camera *camera) {}

static inline void pipewire_camera_send(struct pipewire_camera *camera, const struct image *frame) {}

static inline bool pipewire_camera_watched(struct pipewire_camera *camera)
{
    return false;
}

static inline struct virtual_camera_counts pipewire_camera_counts(struct pipewire_camera *camera)
{
    return (struct virtual_camera_counts){0};
}

#endif
