// camera_decoder.h: a worker that decodes the newest compressed picture of a camera
#pragma once

#include "source/kind.h"

struct camera_decoder;

// Decodes JPEG pictures of that shape for the source, and converts those with another chroma subsampling. A picture
// whose head says more than `most_pixels` is damaged: nothing of its size is allocated. NULL on failure (logged).
struct camera_decoder *camera_decoder_open(const struct source *source, const struct image_shape *shape,
                                           uint64_t most_pixels);
void camera_decoder_close(struct camera_decoder *decoder); // takes NULL; every frame must have come back

// Hands over a compressed picture, whose bytes are copied, and what is known of its frame. One that the worker has not
// begun gives way to it.
void camera_decoder_put(struct camera_decoder *decoder, const void *data, size_t size, const struct frame *about);
int camera_decoder_fd(const struct camera_decoder *decoder); // readable when there may be a picture to take
// The newest decoded picture not yet taken. False where there is none.
bool camera_decoder_take(struct camera_decoder *decoder, struct frame *frame);
void camera_decoder_give(struct camera_decoder *decoder, const struct frame *frame); // on any thread

uint64_t camera_decoder_damaged(struct camera_decoder *decoder); // pictures left out because they could not be decoded
// Whether the latest whole pictures, several in a row, all have another shape than the decoder was opened for: that
// one, its colours as the codec has them. They are left out; they count as damaged only if they were a passing thing.
bool camera_decoder_changed(struct camera_decoder *decoder, struct image_shape *shape);
// Why the first frame after the last good one was dropped; "" if none was.
void camera_decoder_why(struct camera_decoder *decoder, char *why, size_t size);
