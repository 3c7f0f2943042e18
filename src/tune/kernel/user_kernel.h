// user_kernel.h: a user's kernel, described by a file (spec.h), as a subject of the tuner
#pragma once

#include "compute/device.h"
#include "tune/tuner.h"

// The limits of the search that the description has; 0: none.
struct user_budget {
    int configurations;
    double seconds;
};

// Reads the description and its kernels. NULL on failure (logged). Each configuration is validated on the whole input,
// in a child process, for at most 30 s and, for each processor (up to 16), 10 times the duration of the reference. A
// child that ends is replaced.
struct subject *user_kernel_open(struct device *device, const char *path, struct user_budget *budget);

// Returns true if the path is one of the files that the description names.
bool user_kernel_reads(const struct subject *subject, const char *path);

struct json_t;
// Returns the launches of a configuration that runs: an array of objects with kernel, launches, global, local and ms,
// their shortest time. Launches of the same kernel and sizes are one object. NULL on failure.
struct json_t *user_kernel_launches(struct subject *subject, int configuration);
// Runs a configuration, also in Oclgrind. Returns an object with choice, failed or launches, and faults (a text for
// each access out of bounds) or unchecked (why Oclgrind did not run it).
struct json_t *user_kernel_check(struct subject *subject, int configuration);

// The child's arguments, after the program's name. Its standard input is the memory of struct user_data.
enum kernel_word {
    KERNEL_WORD_COMMAND,
    KERNEL_WORD_KIND, // "spec"
    KERNEL_WORD_PARENT,
    KERNEL_WORD_SPEC,   // path of the description
    KERNEL_WORD_HASH,   // spec.hash
    KERNEL_WORD_DEVICE, // platform, name and place
    KERNEL_WORDS,
};

// Writes the text by which the child finds the device.
void user_kernel_print_device(const struct device_info *info, char text[200]);

// The child's part: answers requests. Returns the exit status.
int user_kernel_answer(char *const *words);
