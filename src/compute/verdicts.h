// verdicts.h: the verdicts of probes on programs, stored in the cache directory beside the compiled programs
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { VERDICT_TEXT = 80 };

// The verdicts of one open device, from this run and earlier ones. On any thread.
struct verdicts {
    pthread_mutex_t lock; // guards the members below; also held while `find` runs
    struct known_verdict *known;
    int count;
};

void verdicts_init(struct verdicts *verdicts);
void verdicts_finish(struct verdicts *verdicts);

// How long a verdict is kept. Each one is kept for the rest of the run.
enum verdict_hold {
    VERDICT_UNKNOWN,  // the next run calls `find` again
    VERDICT_DOUBTFUL, // the next run calls `find` again; if it returns the same verdict, that one lasts
    VERDICT_LASTS,    // in the cache directory, for all later runs
};
typedef enum verdict_hold verdict_find(void *context, char verdict[VERDICT_TEXT]);

// Gets the verdict of a key: from memory, else from the cache directory, else from `find`. While `find` runs, other
// threads wait. Returns true if the verdict was not in memory.
bool verdicts_get(struct verdicts *verdicts, const char *key, size_t bytes, verdict_find *find, void *context,
                  char verdict[VERDICT_TEXT]);
