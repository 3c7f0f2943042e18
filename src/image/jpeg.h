// jpeg.h: the JPEG pictures of cameras, decoded into YUV planes
#pragma once

#include "image/image.h"

struct jpeg; // a decoder; for one thread at a time

enum { JPEG_WHY = 256 };

bool jpeg_available(void); // whether this program was built with a decoder

struct jpeg *jpeg_open(void); // NULL on failure (logged)
void jpeg_close(struct jpeg *jpeg);

// Size and format (yu12, 422p, 444p or grey) that the head of a picture says. False, and why in a line, where there is
// no usable head or its chroma is of another kind. The colour is left alone.
bool jpeg_head(struct jpeg *jpeg, const void *data, size_t size, struct image_shape *shape, char why[JPEG_WHY]);

// Own pixels for pictures of that shape (image_free): rows and planes have room for the whole blocks that a decoder
// writes.
bool jpeg_alloc(struct image *image, const struct image_shape *shape);

// Decodes into an image of jpeg_alloc. A picture whose chroma is of another kind than the image's is brought to the
// image's. False, and why, for one of another size and for one that is damaged or cut short; the image is then spoilt.
bool jpeg_decode(struct jpeg *jpeg, const void *data, size_t size, struct image *image, char why[JPEG_WHY]);
