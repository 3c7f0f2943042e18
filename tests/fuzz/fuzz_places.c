// fuzz_places.c: hostile PGM files of `remap`; a libFuzzer target, and by itself a run over seeds and their mutations
#include "filter/file_resource.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct file_resource *made)
{
    if (!made->numbers) {
        if (!made->why[0] || strchr(made->why, '\n'))
            abort();
        return;
    }
    if (made->why[0] || made->width < 1 || made->height % 2 != 0 || made->count != made->width * made->height)
        abort();
    for (int i = 0; i < made->count; i++) {
        if (made->numbers[i] < 0 || made->numbers[i] > 65535)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct file_resource made = {.numbers = NULL};
    char *bytes = malloc(size ? size : 1); // exact size, so that a sanitizer reports reads beyond it
    if (!bytes)
        return 0;
    if (size)
        memcpy(bytes, data, size);
    place_read(bytes, size, &made);
    check(&made);
    free(made.numbers);
    free(bytes);
    return 0;
}

#ifndef FUZZER
#include "fuzz_texts.h"

static const char *const seeds[] = {
    "P2 # text\n2 4\n9\n0 1 2 3\n4 5 6 7\n",
    "P5\n3 2\n255\nabcdef",
    "P5 1 2 65535 abcd",
    "P5 32768 65536 65535 a",
};

int main(int argc, char **argv)
{
    return fuzz_texts(&(struct fuzz_texts){seeds, sizeof(seeds) / sizeof(*seeds), "0123456789 P25#\n", 8}, argc, argv);
}
#endif
