// kind.h: the interface of a kind of source, and what kinds share; source.c chooses the kind and paces the frames
#pragma once

#include "source/cameras.h"
#include "source/source.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/stat.h>

// The object that a source's text names, if the text does not begin with the word of a kind
struct source_target {
    const char *text;
    mode_t type;         // S_IFREG, S_IFDIR, ...; 0: not a path, but "-" or "@LIST"
    dev_t device;        // device number of a special file
    const uint8_t *head; // the first bytes of a regular file
    size_t head_bytes;
};

// A kind of source. Its own file defines it; source.c lists it.
struct source_kind {
    const char *name;
    const char *help[2]; // lines "syntax\tdescription"
    bool word;           // "name" and "name:TEXT" mean this kind
    bool endless;        // its frames never end
    bool still;          // it has one frame, unless `loop` is set
    bool decodes;        // it accepts --pixel-format mjpeg
    const char *lacks;   // the package without which this build has only its name; NULL: none
    // Returns true if the target is of this kind. The first kind that claims a target gets it. NULL: claims none.
    bool (*claims)(const struct source_target *target, const struct source_setup *setup);
    size_t state_bytes; // size of source->state, which is zeroed before open
    // Opens `text` (the text after "name:", or the path; may be NULL) and fills source->info except its kind. Returns
    // false on failure (logged); close is called in any case.
    bool (*open)(struct source *source, const struct source_setup *setup, const char *text);
    // Also called after a failed open. The pool is finished afterwards. NULL: nothing else to free.
    void (*close)(struct source *source);
    // As source_next, with an absolute deadline (clock_now_ns).
    enum source_status (*next)(struct source *source, struct frame *frame, int64_t deadline_ns);
    // As source_seek; the time is that of a frame, and not after the last one if the duration is known. NULL for a kind
    // that sets no info.frame_s.
    bool (*seek)(struct source *source, double seconds);
    // As source_slide, on any thread; NULL for a kind that is no slide show.
    bool (*slide)(const struct source *source, double seconds, struct source_slide *slide);
    // As source_return, on any thread; NULL for a kind that lends the slots of the source's pool.
    void (*give_back)(struct source *source, const struct frame *frame);
    // As source_reshape; NULL for a kind that never reports SOURCE_RESHAPED.
    bool (*reshape)(struct source *source);
    void (*rest)(struct source *source, bool rest); // as source_rest; NULL: nothing
    // As source_holds; NULL for a kind that reads only the file in its name.
    bool (*holds)(const struct source *source, const char *path);
    // As source_health, on any thread; NULL for a kind whose frames always arrive.
    void (*health)(struct source *source, struct source_health *health);
    // As source_controls, source_set_control and source_print_controls; NULL for a kind without controls.
    int (*controls)(struct source *source, struct source_control control[SOURCE_CONTROLS]);
    bool (*set_control)(struct source *source, const char *setting, char why[SOURCE_SET_WHY]);
    bool (*print_controls)(const char *text, FILE *out, bool settings);
    // As camera_nodes and camera_offers; NULL for a kind that is no camera.
    struct camera_node *(*nodes)(int *count);
    void (*offers)(const char *path, struct camera_offers *offers);
};

enum { DECODERS_MOST = 4 };                            // threads of camera_decoder.h
enum { POOL_SLOTS = SOURCE_LENT + DECODERS_MOST - 1 }; // so that all threads decode while most frames are lent

// The images that a source lends in turn.
struct pool {
    pthread_mutex_t lock;
    pthread_cond_t returned;
    struct image image[POOL_SLOTS]; // image of each slot: the caller of pool_take fills it; freed with the pool
    const struct source *source;    // source of the images
    int slots;                      // used ones; after pool_init: SOURCE_LENT
    bool lent[POOL_SLOTS];
    bool ready; // the lock is initialised
};

struct source {
    const struct source_kind *kind;
    struct source_info info;
    void *state;               // state of the kind; freed after close
    struct pool pool;          // zeroed for a kind that does not use it
    enum source_status ending; // SOURCE_FRAME until the source has ended or failed
    int64_t period_ns;         // time between frames; 0: not paced
    int64_t due_ns;            // when the next frame is due; 0 before the first frame
    double elapsed_s;          // time of the newest frame; negative before the first one
    int64_t video_ns;          // its frame.video_ns
    uint64_t number;           // its frame.number
    int64_t first_ns;          // when a device captured its first frame; 0: not yet
    int64_t base_ns;           // set_rate measures from this frame on; 0: not yet
    uint64_t base_number;
    int unsettled;                       // number of the next frames to leave out
    double rate;                         // measured; 0: not yet
    bool sought;                         // the next frame is the first one of all, or after a seek
    _Atomic(struct pages_owner *) owner; // set by source_set_owner
};

bool video_is_url(const char *text); // in video.c: ffmpeg opens such a text
extern const char video_schemes[];   // of these texts, as a list

// Returns the colour of a source's frames: from the user, else from the source (`said`), else from the default rules.
struct color source_color(const struct source_setup *setup, struct color said, const struct image_shape *shape);
// Returns true if source_open must end soon: nobody waits for it any more, or a signal has arrived.
bool source_given_up(const struct source_setup *setup);
// Returns true if the file has the size that the user wants, or if the user wants none. Otherwise logs and returns
// false.
bool source_size_fits(const struct source_setup *setup, int width, int height, const char *name);
// `across` and `down`: ratio of a pixel's width to its height. Enlarges the width or the height so that pixels become
// square. Returns false, and changes nothing, if they are square (within 1 %), the ratio is above 8 or below 1/8, or
// the size would be too large.
bool source_square(int *width, int *height, int across, int down);
// Converts an RGBA image with own pixels to the format that the user wants, if any, and sets its colour. Returns false
// on failure (logged with `name`).
bool source_convert(struct image *image, const struct source_setup *setup, const char *name);

// Allocates an image of this shape for every slot; `shape` NULL: the slots stay empty. pool_take moves a free image to
// the owner of source_set_owner; `source` NULL: images do not move. False: out of memory (logged).
bool pool_init(struct pool *pool, const struct source *source, const struct image_shape *shape);
void pool_finish(struct pool *pool); // accepts a zeroed pool, or one whose pool_init failed

// Takes a free slot; waits for one until the deadline. Returns -1 if none becomes free.
int pool_take(struct pool *pool, int64_t deadline_ns);
// Lends the image of a taken slot as a frame that is complete now.
void pool_lend(const struct pool *pool, int slot, uint64_t number, int64_t captured_ns, struct frame *frame);
void pool_give(struct pool *pool, int slot); // on any thread
