// verdicts.c: looks up the verdicts of probes in memory and in the cache directory
#include "compute/verdicts.h"

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

static void find_out(const char *key, size_t bytes, bool (*find)(void *context, char verdict[VERDICT_TEXT]),
                     void *context, char verdict[VERDICT_TEXT])
{
    struct kept kept;
    size_t length;
    kept_open(&kept, "verdict", key, bytes);
    char *text = kept_read(&kept, &length);
    if (text && length < VERDICT_TEXT)
        snprintf(verdict, VERDICT_TEXT, "%.*s", (int)length, text);
    else if (find(context, verdict))
        kept_write(&kept, verdict, strlen(verdict));
    free(text);
    kept_close(&kept);
}

static void remember(struct verdicts *verdicts, const char *hash, const char *verdict)
{
    struct known_verdict *grown = realloc(verdicts->known, (size_t)(verdicts->count + 1) * sizeof(*grown));
    if (!grown)
        return;
    verdicts->known = grown;
    struct known_verdict *added = &grown[verdicts->count++];
    memcpy(added->hash, hash, HASH_TEXT);
    snprintf(added->verdict, sizeof(added->verdict), "%s", verdict);
}

bool verdicts_get(struct verdicts *verdicts, const char *key, size_t bytes,
                  bool (*find)(void *context, char verdict[VERDICT_TEXT]), void *context, char verdict[VERDICT_TEXT])
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
