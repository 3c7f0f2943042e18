// upload.c: copies pictures from memory to a GL texture through pixel buffers
#include "screen/upload.h"

#include "base/log.h"
#include "screen/shader.h"

#include <epoxy/gl.h>

#include <string.h>

// Returns the pixels of a side in the texture.
static int shrunk(int side, int step)
{
    return (side + step - 1) / step;
}

// Returns the smallest step at which GL accepts the picture.
static int step_for(int width, int height)
{
    GLint most = 1;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
    return shrunk(width > height ? width : height, most);
}

static bool set_size(struct upload *upload, int width, int height)
{
    if (upload->width == width && upload->height == height)
        return upload->texture != 0;
    if (!upload->texture) {
        glGenTextures(1, &upload->texture);
        glGenBuffers(2, upload->buffer);
    }
    upload->width = width;
    upload->height = height;
    upload->step = step_for(width, height);
    upload->failed = false;
    while (glGetError() != GL_NO_ERROR)
        ; // forgets errors of earlier GL calls elsewhere
    const int across = shrunk(width, upload->step), down = shrunk(height, upload->step);
    for (int i = 0; i < 2; i++) {
        glBindBuffer(GL_PIXEL_UNPACK_BUFFER, upload->buffer[i]);
        glBufferData(GL_PIXEL_UNPACK_BUFFER, (GLsizeiptr)across * down * 4, NULL, GL_STREAM_DRAW);
    }
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    glBindTexture(GL_TEXTURE_2D, upload->texture);
    // Mesa chooses the texture's layout by the format given here. Its windows are BGRA, and it copies BGRA to them
    // fast.
    const bool as_window = shader_on_cpu();
    glTexImage2D(GL_TEXTURE_2D, 0, as_window ? GL_RGBA : GL_RGBA8, across, down, 0, as_window ? GL_BGRA : GL_RGBA,
                 GL_UNSIGNED_BYTE, NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glBindTexture(GL_TEXTURE_2D, 0);
    const GLenum error = glGetError();
    if (error == GL_NO_ERROR)
        return true;
    log_error("cannot upload a frame of %dx%d to GL: error 0x%04x", width, height, error);
    glDeleteTextures(1, &upload->texture);
    glDeleteBuffers(2, upload->buffer);
    upload->texture = 0;
    return false;
}

// Fills one row of the texture. Each pixel is the middle one of the pixels that it replaces.
static void pick_pixels(uint8_t *to, const uint8_t *from, int width, int step)
{
    for (int x = step / 2, i = 0; i < shrunk(width, step); x += step, i++)
        memcpy(to + 4 * (size_t)i, from + 4 * (size_t)(x < width ? x : width - 1), 4);
}

// Copies the picture, its rows packed, to the bound buffer.
static bool fill_buffer(struct upload *upload, const struct image *rgba)
{
    const int step = upload->step, height = rgba->shape.height;
    const size_t row = (size_t)shrunk(rgba->shape.width, step) * 4;
    const size_t rows = (size_t)shrunk(height, step);
    uint8_t *to = glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, (GLsizeiptr)(row * rows),
                                   GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
    if (!to)
        return false;
    if (step == 1)
        copier_run(&upload->copier, &(struct image){.shape = rgba->shape, .plane = {to}, .stride = {row}}, rgba);
    for (size_t y = 0; step > 1 && y < rows; y++) {
        const int line = (int)y * step + step / 2;
        const uint8_t *from = rgba->plane[0] + (size_t)(line < height ? line : height - 1) * rgba->stride[0];
        pick_pixels(to + y * row, from, rgba->shape.width, step);
    }
    return glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER);
}

bool upload_picture(struct upload *upload, const struct image *rgba)
{
    const int width = rgba->shape.width, height = rgba->shape.height;
    if (!set_size(upload, width, height))
        return false;
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, upload->buffer[upload->next]);
    upload->next = !upload->next;
    // In rare cases, the driver loses a buffer's contents. Then this tries a second time.
    const bool filled = fill_buffer(upload, rgba) || fill_buffer(upload, rgba);
    if (filled) {
        glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
        glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
        glBindTexture(GL_TEXTURE_2D, upload->texture);
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, shrunk(width, upload->step), shrunk(height, upload->step), GL_RGBA,
                        GL_UNSIGNED_BYTE, NULL);
        glBindTexture(GL_TEXTURE_2D, 0);
    } else if (!upload->failed) {
        log_error("cannot upload a frame of %dx%d to GL: GL does not map the buffer", width, height);
        upload->failed = true;
    }
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    return filled;
}

bool upload_wait(void)
{
    enum { WAIT_NS = 1000000000 };
    GLsync fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (!fence)
        return false;
    const GLenum result = glClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, WAIT_NS);
    glDeleteSync(fence);
    return result == GL_ALREADY_SIGNALED || result == GL_CONDITION_SATISFIED;
}

void upload_finish(struct upload *upload)
{
    if (upload->texture) {
        glDeleteTextures(1, &upload->texture);
        glDeleteBuffers(2, upload->buffer);
    }
    copier_finish(&upload->copier);
    *upload = (struct upload){0};
}
