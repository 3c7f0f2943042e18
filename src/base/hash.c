// hash.c: hashes that stay the same from version to version
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
