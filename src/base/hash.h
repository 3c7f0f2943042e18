// hash.h: hashes that stay the same from version to version (XXH3, xxHash 0.8), as `xxhsum -H3` and `xxh128sum` print
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t hash_64(const void *data, size_t size);

enum { HASH_TEXT = 33 };
// Writes the 128-bit hash as 32 hexadecimal digits.
void hash_128_text(const void *data, size_t size, char text[HASH_TEXT]);
