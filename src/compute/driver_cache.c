// driver_cache.c: the results of drivers on disk: entries with their whole key, and verdicts
#include "compute/driver_cache.h"

#include "base/alloc.h"
#include "base/cache.h"
#include "base/hash.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- entries ----

// A file has a head, the key and the data. head.data_hash is of the data; the file name has a hash of the key.
static const char magic[8] = "MONOCL1";
enum { FILE_MAX_BYTES = 64 << 20 };

struct head {
    char magic[8];
    uint64_t key_bytes, data_bytes, data_hash;
};

static struct head head_of(const struct cache_entry *kept, const void *data, size_t bytes)
{
    struct head head = {.key_bytes = kept->key_bytes, .data_bytes = bytes, .data_hash = hash_64(data, bytes)};
    memcpy(head.magic, magic, sizeof(magic));
    return head;
}

void cache_entry_open(struct cache_entry *kept, const char *kind, const void *key, size_t key_bytes)
{
    char path[PATH_MAX];
    const char *unsafe;
    *kept = (struct cache_entry){.key = key, .key_bytes = key_bytes, .directory = key ? cache_open(path, &unsafe) : -1};
    if (key)
        snprintf(kept->name, sizeof(kept->name), "%016llx.%s", (unsigned long long)hash_64(key, key_bytes), kind);
}

void cache_entry_close(struct cache_entry *kept)
{
    if (kept->directory >= 0)
        close(kept->directory);
}

void *cache_entry_read(const struct cache_entry *kept, size_t *bytes)
{
    size_t size;
    const size_t before = sizeof(struct head) + kept->key_bytes;
    char *file = kept->directory >= 0 ? cache_read(kept->directory, kept->name, FILE_MAX_BYTES, &size) : NULL;
    if (!file) {
        if (kept->directory >= 0 && errno != ENOENT)
            log_info("cannot read %s in the cache: %m; making it again", kept->name);
        return NULL;
    }
    *bytes = size > before ? size - before : 0;
    const struct head head = head_of(kept, *bytes > 0 ? file + before : file, *bytes);
    if (*bytes > 0 && memcmp(file, &head, sizeof(head)) == 0 &&
        memcmp(file + sizeof(head), kept->key, kept->key_bytes) == 0)
        return memmove(file, file + before, *bytes);
    log_info("%s in the cache is damaged or of another version; making it again", kept->name);
    free(file);
    return NULL;
}

void cache_entry_write(const struct cache_entry *kept, const void *data, size_t bytes)
{
    const size_t before = sizeof(struct head) + kept->key_bytes;
    const struct head head = head_of(kept, data, bytes);
    if (kept->directory < 0)
        return;
    char *file = xmalloc(before + bytes);
    memcpy(file, &head, sizeof(head));
    memcpy(file + sizeof(head), kept->key, kept->key_bytes);
    memcpy(file + before, data, bytes);
    if (!cache_write(kept->directory, kept->name, file, before + bytes))
        log_info("cannot store %s in the cache: %m", kept->name);
    free(file);
}

void cache_entry_check(void)
{
    char path[PATH_MAX], text[PATH_MAX + 160];
    const char *unsafe;
    const int directory = cache_open(path, &unsafe);
    if (directory >= 0)
        close(directory);
    else if (unsafe) {
        snprintf(text, sizeof(text),
                 "cannot store compiled kernels: %s %s; set XDG_CACHE_HOME to a directory of your own", path, unsafe);
        log_warn_once(text);
    }
}

// ---- verdicts ----

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
void verdict_get(const char *key, size_t bytes, verdict_find *find, void *context, char verdict[VERDICT_TEXT])
{
    static const char once[] = "once: ";
    struct cache_entry kept;
    size_t length = 0;
    char stored[sizeof(once) + VERDICT_TEXT] = "", doubtful[sizeof(stored)];
    cache_entry_open(&kept, "verdict", key, bytes);
    char *text = cache_entry_read(&kept, &length);
    if (text && length < sizeof(stored))
        memcpy(stored, text, length);
    free(text);
    if (stored[0] && strncmp(stored, once, strlen(once)) != 0) {
        snprintf(verdict, VERDICT_TEXT, "%.*s", VERDICT_TEXT - 1, stored);
    } else {
        const enum verdict_hold hold = find(context, verdict);
        snprintf(doubtful, sizeof(doubtful), "%s%s", once, verdict);
        const bool lasts = hold == VERDICT_LASTS || (hold == VERDICT_DOUBTFUL && strcmp(stored, doubtful) == 0);
        if (hold != VERDICT_UNKNOWN) {
            const char *stored_text = lasts ? verdict : doubtful;
            cache_entry_write(&kept, stored_text, strlen(stored_text));
        }
    }
    cache_entry_close(&kept);
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
        verdict_get(key, bytes, find, context, verdict);
        remember(verdicts, hash, verdict);
    } else {
        memcpy(verdict, verdicts->known[i].verdict, VERDICT_TEXT);
    }
    pthread_mutex_unlock(&verdicts->lock);
    return first;
}
