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

// ---- the built-in programs: programs.c ----

// The network of a built-in program: a file of an npm package.
struct matte_network {
    const char *name; // of the program: "person"
    const char *help;
    const char *package, *archive_hash; // "@mediapipe/NAME@VERSION"; SHA-256 of its archive
    const char *member, *hash;          // the file in the archive; its SHA-256
    const char *licence;
};
extern const struct matte_network matte_networks[];               // ends with a row without a name
const struct matte_network *matte_network_find(const char *name); // NULL: there is none

// Writes the path of the installed file. False: the environment names no place.
bool matte_network_path(const struct matte_network *network, char path[PATH_MAX]);

// ---- their networks: install.c ----

enum { MATTE_NETWORK_BYTES = 16 << 20 };
enum matte_state { MATTE_MISSING, MATTE_DAMAGED, MATTE_INSTALLED };
// Compares the installed file with its hash, with the program sha256sum.
enum matte_state matte_state(const struct matte_network *network, char path[PATH_MAX]);
// Installs the network from an archive of its package or from its file, or with npm if `archive` is NULL. Checks their
// hashes. The file is written whole or not at all; several runs may do this at the same time. False: logged. After
// process_hold_signals, a signal ends it.
bool matte_install(const struct matte_network *network, const char *archive, char path[PATH_MAX]);

// The words of the hidden command that runs a built-in program: `monocle matte_program NAME WIDTH HEIGHT`.
enum { MATTE_WORD_NAME = 1, MATTE_WORD_WIDTH, MATTE_WORD_HEIGHT, MATTE_WORDS };
// Runs the program until its standard input ends. Returns the exit code.
int matte_answer(char *const *words);
