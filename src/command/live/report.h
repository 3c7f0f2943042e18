// report.h: prints JSON lines or a table on standard output. Main thread, except that errors of any thread become JSON
// lines. Zeroed is closed.
#pragma once

#include "control/status.h"

#include <stdatomic.h>
#include <stdio.h>

struct report {
    bool json;
    FILE *table;         // where the table is printed: stderr if an output file is written to standard output
    atomic_bool broken;  // standard output is broken
    atomic_bool hurried; // drop lines if the reader of standard output stalls: a window must not wait
    unsigned unsaid;     // number of dropped lines; the lock of stdout guards it
};

// With --json: from now on, prints each logged error as an event. The struct must stay in place until report_close.
void report_open(struct report *report, bool json, FILE *table);
void report_close(struct report *report); // logs the number of dropped lines
void report_start(struct report *report, const struct status *status);
void report_reshaped(struct report *report, const struct status *status);
void report_state(struct report *report, const char *event, const struct status *status); // "state" or "progress"
// Returns the fields of the source, the run and the state as an object. NULL if out of memory.
struct json_t *report_json(const struct status *status);
bool report_broken(const struct report *report); // standard output cannot be written
void report_summary(struct report *report, const struct status *status);
