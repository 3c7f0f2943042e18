// captures.h: a directory of captures for `monocle tune --from`: a capture is a chain, and a frame that it ran on
//
// A capture is a file of mode 0600: a line of JSON, then the frame's planes without padding. Its name is the hash of
// the line. So there is one capture for each chain, shape, output, device and number of threads.
#pragma once

#include "filter/chain.h"
#include "image/image.h"

#include <pthread.h>

enum { CAPTURES_MAX = 16, CAPTURE_DEVICE = 128, CAPTURE_THREADS = 256, CAPTURE_WHY = 256 };

struct capture_entry {
    struct chain chain;
    char text[CHAIN_TEXT];       // of the chain
    char device[CAPTURE_DEVICE]; // its name; "cpu": the cpu path
    int threads;                 // of the cpu path, if its parameters can be tuned; 0: none
    bool to_image;               // the last pass wrote an OpenCL image, not a buffer
    struct image frame;
};

// Returns the bytes of a file, which the caller frees. The frame may be borrowed. NULL: out of memory (not logged).
char *capture_print(const struct capture_entry *entry, size_t *size);
// Reads the bytes of a file. The caller calls capture_free. False: `why` has the reason, and the entry is empty.
bool capture_parse(struct capture_entry *entry, const char *data, size_t size, char why[CAPTURE_WHY]);
void capture_free(struct capture_entry *entry); // accepts an empty one

// ---- writing ----

struct captures {
    const char *path;     // borrowed; NULL: there is no directory, and captures_add does nothing
    pthread_mutex_t lock; // guards the members below
    int directory;        // -1: not open
    bool failed, full;    // logged
};

// Opens the directory, and makes it if it is missing. A failure is logged, and captures_close returns it. `path` NULL:
// nothing will be captured.
void captures_open(struct captures *captures, const char *path);
// Writes a capture, unless the directory has it. The directory gets at most
// CAPTURES_MAX captures. On any thread. Failures are logged once.
void captures_add(struct captures *captures, const struct chain *chain, const char *device, int threads, bool to_image,
                  const struct image *frame);
bool captures_close(struct captures *captures); // false: opening or writing failed; accepts a closed or zeroed one

// ---- reading ----

// The names of the captures of a directory, sorted.
struct capture_names {
    const char *path; // borrowed
    int directory, count;
    struct dirent **name;
};
// False: the directory cannot be read, is unsafe or has no captures (logged).
bool capture_names_open(struct capture_names *names, const char *path);
void capture_names_close(struct capture_names *names);
// Reads a capture. The caller calls capture_free. False: it cannot be read or is damaged (logged).
bool capture_read(struct capture_entry *entry, const struct capture_names *names, int number);
