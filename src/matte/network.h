// network.h: reads a network from a .tflite file, and runs it on the calling thread
//
// Such a file comes from outside: every offset, shape and option in it is checked. The operators are those of
// MediaPipe's selfie segmentation and face detection (docs/dependencies.md). A run gives the same floats at every level
// of vector instructions.
#pragma once

#include <stddef.h>

struct network;

// A tensor of floats, in the order batch (always 1), row, column, channel. The last sizes are 1 if the file has fewer.
struct network_tensor {
    float *data;
    int shape[4];
    size_t count;
};

enum { NETWORK_BYTES = 16 << 20, NETWORK_WHY = 128 }; // a larger file is refused

// The network does not use `data` later. NULL: `why` says why, such as "operator 3: the shapes do not fit".
struct network *network_read(const void *data, size_t size, char why[NETWORK_WHY]);
// Reads a file.
struct network *network_open(const char *path, char why[NETWORK_WHY]);
void network_free(struct network *network); // accepts NULL

const struct network_tensor *network_input(const struct network *network);
const struct network_tensor *network_output(const struct network *network, int index); // NULL: it has no such output
double network_work(const struct network *network);                                    // operations of one run

// Computes the outputs from the input, whose data the caller has written. The outputs stay until the next run.
void network_run(struct network *network);
