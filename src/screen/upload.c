// upload.c: pictures from memory to a GL texture, by way of pixel buffers
#include "screen/upload.h"

#include "base/log.h"

#include <epoxy/gl.h>

#include <string.h>

static bool set_size(struct upload *upload, int width, int height)
{
    if (upload->texture && upload->width == width && upload->height == height)
        return true;
    GLint most = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
    if (width < 1 || height < 1 || width > most || height > most) {
        log_error("cannot show a picture of %dx%d: GL here takes up to %dx%d", width, height, most, most);
        return false;
    }
    if (!upload->texture) {
        glGenTextures(1, &upload->texture);
        glGenBuffers(2, upload->buffer);
    }
    while (glGetError() != GL_NO_ERROR)
        ; // not ours
    const GLsizeiptr bytes = (GLsizeiptr)width * height * 4;
    for (int i = 0; i < 2; i++) {
        glBindBuffer(GL_PIXEL_UNPACK_BUFFER, upload->buffer[i]);
        glBufferData(GL_PIXEL_UNPACK_BUFFER, bytes, NULL, GL_STREAM_DRAW);
    }
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    glBindTexture(GL_TEXTURE_2D, upload->texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glBindTexture(GL_TEXTURE_2D, 0);
    const GLenum error = glGetError();
    if (error != GL_NO_ERROR) {
        log_error("cannot show a picture of %dx%d: GL error 0x%04x", width, height, error);
        upload_finish(upload);
        return false;
    }
    upload->width = width;
    upload->height = height;
    return true;
}

// The picture, rows packed, into the buffer that is bound.
static bool fill_buffer(const struct image *rgba)
{
    const size_t row = (size_t)rgba->shape.width * 4;
    const size_t rows = (size_t)rgba->shape.height;
    uint8_t *to = glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, (GLsizeiptr)(row * rows),
                                   GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
    if (!to)
        return false;
    if (rgba->stride[0] == row) {
        memcpy(to, rgba->plane[0], row * rows);
    } else {
        for (size_t y = 0; y < rows; y++)
            memcpy(to + y * row, rgba->plane[0] + y * rgba->stride[0], row);
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
    const bool filled = fill_buffer(rgba) || fill_buffer(rgba); // the driver may lose a buffer's contents, rarely
    if (filled) {
        glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
        glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
        glBindTexture(GL_TEXTURE_2D, upload->texture);
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        glBindTexture(GL_TEXTURE_2D, 0);
    } else {
        log_error("cannot show the picture: GL gives no access to a buffer of %d bytes", width * height * 4);
    }
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    return filled;
}

void upload_finish(struct upload *upload)
{
    if (upload->texture) {
        glDeleteTextures(1, &upload->texture);
        glDeleteBuffers(2, upload->buffer);
    }
    *upload = (struct upload){0};
}
