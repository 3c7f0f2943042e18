// climb.c: iterated local search: climbs from neighbour to faster neighbour, and leaps from a local optimum
#include "tune/strategy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { START = 8, LEAPS_MAX = 6 };

struct climb {
    bool started;
    int at;           // the climb's present configuration
    int home;         // the local optimum that leaps begin at
    int leap;         // the proposed start of the next climb; -1: none
    int leaps;        // number of leaps from `home`, all without a better optimum
    int *queue;       // neighbours of `at` to try, in this order
    int queued, next; // their number, and the index of the next one
};

static bool better(const struct search *search, int a, int b)
{
    return isfinite(search->ms[a]) && !(search->ms[a] >= search->ms[b]);
}

// Neighbours that differ only in the launch come first: they need no build.
static void fill_queue(struct search *search)
{
    struct climb *climb = search->own;
    const int count = space_neighbours(search->space, climb->at, SPACE_ANY_VALUE, search->near, search->near_most);
    search_shuffle(search, search->near, count);
    climb->queued = climb->next = 0;
    for (int build = 0; build < 2; build++) {
        for (int i = 0; i < count; i++) {
            const int near = search->near[i];
            if (space_same_build(search->space, near, climb->at) == !build)
                climb->queue[climb->queued++] = near;
        }
    }
}

static void go(struct search *search, int configuration)
{
    struct climb *climb = search->own;
    climb->at = configuration;
    climb->started = true;
    fill_queue(search);
}

// Called at a local optimum. The next climb starts near the better of this optimum and `home`. After LEAPS_MAX leaps
// without a better optimum, it starts at a random configuration.
static int leap(struct search *search)
{
    struct climb *climb = search->own;
    if (climb->home < 0 || better(search, climb->at, climb->home)) {
        climb->home = climb->at;
        climb->leaps = 0;
    }
    if (climb->leaps++ >= LEAPS_MAX) {
        climb->home = -1;
        return climb->leap = search_random_rest(search);
    }
    return climb->leap = search_random_leap(search, climb->home, 2 + search_random_below(search, 2));
}

static int next_ils(struct search *search)
{
    struct climb *climb = search->own;
    if (!climb->started || search->asked < START)
        return -1;
    while (climb->next < climb->queued) {
        const int near = climb->queue[climb->next++];
        if (!search_asked(search, near))
            return near;
        if (better(search, near, climb->at))
            go(search, near);
    }
    return leap(search);
}

static void tell_ils(struct search *search, int configuration)
{
    struct climb *climb = search->own;
    const bool landed = configuration == climb->leap && isfinite(search->ms[configuration]);
    if (configuration == climb->leap)
        climb->leap = -1;
    if (!climb->started || landed || better(search, configuration, climb->at))
        go(search, configuration);
}

static bool open_ils(struct search *search)
{
    struct climb *climb = search->own;
    climb->home = climb->leap = -1;
    climb->queue = malloc(sizeof(*climb->queue) * ((size_t)search->near_most + 1));
    return climb->queue != NULL;
}

static void close_ils(struct search *search)
{
    struct climb *climb = search->own;
    free(climb->queue);
}

const struct strategy ils_strategy = {
    .name = "ils",
    .own_bytes = sizeof(struct climb),
    .open = open_ils,
    .next = next_ils,
    .tell = tell_ils,
    .close = close_ils,
};
