// texture.h: GL textures that OpenCL kernels write (GL thread only)
#pragma once

#include "compute/cl.h"

struct shared_texture {
    unsigned texture; // GL name; RGBA8
    cl_mem image;
    void *fence; // GLsync after GL's last use; NULL: GL has not used it
};

// Makes a texture and its OpenCL image. After a failure, the caller closes it as well.
cl_int shared_texture_open(struct shared_texture *shared, cl_context context, int width, int height);
void shared_texture_close(struct shared_texture *shared); // accepts an empty one
// Marks the end of GL's use so far. `acquire` waits for this mark.
void shared_texture_lent(struct shared_texture *shared);
void shared_texture_finish(struct shared_texture *shared); // waits for GL instead, here
// Enqueue the commands that begin and end OpenCL's use. `after`: an event to wait for, or NULL. `event` may be NULL.
cl_int shared_texture_acquire(struct shared_texture *shared, cl_command_queue queue, cl_event after, cl_event *event);
cl_int shared_texture_release(struct shared_texture *shared, cl_command_queue queue, cl_event *event);
// Reads the texture through GL into rows of `row_pixels` (0: `width`). Returns false if GL cannot read it.
bool shared_texture_read(const struct shared_texture *shared, int width, int height, int row_pixels, void *pixels);
