// bench_memory.h: large random memory on the device, which the cases of a memory test share
#pragma once

#include "measure/bench_session.h"

enum { MEMORY_PIECE = 1 << 20 }; // bytes; the size of the memory is a multiple of this

struct memory {
    cl_mem from, to; // of equal size
    size_t bytes;
    uint8_t *random; // 2 * MEMORY_PIECE bytes, from which memory_random takes each piece of `from`
};

// Allocates much more than the caches have. False on failure (logged).
bool memory_open(struct memory *memory, struct bench_session *session);
void memory_close(struct memory *memory);
// Returns the bytes of `from` at `at`, up to the next multiple of MEMORY_PIECE. Each piece has other bytes: an
// exclusive or of equal pieces would be 0, as if the kernel had not run.
const uint8_t *memory_random(const struct memory *memory, size_t at);

bool memory_clear(const struct memory *memory, struct bench_session *session); // sets `to` to 0; false: logged
// Reads part of `to`. False on failure (logged).
bool memory_read(const struct memory *memory, struct bench_session *session, size_t at, void *got, size_t bytes);
