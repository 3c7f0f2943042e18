// y4m.h: parses YUV4MPEG2 headers and writes YUV4MPEG2 videos (format: yuv4mpeg(5) of mjpegtools)
#pragma once

#include "image/image.h"

#include <stdbool.h>
#include <stddef.h>

struct y4m_header {
    struct image_shape shape;             // colour from the header; unknown parts are 0
    int rate_numerator, rate_denominator; // frames per second; 0/1: unknown
    int aspect_across, aspect_down;       // width to height of a pixel; 1:1 if unknown
    bool interlaced;                      // each frame consists of two interleaved fields
};

enum { Y4M_LINE_MAX = 1024 }; // longest header line that is accepted, without its newline

// Parses the stream header line (without the newline). It accepts 8-bit C420*, C422, C444 and Cmono and tags in any
// order, and ignores comments and unknown extensions (X). False on failure; *why is a static text.
bool y4m_parse_header(const char *line, size_t size, struct y4m_header *header, const char **why);
// Returns true if the line is a frame header ("FRAME", with or without parameters).
bool y4m_parse_frame(const char *line, size_t size);

// Converts a rate of 1e-6 to 1e6 to a ratio: a standard video rate to its exact ratio (29.97 to 30000/1001), any other
// rate to the simplest ratio within 1e-9 of it.
void y4m_rate(double rate, int *numerator, int *denominator);

struct y4m_writer;

// `path` "-" is standard output. `file`: the open file of this name, which the writer owns, also on failure; -1: opens
// or creates it. A rate of 0/1 is written as unknown. RGBA images of width x height become C444
// (docs/pixels.md section 5). NULL on failure (logged), or if a signal arrives while a pipe has no reader (not logged).
struct y4m_writer *y4m_writer_open(const char *path, int file, int width, int height, int rate_numerator,
                                   int rate_denominator);
// As y4m_writer_open, for the input of a program. The writer owns the pipe, also on failure. It waits for as long as
// the program runs, and does not log failed writes: the program knows their reason, and y4m_writer_add returns false.
// `alpha`: the frames have twice the height; alpha is the luma of the lower half.
struct y4m_writer *y4m_writer_to_pipe(int pipe, int width, int height, int rate_numerator, int rate_denominator,
                                      bool alpha);
// Returns the colour of the frames that a writer makes.
struct color y4m_writer_color(int width, int height);
// Writes one complete frame (`rgba` NULL: the last one again) or nothing: after a failed or interrupted write the file
// is truncated to its last complete frame. Waits for the reader of a pipe. With `left_out`, it does not wait for a
// stalled reader: it keeps the unwritten rest of that frame, drops new frames and sets *left_out for each. False on
// failure (logged once; later calls fail silently).
bool y4m_writer_add(struct y4m_writer *writer, const struct image *rgba, bool *left_out);
// Waits up to 0.5 s for a stalled reader to take the last frame. Returns true if all frames that were not dropped are
// written. Accepts NULL.
bool y4m_writer_close(struct y4m_writer *writer);
