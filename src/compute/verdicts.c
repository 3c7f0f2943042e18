// verdicts.c: the verdicts of probes on programs, kept beside the compiled programs
#include "compute/verdicts.h"

#include "base/cache.h"
#include "base/hash.h"
#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENTRY_MAX_BYTES = 4 << 20 };

struct known {
    char hash[HASH_TEXT]; // of the key
    char verdict[VERDICT_TEXT];
};

struct verdicts {
    pthread_mutex_t lock; // over all members; also held while a verdict is found
    struct known *known;
    int count;
};

struct verdicts *verdicts_open(void)
{
    struct verdicts *verdicts = calloc(1, sizeof(*verdicts));
    if (verdicts)
        pthread_mutex_init(&verdicts->lock, NULL);
    else
        log_error("cannot probe variants: out of memory");
    return verdicts;
}

void verdicts_close(struct verdicts *verdicts)
{
    if (!verdicts)
        return;
    pthread_mutex_destroy(&verdicts->lock);
    free(verdicts->known);
    free(verdicts);
}

// Reads an entry: the verdict, a newline and the key.
static bool entry_read(int directory, const char *name, const char *key, size_t bytes, char verdict[VERDICT_TEXT])
{
    size_t size;
    char *entry = cache_read(directory, name, ENTRY_MAX_BYTES, &size);
    if (!entry && errno != ENOENT)
        log_info("cannot read the verdict %s: %m; probing again", name);
    const char *end = entry ? memchr(entry, '\n', size) : NULL;
    const size_t length = end ? (size_t)(end - entry) : 0;
    const bool right = end && length < VERDICT_TEXT && size == length + 1 + bytes && memcmp(end + 1, key, bytes) == 0;
    if (right)
        snprintf(verdict, VERDICT_TEXT, "%.*s", (int)length, entry);
    free(entry);
    return right;
}

static void entry_write(int directory, const char *name, const char *key, size_t bytes, const char *verdict)
{
    const size_t length = strlen(verdict);
    char *entry = malloc(length + 1 + bytes);
    if (!entry)
        return;
    memcpy(entry, verdict, length);
    entry[length] = '\n';
    memcpy(entry + length + 1, key, bytes);
    if (!cache_write(directory, name, entry, length + 1 + bytes))
        log_info("cannot store the verdict %s: %m", name);
    free(entry);
}

static void find_out(const char *key, size_t bytes, bool (*find)(void *context, char verdict[VERDICT_TEXT]),
                     void *context, char verdict[VERDICT_TEXT])
{
    char path[PATH_MAX], name[32];
    const char *unsafe;
    const int directory = cache_open(path, &unsafe);
    snprintf(name, sizeof(name), "%016llx.verdict", (unsigned long long)hash_64(key, bytes));
    if (directory >= 0 && entry_read(directory, name, key, bytes, verdict)) {
        close(directory);
        return;
    }
    const bool keep = find(context, verdict);
    if (directory < 0)
        return;
    if (keep)
        entry_write(directory, name, key, bytes, verdict);
    close(directory);
}

static const struct known *look_up(const struct verdicts *verdicts, const char *hash)
{
    for (int i = 0; i < verdicts->count; i++) {
        if (strcmp(verdicts->known[i].hash, hash) == 0)
            return &verdicts->known[i];
    }
    return NULL;
}

static void remember(struct verdicts *verdicts, const char *hash, const char *verdict)
{
    struct known *grown = realloc(verdicts->known, (size_t)(verdicts->count + 1) * sizeof(*grown));
    if (!grown)
        return;
    verdicts->known = grown;
    struct known *added = &grown[verdicts->count++];
    memcpy(added->hash, hash, HASH_TEXT);
    snprintf(added->verdict, sizeof(added->verdict), "%s", verdict);
}

bool verdicts_get(struct verdicts *verdicts, const char *key, size_t bytes,
                  bool (*find)(void *context, char verdict[VERDICT_TEXT]), void *context, char verdict[VERDICT_TEXT])
{
    char hash[HASH_TEXT];
    hash_128_text(key, bytes, hash);
    pthread_mutex_lock(&verdicts->lock);
    const struct known *known = look_up(verdicts, hash);
    const bool first = !known;
    if (known) {
        memcpy(verdict, known->verdict, VERDICT_TEXT);
    } else {
        find_out(key, bytes, find, context, verdict);
        remember(verdicts, hash, verdict);
    }
    pthread_mutex_unlock(&verdicts->lock);
    return first;
}
