// fuzz_cube.c: hostile files .cube; a libFuzzer target, and by itself a run over seeds and their mutations
#include "filter/file_resource.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Every place lies between two entries. Packed entries have three channels of at most 1020, others at most 1020000.
static bool is_sound(const int32_t *numbers, int count)
{
    const int n = abs(numbers[0]), step = numbers[0] < 0 ? 3 : 1;
    if (n == 0)
        return count == 257;
    if (n < 2 || n > CUBE_SIDE_MAX || count != 769 + step * n * n * n)
        return false;
    for (int i = 1; i < 769; i++) {
        if (numbers[i] < 0 || numbers[i] >> 9 > n - 2 || (numbers[i] & 511) > 256)
            return false;
    }
    for (int i = 769; i < count; i++) {
        if (step == 3 ? abs(numbers[i]) > 1020000
                      : (numbers[i] & 1023) > 1020 || (numbers[i] >> 10 & 1023) > 1020 || numbers[i] >> 20 > 1020 ||
                            numbers[i] < 0)
            return false;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), why[FILTER_WHY] = ""; // exact size, so that a sanitizer reports reads beyond it
    int count = 0;
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    int32_t *numbers = cube_read(text, &count, why);
    if (numbers ? !is_sound(numbers, count) : strncmp(why, "line ", 5) != 0 || strchr(why, '\n') != NULL)
        abort();
    free(numbers);
    free(text);
    return 0;
}

#ifndef FUZZER
#include "fuzz_texts.h"

static const char *const seeds[] = {
    "LUT_3D_SIZE 2\nDOMAIN_MIN 0 0 0\nDOMAIN_MAX 1 1 1\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n",
    "TITLE \"a\"\r\n#b\r\nLUT_1D_SIZE 3\r\nLUT_1D_INPUT_RANGE -1e-1 2\r\n0 0 0\r\n.5 +.5 5e-1\r\n1 1.0 1\r\n",
};

int main(int argc, char **argv)
{
    return fuzz_texts(&(struct fuzz_texts){seeds, sizeof(seeds) / sizeof(*seeds), "0123456789.-+e# \t\r\nDLU_", 8},
                      argc, argv);
}
#endif
