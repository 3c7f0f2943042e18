// hash.h: hashes and pseudo-random numbers, which stay the same from version to version and on all machines
#pragma once

#include <stddef.h>
#include <stdint.h>

// ---- hashes: XXH3 of xxHash 0.8, as `xxhsum -H3` and `xxh128sum` print ----

uint64_t hash_64(const void *data, size_t size);

enum { HASH_TEXT = 33 };
// Writes the 128-bit hash as 32 hexadecimal digits.
void hash_128_text(const void *data, size_t size, char text[HASH_TEXT]);

// ---- pseudo-random numbers ----

uint64_t random_next(uint64_t *state); // splitmix64; any state may be the first one
double random_unit(uint64_t *state);   // 0 <= x < 1
void random_fill(void *memory, size_t bytes, uint32_t seed);
