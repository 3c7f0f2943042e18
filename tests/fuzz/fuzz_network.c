// fuzz_network.c: hostile .tflite networks; a libFuzzer target, and by itself a run over mutations of a network
#include "matte/network.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *exact = malloc(size ? size : 1),
         why[NETWORK_WHY] = ""; // exact size, so that a sanitizer sees a byte too many
    if (size)
        memcpy(exact, data, size);
    struct network *network = network_read(exact, size, why);
    free(exact);
    if (!network && (!why[0] || strchr(why, '\n')))
        abort();
    if (network && network_work(network) < 1e6) {
        float sum = 0;
        for (int round = 0; round < 2; round++)
            network_run(network);
        for (int i = 0; network_output(network, i); i++) {
            for (size_t k = 0; k < network_output(network, i)->count; k++)
                sum += network_output(network, i)->data[k];
        }
        static volatile float kept;
        kept = sum; // all values are read
        (void)kept;
    }
    network_free(network);
    return 0;
}

#ifndef FUZZER
#include "fuzz_texts.h"

// The arguments are a network and, if not FUZZ_ROUNDS, the number of mutations.
int main(int argc, char **argv)
{
    static uint8_t seed[1 << 19], data[sizeof(seed)];
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    const long rounds = argc > 2 ? atol(argv[2]) : FUZZ_ROUNDS;
    if (!file)
        return 1;
    const size_t size = fread(seed, 1, sizeof(seed), file);
    uint64_t state = 1;
    fclose(file);
    LLVMFuzzerTestOneInput(seed, size);
    for (long i = 0; i < rounds; i++) {
        memcpy(data, seed, size);
        for (unsigned n = 1 + next_random(&state) % 3; n > 0; n--) {
            const size_t at = next_random(&state) % size;
            const uint8_t values[] = {0, 1, 2, 0x7f, 0x80, 0xff, (uint8_t)next_random(&state), (uint8_t)(data[at] + 4)};
            data[at] = values[next_random(&state) % sizeof(values)];
        }
        LLVMFuzzerTestOneInput(data, next_random(&state) % 16 == 0 ? next_random(&state) % size : size);
    }
    printf("%ld networks tried\n", rounds);
    return 0;
}
#endif
