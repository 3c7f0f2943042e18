// kept.c: data kept between runs in the cache directory
#include "compute/kept.h"

#include "base/alloc.h"
#include "base/cache.h"
#include "base/hash.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A file has a head, the key and the data. head.data_hash is of the data; the file name has a hash of the key.
static const char magic[8] = "MONOCL1";
enum { FILE_MAX_BYTES = 64 << 20 };

struct head {
    char magic[8];
    uint64_t key_bytes, data_bytes, data_hash;
};

static struct head head_of(const struct kept *kept, const void *data, size_t bytes)
{
    struct head head = {.key_bytes = kept->key_bytes, .data_bytes = bytes, .data_hash = hash_64(data, bytes)};
    memcpy(head.magic, magic, sizeof(magic));
    return head;
}

void kept_open(struct kept *kept, const char *kind, const void *key, size_t key_bytes)
{
    char path[PATH_MAX];
    const char *unsafe;
    *kept = (struct kept){.key = key, .key_bytes = key_bytes, .directory = key ? cache_open(path, &unsafe) : -1};
    if (key)
        snprintf(kept->name, sizeof(kept->name), "%016llx.%s", (unsigned long long)hash_64(key, key_bytes), kind);
}

void kept_close(struct kept *kept)
{
    if (kept->directory >= 0)
        close(kept->directory);
}

void *kept_read(const struct kept *kept, size_t *bytes)
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

void kept_write(const struct kept *kept, const void *data, size_t bytes)
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

void kept_check(void)
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
