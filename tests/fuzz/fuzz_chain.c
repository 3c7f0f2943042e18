// fuzz_chain.c: random chain texts; a libFuzzer target, and without libFuzzer a regression test
//
//   fuzz_chain [--rounds N] [--seed N] [FILE...]   runs the files, then N mutations of them and of built-in texts
//
// With -Dfuzz=true the main function is libFuzzer's.
#include "chain_property.h"
#include "pictures.h"
#include "reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); // exact size, so that a sanitizer reports reads beyond it
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    char problem[PROPERTY_TEXT];
    if (!chain_property(text, problem)) {
        fprintf(stderr, "fuzz_chain: \"%.1000s\": %s\n", text, problem);
        abort();
    }
    free(text);
    return 0;
}

#ifndef FUZZER

enum { TEXT_MAX = 20000, POOL_MAX = 64 };

struct pool {
    char *text[POOL_MAX];
    size_t size[POOL_MAX];
    int count;
};

static const char *const words[] = {
    "=",
    ":",
    ",",
    " ",
    "mode",
    "luma",
    "average",
    "level",
    "value",
    "amount",
    "brightness",
    "radius",
    "matrix",
    "div",
    "bias",
    "direction",
    "nw",
    "edge",
    "gaussian",
    "0",
    "-1",
    "1e9",
    "1e-40",
    "1e999",
    "nan",
    "inf",
    "0x10",
    "-0",
    "1.",
    ".5",
    "255",
    "256",
    "15",
    "32767",
    "16777217",
    "0.1",
    "\t",
    "\n",
    "\xC3\xA9",
    "\xFF",
    "0 -1 0 -1 5 -1 0 -1 0",
    "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
};

static const char *const seeds[] = {
    "blur=2,convolve=0 -1 0 -1 5 -1 0 -1 0:div=1:bias=0,gray",
    "gray=mode=average,gamma=0.45,contrast=amount=2:brightness=-10",
    "convolve=gaussian,emboss=direction=se,threshold=level=7,sharpen=0.25",
    "none, mirror ,flip,sobel , median,invert,sepia,maxrgb",
    "convolve=bias=128:laplacian:4",
};

static void pool_add(struct pool *pool, const void *data, size_t size)
{
    if (pool->count == POOL_MAX)
        return;
    pool->text[pool->count] = malloc(size + 1);
    if (!pool->text[pool->count])
        abort();
    memcpy(pool->text[pool->count], data, size);
    pool->size[pool->count++] = size;
}

static bool pool_add_file(struct pool *pool, const char *path)
{
    static char data[TEXT_MAX];
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    pool_add(pool, data, fread(data, 1, sizeof(data), file));
    fclose(file);
    return true;
}

// Replaces bytes at..at+gone by `data`, up to the size of the buffer.
static size_t splice(char *text, size_t size, size_t at, size_t gone, const char *data, size_t more)
{
    if (at + gone > size || size - gone + more > TEXT_MAX)
        return size;
    memmove(text + at + more, text + at + gone, size - at - gone);
    memcpy(text + at, data, more);
    return size - gone + more;
}

// Returns the name of a filter or one of `words`.
static const char *random_word(struct random *random)
{
    const int count = sizeof(words) / sizeof(*words), index = random_range(random, 0, count + reference_filters() - 1);
    return index < count ? words[index] : reference_filter_name(index - count);
}

static size_t mutate(const struct pool *pool, struct random *random, char *text, size_t size)
{
    size_t at = random_bits(random) % (size + 1);
    const char *word = random_word(random);
    int other = random_range(random, 0, pool->count - 1);
    size_t most = size - at;
    switch (random_bits(random) % 6) {
    case 0: // a byte
        if (at < size)
            text[at] = (char)random_bits(random);
        return size;
    case 1: // insert a word, or replace bytes by it
        return splice(text, size, at, 0, word, strlen(word));
    case 2:
        return splice(text, size, at, most < 4 ? most : random_bits(random) % 4, word, strlen(word));
    case 3: // remove a part
        return splice(text, size, at, most ? random_bits(random) % (most < 12 ? most : 12) : 0, "", 0);
    case 4: // append another text
        size = splice(text, size, size, 0, ",", 1);
        return splice(text, size, size, 0, pool->text[other], pool->size[other]);
    default: // double the text, rarely, so that texts exceed every limit
        return random_bits(random) % 16 ? size : splice(text, size, size, 0, text, size);
    }
}

static void pool_mutations(const struct pool *pool, struct random *random, long rounds)
{
    static char text[TEXT_MAX];
    for (long i = 0; i < rounds; i++) {
        int from = random_range(random, 0, pool->count - 1);
        size_t size = pool->size[from];
        memcpy(text, pool->text[from], size);
        for (int steps = random_range(random, 1, 12); steps > 0; steps--)
            size = mutate(pool, random, text, size);
        LLVMFuzzerTestOneInput((const uint8_t *)text, size);
    }
}

int main(int argc, char **argv)
{
    struct pool pool = {0};
    struct random random = {1};
    long rounds = FUZZ_ROUNDS;
    int result = 0;
    for (size_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++)
        pool_add(&pool, seeds[i], strlen(seeds[i]));
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--rounds") && i + 1 < argc) {
            rounds = atol(argv[++i]);
        } else if (!strcmp(argv[i], "--seed") && i + 1 < argc) {
            random.state = strtoull(argv[++i], NULL, 10);
        } else if (!pool_add_file(&pool, argv[i])) {
            fprintf(stderr, "fuzz_chain: cannot read %s\n", argv[i]);
            result = 2;
        }
    }
    for (int i = 0; i < pool.count; i++)
        LLVMFuzzerTestOneInput((const uint8_t *)pool.text[i], pool.size[i]);
    pool_mutations(&pool, &random, rounds);
    printf("fuzz_chain: %d texts and %ld mutations passed\n", pool.count, rounds);
    for (int i = 0; i < pool.count; i++)
        free(pool.text[i]);
    return result;
}

#endif
