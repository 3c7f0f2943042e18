// fuzz_texts.h: a fuzzer of texts as a test: its seeds, mutations of these, and files that once failed
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_texts {
    const char *const *seeds; // each at most 4096 bytes
    size_t count;
    const char *letters; // that mutations write
    unsigned any_byte;   // one mutation of this many writes any byte
};

// Knuth's MMIX generator; its high bits are good enough here.
static inline unsigned next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33);
}

// Changes or removes a few pieces.
static inline size_t mutate(const struct fuzz_texts *texts, char *data, size_t size, uint64_t *state)
{
    for (unsigned n = 1 + next_random(state) % 4; n > 0 && size > 1; n--) {
        const size_t at = next_random(state) % size, length = 1 + next_random(state) % 8;
        if (next_random(state) % texts->any_byte == 0)
            data[at] = (char)next_random(state);
        else if (next_random(state) % 2 == 0)
            data[at] = texts->letters[next_random(state) % strlen(texts->letters)];
        else if (at + length < size) {
            memmove(data + at, data + at + length, size - at - length);
            size -= length;
        }
    }
    return size;
}

// Tries the seeds, their mutations, and the files that the arguments name. Returns the exit status.
static inline int fuzz_texts(const struct fuzz_texts *texts, int argc, char **argv)
{
    enum { ROOM = 4096, ROUNDS = FUZZ_ROUNDS };
    uint64_t state = 1;
    char data[ROOM];
    for (size_t i = 0; i < texts->count; i++)
        LLVMFuzzerTestOneInput((const uint8_t *)texts->seeds[i], strlen(texts->seeds[i]));
    for (long i = 0; i < ROUNDS; i++) {
        const char *seed = texts->seeds[next_random(&state) % texts->count];
        const size_t size = strlen(seed);
        memcpy(data, seed, size);
        LLVMFuzzerTestOneInput((const uint8_t *)data, mutate(texts, data, size, &state));
    }
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (!file) {
            perror(argv[i]);
            return 1;
        }
        LLVMFuzzerTestOneInput((const uint8_t *)data, fread(data, 1, sizeof(data), file));
        fclose(file);
    }
    printf("%d texts tried\n", ROUNDS);
    return 0;
}
