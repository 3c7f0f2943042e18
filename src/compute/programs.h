// programs.h: programs that a device has built, kept in memory: a path for another frame size needs the same ones
#pragma once

#include "compute/cl.h"

#include <pthread.h>
#include <stddef.h>

enum { PROGRAMS_KEPT = 16 };

struct built_program {
    char *key;
    size_t key_bytes;
    cl_program program;
};

// The latest programs of one open device. On any thread.
struct programs {
    pthread_mutex_t lock;
    struct built_program built[PROGRAMS_KEPT];
    unsigned added; // so far; the next one replaces the oldest
};

void programs_init(struct programs *programs);
void programs_finish(struct programs *programs);
void programs_forget(struct programs *programs); // releases all

// Returns the program of a key, retained for the caller. NULL: there is none.
cl_program programs_find(struct programs *programs, const char *key, size_t key_bytes);
// Takes over the key and retains the program.
void programs_add(struct programs *programs, char *key, size_t key_bytes, cl_program program);
