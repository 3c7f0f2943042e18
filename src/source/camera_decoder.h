// camera_decoder.h: threads that decode the newest compressed frames of a camera
#pragma once

#include "image/codec/codec.h"
#include "source/kind.h"

struct camera_decoder;

// Starts threads that decode JPEG frames of this shape into the source's pool, which must be zeroed, and convert frames
// with another chroma subsampling. There is one thread for each CPU, but at most DECODERS_MOST. A frame whose header
// has more than `most_pixels` is damaged; no memory of its size is allocated. If no whole frame arrives for 1.5 s,
// frames with at least half of their rows are not damaged: their last row is repeated. Returns NULL on failure
// (logged).
struct camera_decoder *camera_decoder_open(struct source *source, const struct image_shape *shape,
                                           uint64_t most_pixels);
void camera_decoder_close(struct camera_decoder *decoder); // accepts NULL; the caller then finishes the pool

// Returns the JPEG in a filled buffer. Some cameras put zeros, 0xff, the end of the last frame or another start marker
// before it.
struct codec_bytes camera_decoder_find(const uint8_t *data, size_t size);
// Copies a compressed frame for a thread. `about` has the frame's number, which grows, and its times. Replaces a frame
// that no thread has begun.
void camera_decoder_put(struct camera_decoder *decoder, const void *data, size_t size, const struct frame *about);
int camera_decoder_fd(const struct camera_decoder *decoder); // readable when camera_decoder_take may have a frame
// Lends the newest decoded frame that was not taken yet, a slot of the pool. Returns false if there is none. The
// numbers grow: a frame that is ready after a newer one is left out.
bool camera_decoder_take(struct camera_decoder *decoder, struct frame *frame);

struct camera_decoder_state {
    uint64_t damaged; // number of dropped frames that could not be decoded
    bool cut;         // the latest frame is cut, see above
    // The latest 3 or more complete frames have another shape than the decoder's, all the same one: `shape`, with the
    // colours of the codec. The decoder drops such frames. It counts them as damaged only if another shape follows.
    bool changed;
    struct image_shape shape;
    char why[CODEC_WHY]; // why the first frame after the last good one was dropped; "": none was
};
struct camera_decoder_state camera_decoder_state(struct camera_decoder *decoder); // NULL: zero; on any thread
