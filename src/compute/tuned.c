// tuned.c: looks up the tuning results: the fastest choices for a pass on a device
#include "compute/tuned.h"

#include <stdlib.h>
#include <string.h>

void tuned_init(struct tuned *tuned)
{
    *tuned = (struct tuned){.loaded = false};
    pthread_mutex_init(&tuned->lock, NULL);
}

void tuned_finish(struct tuned *tuned)
{
    for (int i = 0; i < TUNED_LEVELS; i++)
        tuned_list_free(&tuned->list[i]);
    pthread_mutex_destroy(&tuned->lock);
}

const char *tuned_match_name(enum tuned_match match)
{
    static const char *const names[] = {
        [TUNED_EXACT] = "same device and size",         [TUNED_OTHER_DRIVER] = "same device, other driver",
        [TUNED_OTHER_SIZE] = "same device, other size", [TUNED_ARCHITECTURE] = "same architecture",
        [TUNED_VENDOR_TYPE] = "same vendor and type",   [TUNED_NONE] = "default",
    };
    return names[match];
}

static bool same(const char *a, const char *b)
{
    return a[0] && strcmp(a, b) == 0;
}

static enum tuned_match match_of(const struct tuned_key *entry, const struct tuned_key *key)
{
    if (!same(entry->pass, key->pass))
        return TUNED_NONE;
    const bool type = same(entry->vendor, key->vendor) && same(entry->type, key->type);
    if (type && same(entry->device, key->device) && entry->compute_units == key->compute_units) {
        if (!same(entry->size, key->size))
            return TUNED_OTHER_SIZE;
        return strcmp(entry->driver, key->driver) == 0 ? TUNED_EXACT : TUNED_OTHER_DRIVER;
    }
    if (same(entry->architecture, key->architecture))
        return TUNED_ARCHITECTURE;
    return type ? TUNED_VENDOR_TYPE : TUNED_NONE;
}

// Returns the rank of an entry for a key; a lower one is better; at least 1. `index`: of the entry in its level.
static uint64_t rank_of(const struct tuned_key *entry, const struct tuned_key *key, enum tuned_match match,
                        enum tuned_level level, size_t index)
{
    const int apart = abs(tuned_size_log2(entry->size) - tuned_size_log2(key->size));
    const bool driver = strcmp(entry->driver, key->driver) != 0;
    return (uint64_t)match << 56 | (uint64_t)apart << 48 | (uint64_t)driver << 40 |
           (uint64_t)(TUNED_LEVELS - level) << 32 | (UINT32_MAX - (uint32_t)index);
}

// Replaces *best by the best entry of a level, if that is better. Considers only entries with a rank above `after`.
static void find_in_level(const struct tuned *tuned, enum tuned_level level, const struct tuned_key *key,
                          uint64_t after, struct tuned_found *best)
{
    const struct tuned_list *list = &tuned->list[level];
    for (size_t i = 0; i < list->count; i++) {
        const struct tuned_key *entry = &list->entry[i]->key;
        const enum tuned_match match = match_of(entry, key);
        if (match == TUNED_NONE)
            continue;
        const uint64_t rank = rank_of(entry, key, match, level, i);
        if (rank <= after || (best->entry && rank >= best->rank))
            continue;
        const bool stale = match <= TUNED_OTHER_SIZE && strcmp(entry->driver, key->driver) != 0;
        *best = (struct tuned_found){list->entry[i], level, match, stale, rank};
    }
}

bool tuned_next(struct tuned *tuned, const struct tuned_key *key, struct tuned_found *found)
{
    struct tuned_found best = {.entry = NULL};
    pthread_mutex_lock(&tuned->lock);
    for (int i = 0; !tuned->loaded && i < TUNED_RUN; i++)
        tuned_level_read((enum tuned_level)i, &tuned->list[i]);
    tuned->loaded = true;
    for (int i = 0; i < TUNED_LEVELS; i++)
        find_in_level(tuned, (enum tuned_level)i, key, found->rank, &best);
    pthread_mutex_unlock(&tuned->lock);
    if (best.entry)
        *found = best;
    return best.entry != NULL;
}

void tuned_add(struct tuned *tuned, const struct tuned_entry *entry)
{
    pthread_mutex_lock(&tuned->lock);
    tuned_list_add(&tuned->list[TUNED_RUN], entry);
    pthread_mutex_unlock(&tuned->lock);
}
