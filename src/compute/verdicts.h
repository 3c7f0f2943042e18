// verdicts.h: the verdicts of probes on programs, kept beside the compiled programs
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { VERDICT_TEXT = 80 };

// The verdicts of one open device, from this run and earlier ones; on any thread.
struct verdicts {
    pthread_mutex_t lock; // over the members below; also held while a verdict is found
    struct known_verdict *known;
    int count;
};

void verdicts_init(struct verdicts *verdicts);
void verdicts_finish(struct verdicts *verdicts);

// Gets the verdict of a key: from memory, else from the cache directory, else from `find`. While `find` runs, other
// threads wait for the lock. If `find` returns true and the directory is usable, later runs read the verdict from
// there. Returns true if the verdict was not in memory.
bool verdicts_get(struct verdicts *verdicts, const char *key, size_t bytes,
                  bool (*find)(void *context, char verdict[VERDICT_TEXT]), void *context, char verdict[VERDICT_TEXT]);
