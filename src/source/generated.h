// generated.h: what kinds of source share that generate their frames
#pragma once

#include "source/kind.h"

// The state of such a kind, or its first member.
struct generated {
    void (*draw)(struct source *source, int slot, uint64_t number); // draws frame `number` in a free slot
    uint64_t next;                                                  // number of the next frame
};

// Sets the source's shape and rate from `text`: "WxH@FPS,FORMAT" or a part of it (NULL: no part). The setup gives
// missing parts. Returns false if the text is wrong or contradicts the setup (logged).
bool generated_open(struct source *source, const struct source_setup *setup, const char *text, const char *name);
enum source_status generated_next(struct source *source, struct frame *frame, int64_t deadline_ns); // as kind.h says
