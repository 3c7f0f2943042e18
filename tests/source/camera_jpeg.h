// camera_jpeg.h: MJPEG frames without an end marker
#pragma once

#include "check.h"

#include "image/codec/codec.h"

// Sends frames to a camera of driver.h: `jpeg`, which has the size of its mode, without the end marker, with half of
// it, and with zeros instead. Some cameras leave the marker out, or fill the frame up behind its pixels.
void camera_jpeg_no_end(struct check *check, const struct codec_buffer *jpeg);
