// film.h: the frames of a video without compression, from a file or a pipe
#pragma once

#include "source/kind.h"
#include "source/pool.h"
#include "source/stream.h"

enum film_phase { FILM_LINE, FILM_SLOT, FILM_PIXELS, FILM_WHOLE };

struct film {
    struct stream stream; // the kind of source opens it
    struct pool pool;
    bool lines;      // a Y4M frame header precedes each frame
    off_t first;     // offset of the first frame
    bool loop;       // start again at the end
    bool told;       // the warning about an incomplete frame was logged
    uint64_t number; // number of the next frame
    uint64_t round;  // frames since the last start
    enum film_phase phase;
    int slot;      // pool slot that is being filled; -1: none
    size_t filled; // bytes read into the slot
    int64_t begun_ns;
};

// Begins at the stream's offset. Sets name and shape of source->info. Returns false on failure (logged).
bool film_start(struct source *source, const struct source_setup *setup, const struct image_shape *shape, bool lines);

// Members of a source_kind whose state is a struct film
void film_close(struct source *source);
bool film_holds(const struct source *source, const char *path);
enum source_status film_next(struct source *source, struct frame *frame, int64_t deadline_ns);
void film_return(struct source *source, const struct frame *frame);
