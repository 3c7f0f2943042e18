// lender.h: a lender of memory for frames, for tests of sources that use it
#pragma once

#include "image/image.h"

#include <pthread.h>

enum { LENDER_PIECES = 64 };

struct lender {
    struct pages_owner owner;
    pthread_mutex_t lock;
    void *piece[LENDER_PIECES];
    size_t bytes[LENDER_PIECES];
    int left, taken; // pieces that it still has, and how often one was taken
    bool sealed;     // nobody can write to them
};

struct lender lender_of(int pieces);
int lender_out(const struct lender *lender); // pieces that were not given back; nobody else may be at it
// Whether the picture lies at the start of a piece, and may be read to the end of it.
bool lender_holds(struct lender *lender, const struct image *image);
