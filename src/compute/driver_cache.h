// driver_cache.h: the results of drivers on disk: entries with their whole key, and verdicts
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

// An entry, which may not exist yet. Use it on one thread.
struct cache_entry {
    const void *key; // borrowed
    size_t key_bytes;
    int directory; // -1: the directory is unusable, so nothing is read or written
    char name[40]; // file name
};

// Finds the entry of a key. `kind` is the file's extension, such as "clbin". `key` NULL: no entry.
void cache_entry_open(struct cache_entry *kept, const char *kind, const void *key, size_t key_bytes);
void cache_entry_close(struct cache_entry *kept);
// Returns the data, which the caller frees. NULL: there are none, or they are damaged, or they belong to another key
// with the same hash (log_info).
void *cache_entry_read(const struct cache_entry *kept, size_t *bytes);
void cache_entry_write(const struct cache_entry *kept, const void *data,
                       size_t bytes); // a failure is logged (log_info)

// Logs a warning, once in a process, if the cache directory is unsafe: nothing is then read or written.
void cache_entry_check(void);

enum { VERDICT_TEXT = 80 };

// How long a verdict is kept. In struct verdicts, each one is kept for the rest of the run.
enum verdict_hold {
    VERDICT_UNKNOWN,  // the next run calls `find` again
    VERDICT_DOUBTFUL, // the next run calls `find` again; if it returns the same verdict, that one lasts
    VERDICT_LASTS,    // in the cache directory, for all later runs
};
typedef enum verdict_hold verdict_find(void *context, char verdict[VERDICT_TEXT]);

// Gets the verdict of a key: from the cache directory, else from `find`.
void verdict_get(const char *key, size_t bytes, verdict_find *find, void *context, char verdict[VERDICT_TEXT]);

// The verdicts of one open device, from this run and earlier ones. On any thread.
struct verdicts {
    pthread_mutex_t lock; // guards the members below; also held while `find` runs
    struct known_verdict *known;
    int count;
};

void verdicts_init(struct verdicts *verdicts);
void verdicts_finish(struct verdicts *verdicts);

// As verdict_get, but first looks in memory. While `find` runs, other threads wait. Returns true if the verdict was not
// in memory.
bool verdicts_get(struct verdicts *verdicts, const char *key, size_t bytes, verdict_find *find, void *context,
                  char verdict[VERDICT_TEXT]);
