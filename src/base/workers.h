// workers.h: threads that share out the parts of one job; the caller works too
#pragma once

#include <stdbool.h>

struct workers;

// CPUs that this process may run on.
int workers_available(void);

// `threads` counts the caller; 0 means one per available CPU. NULL on failure (logged).
struct workers *workers_open(int threads);
void workers_close(struct workers *workers); // takes NULL
int workers_count(const struct workers *workers);

// Calls job(context, part) once for every part in 0..parts-1, in any order and on any worker, and returns when all have
// returned. One job at a time: only the thread that opened the workers may call this.
void workers_run(struct workers *workers, void (*job)(void *context, int part), void *context, int parts);
