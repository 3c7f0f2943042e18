// workers.h: threads that share the parts of one job; the caller works too
#pragma once

#include <stdbool.h>

struct workers;

// Returns the number of CPUs that this process may run on.
int workers_available(void);

// `threads` includes the caller; 0: one per available CPU. May start fewer (log_warn). Never NULL.
struct workers *workers_open(int threads);
void workers_close(struct workers *workers); // accepts NULL
int workers_count(const struct workers *workers);

// Calls job(context, part) once for each part in 0..parts-1, in any order and on any worker, and returns after the last
// call. Only the thread that opened the workers may call this.
void workers_run(struct workers *workers, void (*job)(void *context, int part), void *context, int parts);
