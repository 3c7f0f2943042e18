// search.c: the part that all strategies share: returns each configuration once, keeps the results
#include "tune/search.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAP_TRIES = 64 };

// ---- random numbers ----

int search_random_below(struct search *search, int limit)
{
    return (int)(((random_next(&search->state) >> 32) * (uint64_t)limit) >> 32);
}

int search_random_rest(struct search *search)
{
    return search->rests > 0 ? search->rest[search_random_below(search, search->rests)] : -1;
}

int search_random_leap(struct search *search, int configuration, int count)
{
    const struct space *space = search->space;
    uint16_t tuple[SPACE_PARAMS];
    for (int i = 0; i < LEAP_TRIES; i++) {
        memcpy(tuple, space_tuple(space, configuration), sizeof(*tuple) * (size_t)space->params);
        for (int k = 0; k < count; k++) {
            const int p = search_random_below(search, space->params);
            tuple[p] = (uint16_t)search_random_below(search, space->param[p].values);
        }
        const int found = space_find(space, tuple);
        if (found >= 0 && !search_asked(search, found))
            return found;
    }
    return -1;
}

// ---- the search ----

static const struct strategy random_strategy = {.name = "random"};

const struct strategy *const strategies[] = {&auto_strategy, &random_strategy, NULL};

struct search *search_open(const struct strategy *strategy, const struct space *space, uint64_t seed, const int *first,
                           int firsts)
{
    struct search *search = xalloc(sizeof(*search));
    const size_t count = (size_t)space->count;
    *search = (struct search){.strategy = strategy, .space = space, .state = seed, .best = -1};
    search->near_most = space_neighbours_max(space);
    search->ms = xmalloc(sizeof(*search->ms) * count);
    search->rest = xmalloc(sizeof(*search->rest) * count);
    search->place = xmalloc(sizeof(*search->place) * count);
    search->near = xmalloc(sizeof(*search->near) * (size_t)search->near_most);
    search->first = xmalloc(sizeof(*search->first) * (size_t)firsts);
    search->own = xalloc(strategy->own_bytes);
    for (int c = 0; c < space->count; c++) {
        search->ms[c] = NAN;
        search->rest[c] = search->place[c] = c;
    }
    search->rests = space->count;
    for (int i = firsts - 1; i >= 0; i--) // the last one is taken first
        search->first[search->firsts++] = first[i];
    if (search->strategy->open)
        search->strategy->open(search);
    return search;
}

static int propose(struct search *search)
{
    while (search->firsts > 0) {
        const int first = search->first[--search->firsts];
        if (!search_asked(search, first))
            return first;
    }
    const int proposed = search->strategy->next ? search->strategy->next(search) : -1;
    return proposed >= 0 && !search_asked(search, proposed) ? proposed : search_random_rest(search);
}

int search_next(struct search *search)
{
    if (search->rests == 0)
        return -1;
    const int next = propose(search), hole = search->place[next];
    const int moved = search->rest[--search->rests];
    search->rest[hole] = moved;
    search->place[moved] = hole;
    search->place[next] = -1;
    search->asked++;
    return next;
}

void search_tell(struct search *search, int configuration, double ms)
{
    search->ms[configuration] = ms;
    search->told++;
    if (isfinite(ms) && (search->best < 0 || ms < search->ms[search->best]))
        search->best = configuration;
    if (search->strategy->tell)
        search->strategy->tell(search, configuration);
}

int search_best(const struct search *search, double *ms)
{
    if (search->best >= 0 && ms)
        *ms = search->ms[search->best];
    return search->best;
}

void search_close(struct search *search)
{
    if (!search)
        return;
    if (search->strategy->close)
        search->strategy->close(search);
    free(search->own);
    free(search->first);
    free(search->near);
    free(search->place);
    free(search->rest);
    free(search->ms);
    free(search);
}
