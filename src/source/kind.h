// kind.h: what a kind of source provides; source.c does the rest (choosing, pacing, remembering the end)
#pragma once

#include "source/source.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/stat.h>

// The object that a source's text names, if the text does not begin with the word of a kind.
struct source_target {
    const char *text;
    mode_t type;         // S_IFREG, S_IFDIR, ...; 0: not a path, but "-" or "@LIST"
    dev_t device;        // of a special file
    const uint8_t *head; // the first bytes of a regular file
    size_t head_bytes;
};

// A kind of source: its row stands in its own file, its name in the list of source.c.
struct source_kind {
    const char *name;
    const char *help[2]; // lines of help: "syntax\tdescription"
    bool word;           // "name" and "name:TEXT" mean this kind
    bool endless;        // its frames never end
    bool still;          // it has one frame, unless it loops
    bool decodes;        // it accepts --pixel-format mjpeg
    // Returns true if the target is of this kind. The first kind that claims a target gets it. NULL: claims none.
    bool (*claims)(const struct source_target *target, const struct source_setup *setup);
    size_t state_bytes; // of source->state, which open finds cleared
    // Opens `text` (the text after "name:", or the path; may be NULL) and fills source->info except its kind. False on
    // failure (logged); close is called in any case.
    bool (*open)(struct source *source, const struct source_setup *setup, const char *text);
    void (*close)(struct source *source); // takes a half-open one
    // As source_next, but with the time until which it may wait.
    enum source_status (*next)(struct source *source, struct frame *frame, int64_t deadline_ns);
    void (*give_back)(struct source *source, const struct frame *frame); // on any thread
    // As source_reshape; NULL for a kind that never reports SOURCE_RESHAPED.
    bool (*reshape)(struct source *source);
    // As source_holds; NULL for a kind that reads only the file in its name.
    bool (*holds)(const struct source *source, const char *path);
    // As source_health, on any thread; NULL for a kind without a state of health.
    void (*health)(struct source *source, struct source_health *health);
    // As source_control; NULL for a kind without controls.
    bool (*control)(struct source *source, int index, int steps, struct source_control *control);
};

struct source {
    const struct source_kind *kind;
    struct source_info info;
    void *state;                         // the kind's own, freed after its close
    enum source_status ending;           // SOURCE_FRAME until the source has ended or failed
    int64_t period_ns;                   // between frames; 0 when not paced
    int64_t due_ns;                      // when the next frame is; 0 before the first
    _Atomic(struct pages_owner *) owner; // as source_place has it
};

enum { SOURCE_DEFAULT_RATE = 30 }; // for pacing, if neither the user nor the source has a rate

// The colour of a source's frames: from the user, else from the source, else by the default rules.
struct color source_color(const struct source_setup *setup, struct color said, enum pixfmt format, int width,
                          int height);
// Returns true if the file has the size that the user wants, or the user wants none. False is logged.
bool source_size_fits(const struct source_setup *setup, int width, int height, const char *name);
// Converts an RGBA image (own pixels) to the format that the user wants, if any, and sets its colour. False on failure
// (logged with `name`).
bool source_convert(struct image *image, const struct source_setup *setup, const char *name);

// The path of the first camera that captures. False if none can be opened: `path` is then the first camera that failed
// and *why the reason with advice. *why is NULL if there is no camera.
enum { CAMERA_PATH = 32 };
bool camera_first(char path[CAMERA_PATH], const char **why);
