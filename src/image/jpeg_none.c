// jpeg_none.c: stands for jpeg.c where the program is built without libjpeg-turbo
#include "base/log.h"
#include "image/jpeg.h"

#include <stdio.h>

static bool say(char why[JPEG_WHY])
{
    snprintf(why, JPEG_WHY, "this monocle was built without libjpeg-turbo");
    return false;
}

bool jpeg_available(void)
{
    return false;
}

struct jpeg *jpeg_open(void)
{
    log_error("cannot decode JPEG: this monocle was built without libjpeg-turbo");
    return NULL;
}

void jpeg_close(struct jpeg *jpeg) {}

bool jpeg_head(struct jpeg *jpeg, const void *data, size_t size, struct image_shape *shape, char why[JPEG_WHY])
{
    return say(why);
}

bool jpeg_alloc(struct image *image, const struct image_shape *shape)
{
    return image_alloc(image, shape);
}

bool jpeg_decode(struct jpeg *jpeg, const void *data, size_t size, struct image *image, char why[JPEG_WHY])
{
    return say(why);
}
