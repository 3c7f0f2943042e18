// zerocopy.c: the zerocopy path: its sharing modes, and GL textures that kernels write (GL thread only)
#include "base/log.h"
#include "path/opencl_path.h"

#include <CL/cl_gl.h>
#include <epoxy/gl.h>
#include <stdio.h>
#include <stdlib.h>

enum { FENCE_WAIT_NS = 1000000000 }; // a drawing that takes longer than this has hung

bool shared_texture_open(struct shared_texture *shared, struct device *device, int width, int height)
{
    GLuint texture;
    glGenTextures(1, &texture);
    shared->texture = texture;
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST); // complete without mipmaps
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glBindTexture(GL_TEXTURE_2D, 0);
    shared->fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0); // behind its making
    cl_int result;
    shared->image = clCreateFromGLTexture(device->context, CL_MEM_WRITE_ONLY, GL_TEXTURE_2D, 0, texture, &result);
    return compute_ok(result, "share a GL texture with OpenCL");
}

void shared_texture_close(struct shared_texture *shared)
{
    if (shared->fence)
        glDeleteSync(shared->fence);
    if (shared->image)
        clReleaseMemObject(shared->image);
    if (shared->texture)
        glDeleteTextures(1, &shared->texture);
    *shared = (struct shared_texture){0};
}

void shared_texture_lent(struct shared_texture *shared)
{
    if (shared->fence)
        glDeleteSync(shared->fence);
    shared->fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
}

cl_int shared_texture_acquire(struct shared_texture *shared, cl_command_queue queue, cl_event after, cl_event *event)
{
    if (shared->fence) {
        // With a texture more than frames in flight the fence was passed long ago; this is no wait in practice.
        glClientWaitSync(shared->fence, GL_SYNC_FLUSH_COMMANDS_BIT, FENCE_WAIT_NS);
        glDeleteSync(shared->fence);
        shared->fence = NULL;
    }
    const cl_int result =
        clEnqueueAcquireGLObjects(queue, 1, &shared->image, after ? 1 : 0, after ? &after : NULL, event);
    return result == CL_SUCCESS ? clFlush(queue) : result;
}

cl_int shared_texture_release(struct shared_texture *shared, cl_command_queue queue, cl_event after, cl_event *event)
{
    const cl_int result = clEnqueueReleaseGLObjects(queue, 1, &shared->image, 1, &after, event);
    return result == CL_SUCCESS ? clFlush(queue) : result;
}

bool shared_texture_read(const struct shared_texture *shared, struct image *rgba)
{
    GLuint framebuffer;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, shared->texture, 0);
    const bool complete = glCheckFramebufferStatus(GL_READ_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    if (complete) {
        glPixelStorei(GL_PACK_ROW_LENGTH, (GLint)(rgba->stride[0] / 4));
        glReadPixels(0, 0, rgba->shape.width, rgba->shape.height, GL_RGBA, GL_UNSIGNED_BYTE, rgba->plane[0]);
        glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    } else {
        log_error("cannot read a shared texture back: the GL framebuffer is incomplete");
    }
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &framebuffer);
    return complete;
}

// Frees the error of a mode that failed, before the next mode is tried.
static void forget(char **error)
{
    if (!error)
        return;
    free(*error);
    *error = NULL;
}

// Opens the first sharing mode that works. path->why says why the modes before it failed. A kernel that does not
// compile fails in every mode, so *error is that of the last mode.
struct path *zerocopy_open(const struct path_setup *setup, char **error)
{
    char why[PATH_WHY] = "no window";
    if (setup->gl)
        snprintf(why, sizeof(why), "%s", setup->device->sharing_why);
    struct path *path = NULL;
    // On NVIDIA 580, conversion to YUV from a shared image gave wrong bytes, so a result that is converted stays in a
    // buffer.
    const bool encodes = setup->encode.width > 0;
    if (encodes && setup->gl && setup->device->shares_gl)
        snprintf(why, sizeof(why), "the virtual camera needs results in a buffer");
    if (setup->gl && setup->device->shares_gl && !encodes) {
        path = opencl_open(setup, OUTPUT_TEXTURE, error);
        if (path) {
            snprintf(path->why, sizeof(path->why), "%s", why);
            return path;
        }
        snprintf(why, sizeof(why), "cannot create shared textures");
        forget(error);
    }
    path = setup->device->info.host_unified ? opencl_open(setup, OUTPUT_MAPPED, error) : NULL;
    if (!path) {
        forget(error);
        path = opencl_open(setup, OUTPUT_READ, error);
    }
    if (path)
        snprintf(path->why, sizeof(path->why), "no GL sharing: %.180s", why);
    return path;
}
