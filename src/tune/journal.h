// journal.h: the log of the configurations that a run has tried, with which --resume continues the run
//
// Each subject has a file in the cache directory. A line is a JSON object with a result. A line is written at once, so
// a run that is killed loses only the configuration that it is measuring. Only one process at a time may use a file.
// journal_open removes the files of other subjects that are older than 30 days.
#pragma once

#include "tune/tuner.h"

enum { JOURNAL_NAME = 48 };

// Use it on one thread.
struct journal;

// Opens and locks the log of a subject, which must outlive it. With `resume`, reads the results that the file has for
// the same program texts; damaged lines are skipped (log_warn). Otherwise empties the file. NULL: the subject has no
// key, or the log cannot be used (log_warn with `resume`, otherwise log_info).
struct journal *journal_open(const struct subject *subject, bool resume);
void journal_close(struct journal *journal); // accepts NULL
// The file's name in the cache directory.
void journal_name(const struct journal *journal, char name[JOURNAL_NAME]);
void journal_remove(const char *name); // removes a file that is not open

// Returns the number of results that journal_open has read, and sets *trials to them, in the order of the file. Sets
// *spent_s to the time of their search. 0 if `journal` is NULL.
int journal_trials(const struct journal *journal, const struct tuner_trial **trials, double *spent_s);
// Adds a result. `spent_s`: time since the search began. On failure, logs a warning and adds no more results. Does
// nothing if `journal` is NULL.
void journal_add(struct journal *journal, const struct tuner_trial *trial, double spent_s);

enum journal_line { JOURNAL_DAMAGED, JOURNAL_OTHER, JOURNAL_TRIAL }; // OTHER: of another program text or space
// Reads a line without its newline. Logs nothing.
enum journal_line journal_parse(const struct subject *subject, const char *line, size_t size, struct tuner_trial *trial,
                                double *spent_s);
