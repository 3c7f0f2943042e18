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
    int left, taken; // pieces not taken yet; number of times that a piece was taken
    bool sealed;     // the pieces are read-only
};

struct lender lender_of(int pieces);
int lender_out(
    const struct lender *lender); // returns the number of pieces not given back; not while another thread uses it
// Returns true if the image begins at the start of a piece and extends to its end.
bool lender_holds(struct lender *lender, const struct image *image);
