// made_file.h: an image file that a test makes byte by byte, and the checks of its decoded pixels
#pragma once

#include "codec_files.h"
#include "unit.h"

enum { ROOM = 1 << 20 };
struct file {
    uint8_t data[ROOM];
    size_t size;
};

static inline void add(struct file *file, const void *data, size_t size)
{
    if (file->size + size > ROOM)
        abort();
    memcpy(file->data + file->size, data, size);
    file->size += size;
}

static inline void add_byte(struct file *file, int value)
{
    add(file, &(uint8_t){(uint8_t)value}, 1);
}

static inline void add_le(struct file *file, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++, value >>= 8)
        add_byte(file, (int)(value & 0xff));
}

static inline void add_be(struct file *file, uint32_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        add_byte(file, (int)(value >> 8 * i & 0xff));
}

// Decodes the file. The caller frees the image.
static inline bool read_file(struct codec *codec, const struct file *file, struct codec_head *head, struct image *image,
                             struct codec_error *error)
{
    const uint8_t *data = fenced(file->data, file->size);
    return codec_head(codec, data, file->size, 0, head, error) && image_reserve(image, &head->shape) &&
           codec_decode(codec, data, file->size, head, image, error);
}

// Checks the size and the pixels: a letter each, of `letters`, upper row first.
static inline void check_pixels(struct codec *codec, const struct file *file, int width, const char *letters,
                                const uint8_t colours[][4], const char *what)
{
    struct codec_head head;
    struct codec_error error;
    struct image image = {0};
    const bool ok = read_file(codec, file, &head, &image, &error);
    const int height = (int)strlen(letters) / width;
    check_that(&unit, ok && head.shape.width == width && head.shape.height == height, "%s: %s", what, error.why);
    for (int i = 0; ok && letters[i]; i++) {
        const uint8_t *got = image_row(&image, 0, i / width) + 4 * (i % width), *wanted = colours[letters[i] - 'a'];
        check_that(&unit, memcmp(got, wanted, 4) == 0, "%s: pixel %d is %d %d %d %d, not %c", what, i, got[0], got[1],
                   got[2], got[3], letters[i]);
    }
    image_free(&image);
}

static inline void refuse(struct codec *codec, const struct file *file, enum codec_fault fault, const char *because)
{
    struct codec_head head;
    struct codec_error error = {0};
    struct image image = {0};
    check_that(&unit,
               !read_file(codec, file, &head, &image, &error) && error.fault == fault && strstr(error.why, because),
               "refused for \"%s\", not: %s", because, error.why);
    image_free(&image);
}
