// hash.c: hashes and pseudo-random numbers
#include "base/hash.h"

#include <stdio.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t hash_64(const void *data, size_t size)
{
    return XXH3_64bits(data, size);
}

void hash_128_text(const void *data, size_t size, char text[HASH_TEXT])
{
    const XXH128_hash_t hash = XXH3_128bits(data, size);
    snprintf(text, HASH_TEXT, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
}

// ---- pseudo-random numbers ----

// Steele and Vigna's splitmix64.
uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double random_unit(uint64_t *state)
{
    return (double)(random_next(state) >> 11) * 0x1p-53;
}

void random_fill(void *memory, size_t bytes, uint32_t seed)
{
    uint8_t *to = memory;
    uint32_t state = seed;
    for (size_t i = 0; i < bytes; i++) {
        state = state * 1664525u + 1013904223u; // Numerical Recipes' generator, which is faster
        to[i] = (uint8_t)(state >> 24);
    }
}
