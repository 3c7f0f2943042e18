// texture.c: GL textures that OpenCL kernels write (GL thread only)
#include "compute/texture.h"

#include "compute/memory.h"

#include <CL/cl_gl.h>
#include <epoxy/gl.h>

enum { FENCE_WAIT_NS = 1000000000 }; // GL has hung if drawing takes longer

cl_int shared_texture_open(struct shared_texture *shared, cl_context context, int width, int height)
{
    GLuint texture;
    glGenTextures(1, &texture);
    shared->texture = texture;
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST); // the texture has no mipmaps
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glBindTexture(GL_TEXTURE_2D, 0);
    shared_texture_lent(shared);
    cl_int result;
    shared->image = clCreateFromGLTexture(context, CL_MEM_WRITE_ONLY, GL_TEXTURE_2D, 0, texture, &result);
    return result;
}

void shared_texture_close(struct shared_texture *shared)
{
    if (shared->fence)
        glDeleteSync(shared->fence);
    memory_release(shared->image);
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

void shared_texture_finish(struct shared_texture *shared)
{
    glFinish();
    if (shared->fence)
        glDeleteSync(shared->fence);
    shared->fence = NULL;
}

cl_int shared_texture_acquire(struct shared_texture *shared, cl_command_queue queue, cl_event after, cl_event *event)
{
    if (shared->fence) {
        // Does not wait in practice: there is one texture more than frames in flight, so GL passed the fence long ago.
        glClientWaitSync(shared->fence, GL_SYNC_FLUSH_COMMANDS_BIT, FENCE_WAIT_NS);
        glDeleteSync(shared->fence);
        shared->fence = NULL;
    }
    const cl_int result =
        clEnqueueAcquireGLObjects(queue, 1, &shared->image, after != NULL, after ? &after : NULL, event);
    return result == CL_SUCCESS ? clFlush(queue) : result;
}

cl_int shared_texture_release(struct shared_texture *shared, cl_command_queue queue, cl_event *event)
{
    const cl_int result = clEnqueueReleaseGLObjects(queue, 1, &shared->image, 0, NULL, event);
    return result == CL_SUCCESS ? clFlush(queue) : result;
}

// Reads through a framebuffer, because ES has no glGetTexImage.
bool shared_texture_read(const struct shared_texture *shared, int width, int height, int row_pixels, void *pixels)
{
    GLuint framebuffer;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, shared->texture, 0);
    const bool complete = glCheckFramebufferStatus(GL_READ_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    if (complete) {
        glPixelStorei(GL_PACK_ROW_LENGTH, row_pixels);
        glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    }
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &framebuffer);
    return complete;
}
