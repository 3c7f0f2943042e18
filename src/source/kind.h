// kind.h: what a kind of source provides; source.c does the rest (choosing, pacing, remembering the end)
#pragma once

#include "source/source.h"

#include <stdatomic.h>
#include <stdint.h>

// A row of the table in source.c.
struct source_kind {
    const char *name;
    size_t state_bytes; // of source->state, which open finds cleared
    // Opens `text` (what stands behind "name:", or the path; may be NULL) and fills source->info but for its kind. On
    // failure logs and returns false; close is called all the same.
    bool (*open)(struct source *source, const struct source_setup *setup, const char *text);
    void (*close)(struct source *source); // takes a half-open one
    // As source_next, but with the time until which it may wait.
    enum source_status (*next)(struct source *source, struct frame *frame, int64_t deadline_ns);
    void (*give_back)(struct source *source, const struct frame *frame); // on any thread
    // As source_reshape; NULL for a kind that never reports SOURCE_RESHAPED.
    bool (*reshape)(struct source *source);
    // As source_holds; NULL for a kind that reads no files but the one it is named by.
    bool (*holds)(const struct source *source, const char *path);
    // On any thread; NULL for a kind that always does well.
    void (*health)(struct source *source, struct source_health *health);
    // As source_control; NULL for a kind without controls.
    bool (*control)(struct source *source, int index, int steps, struct source_control *control);
};

extern const struct source_kind source_pattern, source_still, source_y4m, source_raw, source_list, source_camera;

struct source {
    const struct source_kind *kind;
    struct source_info info;
    void *state;                         // the kind's own, freed after its close
    enum source_status ending;           // SOURCE_FRAME until the source has ended or failed
    int64_t period_ns;                   // between frames; 0 when not paced
    int64_t due_ns;                      // when the next frame is; 0 before the first
    _Atomic(struct pages_owner *) owner; // as source_place has it
};

enum { SOURCE_DEFAULT_RATE = 30 }; // where pacing is asked for and nobody says a rate

// The colour of a source's pictures: the user's word, then what the source says, then the default rules.
struct color source_color(const struct source_setup *setup, struct color said, enum pixfmt format, int width,
                          int height);
// Whether the size the user wants, if any, is the one a file has. Otherwise logged.
bool source_size_fits(const struct source_setup *setup, int width, int height, const char *name);
// Brings an RGBA picture (own pixels) to the format the user wants, if any, and settles its colour. False on failure
// (logged with `name`).
bool source_convert(struct image *image, const struct source_setup *setup, const char *name);

// The path of the first capture camera. False where there is none that can be opened: `path` is then the first that
// could not be, and *why the reason and what to do; or *why is NULL where there is no camera at all.
enum { CAMERA_PATH = 32 };
bool camera_first(char path[CAMERA_PATH], const char **why);
