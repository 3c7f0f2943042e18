// camera_jpeg.h: MJPEG frames as cameras send them: without an end marker, behind other bytes, cut, slow to decode
#pragma once

#include "check.h"

#include "image/codec/codec.h"

// Checks three frames from a camera of driver.h. Each is `jpeg`, of the size of the camera's mode, but its end marker
// is missing, is cut in half, or is replaced by zeros. Some cameras leave the marker out, or pad the frame.
void camera_jpeg_no_end(struct check *check, const struct codec_buffer *jpeg);
// Checks frames without Huffman tables: many cameras leave out the standard ones.
void camera_jpeg_no_tables(struct check *check, const struct codec_buffer *jpeg);
// Checks frames behind other bytes: zeros, 0xff, the end of the last frame.
void camera_jpeg_behind(struct check *check, const struct codec_buffer *jpeg);
// Checks frames that are all cut: shown with a hint after a while, if only a little is missing.
void camera_jpeg_cut(struct check *check);
// Checks that a frame whose decoding takes long does not hold up the next one, and is left out then. Needs two CPUs.
// Linked with --wrap=codec_head_of.
void camera_jpeg_slow(struct check *check, const struct codec_buffer *jpeg);
