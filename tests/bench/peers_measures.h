// peers_measures.h: monocle's histogram, for the peers in C++
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct measures_peer;

struct measures_peer *measures_open(int width, int height); // NULL: out of memory
void measures_close(struct measures_peer *peer);
// Returns 256 numbers for each of R, G and B of an RGBA picture. They are valid until the next call.
const uint32_t *measures_histogram(struct measures_peer *peer, uint8_t *rgba);

#ifdef __cplusplus
}
#endif
