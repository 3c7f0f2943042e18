// y4m.h: the YUV4MPEG2 format: headers parsed and printed, pictures written (format: yuv4mpeg(5) of mjpegtools)
#pragma once

#include "image/image.h"

#include <stdbool.h>
#include <stddef.h>

struct y4m_header {
    struct image_shape shape;             // colour as the header says it, unknown parts left at their zero
    int rate_numerator, rate_denominator; // frames per second; 0/1 when the header doesn't say
    bool interlaced;                      // pictures are two woven fields
};

enum { Y4M_LINE_MAX = 1024 }; // longest header line taken, without its newline

// Parses the stream header line (without the newline). Taken are 8-bit C420*, C422, C444 and Cmono; tags in any order;
// aspect (A), comments and unknown extensions (X) are ignored. False on failure; *why is a static text.
bool y4m_parse_header(const char *line, size_t size, struct y4m_header *header, const char **why);
// Whether the line is a frame header ("FRAME", with or without parameters).
bool y4m_parse_frame(const char *line, size_t size);

// A rate of 1e-6 to 1e6 as a ratio: one usual for video as what it is (29.97 is 30000/1001), any other as the simplest
// within a billionth of it.
void y4m_rate(double rate, int *numerator, int *denominator);

struct y4m_writer;

// `path` "-" is standard output. A rate of 0/1 is written as unknown. NULL on failure (logged). RGBA pictures of width
// x height become C444 (docs/pixels.md section 5).
struct y4m_writer *y4m_writer_open(const char *path, int width, int height, int rate_numerator, int rate_denominator);
// Writes one whole picture, or none at all: a failed or interrupted write cuts the file back to the last whole picture.
// A slow reader of a pipe is waited for; `left_out` NULL: also one that has stalled. Else what that has not taken of
// the last picture waits for it, and *left_out says that this picture was left out. False on failure (logged once;
// later calls fail silently).
bool y4m_writer_add(struct y4m_writer *writer, const struct image *rgba, bool *left_out);
// Gives a reader that has stalled half a second for the last picture. Returns whether every picture that was not left
// out is safely written. Takes NULL.
bool y4m_writer_close(struct y4m_writer *writer);
