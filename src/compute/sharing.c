// sharing.c: tries whether OpenCL and GL share textures
#include "compute/sharing.h"

#include <CL/cl_gl.h>
#include <epoxy/gl.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 4 };

static bool refused(struct device *device, const char *what, cl_int result)
{
    snprintf(device->sharing_why, sizeof(device->sharing_why), "the driver cannot %s: %s (%d)", what,
             compute_result_name(result), (int)result);
    return false;
}

static bool write_shared(struct device *device, cl_command_queue queue, cl_mem image, const void *pixels)
{
    const size_t origin[3] = {0, 0, 0}, region[3] = {SIDE, SIDE, 1};
    cl_int result = clEnqueueAcquireGLObjects(queue, 1, &image, 0, NULL, NULL);
    if (result != CL_SUCCESS)
        return refused(device, "acquire a GL texture", result);
    result = clEnqueueWriteImage(queue, image, CL_TRUE, origin, region, 0, 0, pixels, 0, NULL, NULL);
    if (result != CL_SUCCESS)
        return refused(device, "write a GL texture", result);
    result = clEnqueueReleaseGLObjects(queue, 1, &image, 0, NULL, NULL);
    if (result == CL_SUCCESS)
        result = clFinish(queue);
    return result == CL_SUCCESS || refused(device, "release a GL texture", result);
}

// What GL sees in the texture, through a framebuffer, which ES has too.
static bool read_texture(unsigned texture, void *pixels)
{
    GLuint framebuffer;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    const bool complete = glCheckFramebufferStatus(GL_READ_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    if (complete)
        glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &framebuffer);
    return complete;
}

static bool probe_texture(struct device *device, cl_command_queue queue, unsigned texture)
{
    unsigned char sent[SIDE * SIDE * 4], seen[SIDE * SIDE * 4] = {0};
    for (size_t i = 0; i < sizeof(sent); i++)
        sent[i] = (unsigned char)(37 * i + 11);
    cl_int result;
    cl_mem image = clCreateFromGLTexture(device->context, CL_MEM_WRITE_ONLY, GL_TEXTURE_2D, 0, texture, &result);
    if (!image)
        return refused(device, "share a GL texture", result);
    bool ok = write_shared(device, queue, image, sent);
    clReleaseMemObject(image);
    if (ok && (!read_texture(texture, seen) || memcmp(sent, seen, sizeof(sent)) != 0)) {
        snprintf(device->sharing_why, sizeof(device->sharing_why),
                 "a shared GL texture does not contain the pixels that OpenCL wrote");
        ok = false;
    }
    return ok;
}

bool sharing_probe(struct device *device)
{
    cl_int result;
    cl_command_queue queue = clCreateCommandQueue(device->context, device->info.id, 0, &result);
    if (!queue)
        return refused(device, "create a command queue with GL sharing", result);
    GLuint texture;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST); // complete without mipmaps
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glBindTexture(GL_TEXTURE_2D, 0);
    glFinish(); // GL must be done with the texture before OpenCL takes it; once, at opening
    const bool ok = probe_texture(device, queue, texture);
    glDeleteTextures(1, &texture);
    clReleaseCommandQueue(queue);
    if (ok)
        snprintf(device->sharing_why, sizeof(device->sharing_why), "'%.100s' writes the window's textures directly",
                 device->info.name);
    return ok;
}
