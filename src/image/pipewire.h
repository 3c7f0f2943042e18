// pipewire.h: PipeWire helpers for cameras and virtual cameras: connection, errors, formats and the layout of buffers
#pragma once

#include "image/image.h"

struct pw_core;
struct pw_stream;
struct spa_data;

enum { PIPEWIRE_WHY = 256 };
enum { PIPEWIRE_RATE_MOST = 1000 }; // frames per second: higher rates are read as this or as unknown

// A connection to the daemon. Only the thread that holds it may use it: libpipewire's own thread wakes only that one.
// A thread releases it before another thread holds it. All callbacks run in pipewire_turn and pipewire_sync.
struct pipewire;

// Connects to the daemon, and holds the connection. Returns NULL, with the reason in `why`, if there is no daemon. If
// the daemon has no socket, this takes only a few system calls.
struct pipewire *pipewire_open(char why[PIPEWIRE_WHY]);
void pipewire_close(struct pipewire *pipewire); // accepts NULL
struct pw_core *pipewire_core(const struct pipewire *pipewire);
void pipewire_hold(struct pipewire *pipewire);    // accepts NULL, as the next
void pipewire_release(struct pipewire *pipewire); // not needed before pipewire_close
int pipewire_fd(const struct pipewire *pipewire); // readable when pipewire_turn has work
void pipewire_turn(struct pipewire *pipewire);    // handles the waiting events, and never waits
// Waits until the daemon has answered all requests before. Returns false at the deadline, and when it is lost.
bool pipewire_sync(struct pipewire *pipewire, int64_t deadline_ns);
const char *pipewire_lost(const struct pipewire *pipewire); // why the connection is lost; NULL: it is not

// A format of SPA, and the pixels that monocle reads it as.
struct pipewire_format {
    uint32_t spa; // SPA_VIDEO_FORMAT_*; 0: MJPEG
    enum pixfmt format;
    // Bytes of red, green and blue in each 4 bytes of a format that has no row in pixfmt.c, and must be copied; 0, 0,
    // 0: the pixels are read in place.
    uint8_t place[3];
};
// Returns format number `index`; false after the last one. SPA does not have all of them (spa is 0); the last is MJPEG.
bool pipewire_format(int index, struct pipewire_format *format);
bool pipewire_format_of(uint32_t spa, struct pipewire_format *format);  // 0: MJPEG. False: monocle does not read it.
const char *pipewire_format_name(const struct pipewire_format *format); // "nv12", "bgrx", "mjpeg"
struct color pipewire_color(unsigned matrix, unsigned range);           // SPA's numbers
void pipewire_copy(const struct pipewire_format *format, struct image *to, const struct image *from);

// Requests 2 to `most` buffers for a stream, at best `wanted`, in these memories (flags 1 << SPA_DATA_*), each with the
// time of its frame. `shape`: of frames without padding in one memory; NULL: the producer chooses the layout.
void pipewire_request_buffers(struct pw_stream *stream, int wanted, int most, int memories,
                              const struct image_shape *shape);

// One memory of a buffer, mapped for reading.
struct pipewire_map {
    uint8_t *at; // NULL: not mapped
    size_t length;
    void *pages; // NULL: libpipewire owns the mapping, which ends with the buffer
    size_t page_bytes;
    int dma; // descriptor of a DMA buffer, for the caches of its processor; -1: other memory
};
// Maps a memory, unless its numbers do not fit its file. False: it cannot be mapped; `map` is then empty.
bool pipewire_map(const struct spa_data *from, struct pipewire_map *map);
void pipewire_unmap(struct pipewire_map *map); // accepts an empty one

// One mapped memory of a buffer, as its producer describes it. No value is trusted.
struct pipewire_data {
    uint8_t *at;
    size_t length;         // mapped bytes
    uint32_t start, bytes; // of the chunk: offset and size
    int32_t stride;        // of the chunk; 0: the rows have no padding
};
// Points `image` at the planes in `count` memories: one for all planes, or one each. Returns NULL, or why the buffer
// cannot be used.
const char *pipewire_lay_out(const struct pipewire_data *data, int count, const struct image_shape *shape,
                             struct image *image);
