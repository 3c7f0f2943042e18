// lender.c: a lender of memory for frames, for tests of sources that use it
#include "lender.h"

#include <stdlib.h>
#include <sys/mman.h>

// Sealed memory is a shared mapping, because a driver may write even to private read-only memory.
static void *map(const struct lender *lender, size_t bytes)
{
    void *memory = lender->sealed ? mmap(NULL, bytes, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
                                  : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void *take(struct pages_owner *owner, size_t bytes)
{
    struct lender *lender = (struct lender *)owner;
    int i = 0;
    pthread_mutex_lock(&lender->lock);
    while (lender->piece[i])
        i++;
    void *memory = lender->left > 0 ? map(lender, bytes) : NULL;
    if (memory) {
        lender->piece[i] = memory;
        lender->bytes[i] = bytes;
        lender->left--;
        lender->taken++;
    }
    pthread_mutex_unlock(&lender->lock);
    return memory;
}

static void give(struct pages_owner *owner, void *memory)
{
    struct lender *lender = (struct lender *)owner;
    int i = 0;
    pthread_mutex_lock(&lender->lock);
    while (i < LENDER_PIECES && lender->piece[i] != memory)
        i++;
    if (i == LENDER_PIECES) // memory of another lender, or given back twice
        abort();
    munmap(memory, lender->bytes[i]);
    lender->piece[i] = NULL;
    lender->left++;
    pthread_mutex_unlock(&lender->lock);
}

struct lender lender_of(int pieces)
{
    return (struct lender){.owner = {.take = take, .give = give}, .lock = PTHREAD_MUTEX_INITIALIZER, .left = pieces};
}

int lender_out(const struct lender *lender)
{
    int count = 0;
    for (int i = 0; i < LENDER_PIECES; i++)
        count += lender->piece[i] != NULL;
    return count;
}

bool lender_holds(struct lender *lender, const struct image *image)
{
    bool found = false;
    pthread_mutex_lock(&lender->lock);
    for (int i = 0; i < LENDER_PIECES; i++)
        found |= lender->piece[i] && image->plane[0] == lender->piece[i] && image->reach_bytes == lender->bytes[i];
    pthread_mutex_unlock(&lender->lock);
    return found;
}
