// film.h: the frames of a byte stream, with or without a header line before each frame
#pragma once

#include "source/kind.h"
#include "source/pool.h"
#include "source/stream.h"

enum film_phase { FILM_LINE, FILM_SLOT, FILM_PIXELS, FILM_WHOLE };

struct film {
    struct stream stream; // opened by the kind
    struct pool pool;
    bool lines;      // a Y4M frame header precedes each picture
    off_t first;     // offset of the first picture
    bool loop;       // start again at the end
    bool told;       // the warning about the incomplete last frame has been logged
    uint64_t number; // of the next picture
    uint64_t round;  // pictures since the last start
    enum film_phase phase;
    int slot;      // being filled; -1 for none
    size_t filled; // bytes of it
    int64_t begun_ns;
};

// The first frame begins at the stream's offset. Fills source->info except the rate. False on failure (logged).
bool film_start(struct source *source, const struct source_setup *setup, const struct image_shape *shape, bool lines);

// The other functions of a source kind whose state is a film.
void film_close(struct source *source);
bool film_holds(const struct source *source, const char *path);
enum source_status film_next(struct source *source, struct frame *frame, int64_t deadline_ns);
void film_return(struct source *source, const struct frame *frame);
