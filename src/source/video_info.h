// video_info.h: what ffprobe says about a video, and how ffmpeg must deliver its frames; which image files are videos
#pragma once

#include "image/image.h"

#include <stdbool.h>
#include <stddef.h>

enum { VIDEO_WHY = 256 };

struct video_info {
    struct image_shape shape; // as ffmpeg delivers the frames: upright, with square pixels, in `format`; unknown parts
                              // of the colour are 0
    const char *format;       // ffmpeg's name of the pixel format; static
    int width, height;        // as coded, before the rotation
    int rate_numerator, rate_denominator;
    double seconds;        // 0: unknown
    bool interlaced, full; // full: the range of the video, of which `shape` has what ffmpeg makes of it
    const char *transfer;  // of an HDR video, PQ or HLG: ffmpeg's name, static; ffmpeg maps it to BT.709. NULL: SDR
    bool untimed;          // its format has no times, so those of ffmpeg follow from an invented rate
    const char *matrix;    // ffmpeg's name, static, of one that ffmpeg converts to that of BT.709; NULL: of `shape`
    bool endless;          // neither a duration nor a length is known: from a server, it is live
    bool segmented;        // HLS: files of some seconds, which the playlist names
    bool paired;           // perhaps each frame is two samples of the file: ask video_info_pair
};

// Reads the JSON of `ffprobe -of json -show_streams -show_format`, which may be any bytes. False: `why` says what is
// missing.
bool video_info_parse(const char *json, size_t size, struct video_info *info, char why[VIDEO_WHY]);
// Reads the JSON of `ffprobe -of json -show_frames` for some frames. If each frame takes the time of two samples,
// halves the rate and sets `interlaced`.
void video_info_pair(struct video_info *info, const char *json, size_t size);
// Asks ffmpeg for this pixel format. Returns false if ffmpeg does not have it.
bool video_info_convert(struct video_info *info, enum pixfmt format);

// ---- whether an image file is an animation or a video (moving.c) ----

// Returns true if a GIF has more than one picture. False also if the file cannot be read.
bool moving_gif(const char *path);
bool moving_png(const char *path); // the same for a PNG (APNG)
// Returns true if the file is a sequence of JPEGs of one size, such as a raw MJPEG stream of a camera. False for a
// photograph that other pictures follow (MPF: MPO files, gain maps), and if the file cannot be read.
bool moving_jpeg(const char *path);
