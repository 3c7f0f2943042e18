// run_network.c: runs a network: run_network FILE ROUNDS; floats of the input from standard input, floats of all
// outputs out
#include "matte/network.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    char why[NETWORK_WHY];
    struct network *network = argc == 3 ? network_open(argv[1], why) : NULL;
    if (!network) {
        printf("%s\n", argc == 3 ? why : "usage: run_network FILE ROUNDS");
        return EXIT_FAILURE;
    }
    const struct network_tensor *input = network_input(network), *output;
    if (fread(input->data, sizeof(float), input->count, stdin) != input->count)
        return EXIT_FAILURE;
    const clock_t start = clock(); // processor time
    for (int i = 0; i < atoi(argv[2]); i++)
        network_run(network);
    fprintf(stderr, "%.3f ms, %.0f operations\n", (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC / atoi(argv[2]),
            network_work(network));
    for (int i = 0; (output = network_output(network, i)) != NULL; i++)
        fwrite(output->data, sizeof(float), output->count, stdout);
    network_free(network);
    return 0;
}
