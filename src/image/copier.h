// copier.h: copies large images with several threads: one core of a large server copies only 7 to 8 GB/s
#pragma once

#include "image/image.h"

struct workers;

// A zeroed one is ready for use. Only one thread at a time may use it.
struct copier {
    int threads; // at most COPIER_THREADS are used; 0: one for two CPUs
    bool opened; // the threads start at the first copy of a large image
    struct workers *workers;
};
enum { COPIER_THREADS = 4, COPIER_BYTES = 1 << 20 }; // smaller images are copied by the caller alone

// As image_copy. `copier` NULL: the caller copies alone.
void copier_run(struct copier *copier, struct image *to, const struct image *from);
void copier_finish(struct copier *copier);
