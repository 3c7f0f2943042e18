// peers_measures.c: monocle's histogram on one thread, as a peer of itself for peers.cpp
#include "peers_measures.h"

#include "path/measures.h"

#include <stdlib.h>

struct measures_peer {
    struct measuring measuring;
    struct image picture;
    uint32_t *values;
};

struct measures_peer *measures_open(int width, int height)
{
    struct measures_peer *peer = calloc(1, sizeof(*peer));
    const struct path_setup setup = {.measures = MEASURE_HISTOGRAM};
    if (!peer)
        return NULL;
    peer->picture.shape = (struct image_shape){.width = width, .height = height};
    peer->picture.stride[0] = 4 * (size_t)width;
    if (measuring_open(&peer->measuring, &setup, width, height, true) &&
        (peer->values = calloc(measuring_values(&peer->measuring), sizeof(*peer->values))))
        return peer;
    measures_close(peer);
    return NULL;
}

void measures_close(struct measures_peer *peer)
{
    measuring_close(&peer->measuring);
    free(peer->values);
    free(peer);
}

const uint32_t *measures_histogram(struct measures_peer *peer, uint8_t *rgba)
{
    peer->picture.plane[0] = rgba;
    measuring_run(&peer->measuring, &peer->picture, NULL, peer->values);
    return peer->values;
}
