// verdicts.c: looks up the verdicts of probes in memory and in the cache directory
#include "compute/verdicts.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "compute/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct known_verdict {
    char hash[HASH_TEXT]; // of the key
    char verdict[VERDICT_TEXT];
};

void verdicts_init(struct verdicts *verdicts)
{
    *verdicts = (struct verdicts){.count = 0};
    pthread_mutex_init(&verdicts->lock, NULL);
}

void verdicts_finish(struct verdicts *verdicts)
{
    pthread_mutex_destroy(&verdicts->lock);
    free(verdicts->known);
}

// Stores a doubtful verdict with the prefix `once`, until the next run finds the same one.
static void find_out(const char *key, size_t bytes, verdict_find *find, void *context, char verdict[VERDICT_TEXT])
{
    static const char once[] = "once: ";
    struct kept kept;
    size_t length = 0;
    char stored[VERDICT_TEXT] = "", doubtful[sizeof(once) + VERDICT_TEXT];
    kept_open(&kept, "verdict", key, bytes);
    char *text = kept_read(&kept, &length);
    if (text && length < VERDICT_TEXT)
        memcpy(stored, text, length);
    free(text);
    if (stored[0] && strncmp(stored, once, strlen(once)) != 0) {
        memcpy(verdict, stored, VERDICT_TEXT);
    } else {
        const enum verdict_hold hold = find(context, verdict);
        snprintf(doubtful, sizeof(doubtful), "%s%s", once, verdict);
        const bool lasts = hold == VERDICT_LASTS || (hold == VERDICT_DOUBTFUL && strcmp(stored, doubtful) == 0);
        if (hold != VERDICT_UNKNOWN)
            kept_write(&kept, lasts ? verdict : doubtful, strlen(lasts ? verdict : doubtful));
    }
    kept_close(&kept);
}

static void remember(struct verdicts *verdicts, const char *hash, const char *verdict)
{
    verdicts->known = xgrow(verdicts->known, (size_t)verdicts->count, sizeof(*verdicts->known));
    struct known_verdict *added = &verdicts->known[verdicts->count++];
    memcpy(added->hash, hash, HASH_TEXT);
    snprintf(added->verdict, sizeof(added->verdict), "%s", verdict);
}

bool verdicts_get(struct verdicts *verdicts, const char *key, size_t bytes, verdict_find *find, void *context,
                  char verdict[VERDICT_TEXT])
{
    char hash[HASH_TEXT];
    int i = 0;
    hash_128_text(key, bytes, hash);
    pthread_mutex_lock(&verdicts->lock);
    while (i < verdicts->count && strcmp(verdicts->known[i].hash, hash) != 0)
        i++;
    const bool first = i == verdicts->count;
    if (first) {
        find_out(key, bytes, find, context, verdict);
        remember(verdicts, hash, verdict);
    } else {
        memcpy(verdict, verdicts->known[i].verdict, VERDICT_TEXT);
    }
    pthread_mutex_unlock(&verdicts->lock);
    return first;
}
