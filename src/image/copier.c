// copier.c: copies large images with several threads
#include "image/copier.h"

#include "base/thread.h"

enum { PARTS = 16 }; // more than threads, so that a late thread does not delay the others

struct copying {
    struct image *to;
    const struct image *from;
};

static void copy_part(void *context, int part)
{
    const struct copying *copying = context;
    image_copy_rows(copying->to, copying->from, part, PARTS);
}

static void start(struct copier *copier)
{
    const int wanted = copier->threads > 0 ? copier->threads : workers_available() / 2;
    copier->opened = true;
    if (wanted > 1)
        copier->workers = workers_open(wanted < COPIER_THREADS ? wanted : COPIER_THREADS);
}

void copier_run(struct copier *copier, struct image *to, const struct image *from)
{
    struct copying copying = {to, from};
    const bool large = copier && image_bytes(&from->shape) >= COPIER_BYTES;
    if (large && !copier->opened)
        start(copier);
    if (large && copier->workers)
        workers_run(copier->workers, copy_part, &copying, PARTS);
    else
        image_copy(to, from);
}

void copier_finish(struct copier *copier)
{
    workers_close(copier->workers);
    *copier = (struct copier){0};
}
