// tuned_file.h: the text files with tuning results: shipped, the system's and the user's
//
// The first line of a file is "monocle tuned 1". Each other line is an entry (tuned_entry.h), empty, or a comment after
// "#". If several lines have the same key, the last one counts. A file with another first line is not used and not
// changed. A damaged line is not used, and stays in the file. All functions are safe on any thread.
#pragma once

#include "compute/tuned_entry.h"

#include <limits.h>
#include <stddef.h>

// Later levels take precedence. TUNED_RUN is this run, in memory only.
enum tuned_level { TUNED_SHIPPED, TUNED_SYSTEM, TUNED_USER, TUNED_RUN, TUNED_LEVELS };
const char *tuned_level_name(enum tuned_level level); // "user"

struct tuned_list {
    struct tuned_entry **entry; // each one is a block of its own
    size_t count, room;
};
bool tuned_list_add(struct tuned_list *list, const struct tuned_entry *entry); // adds a copy; false: out of memory
void tuned_list_free(struct tuned_list *list);

enum { TUNED_TEXT_WHY = 160, TUNED_FILE_BYTES = 16 << 20 };
struct tuned_damage {
    size_t lines, first; // number of damaged lines, and the line number of the first one
    char why[TUNED_WHY]; // of the first one
};
// Adds the entries of a text to the list. False: the first line is wrong, or there is no memory; `why` has the reason.
// Logs nothing.
bool tuned_parse(const char *text, size_t size, struct tuned_list *list, struct tuned_damage *damage,
                 char why[TUNED_TEXT_WHY]);
void tuned_damage_log(const struct tuned_damage *damage, const char *path); // one warning, or nothing
void tuned_print_head(FILE *out); // the first line, and the names of the fields

// Adds the entries of a level to the list. A file may be missing. Logs a warning if a file cannot be read, is not used
// because other users can write it, or has damaged lines.
void tuned_level_read(enum tuned_level level, struct tuned_list *list);

// Returns the path of the user's file, which may be missing; "" if the environment names no home directory.
void tuned_user_path(char path[PATH_MAX]);

struct tuned_counts {
    size_t added, replaced, skipped;
};
// Merges entries into the user's file. An entry replaces the lines with its key. With `newer`, an entry is skipped if
// its date is not later than such a line's. The file changes at once or not at all, and several processes may merge at
// the same time. Returns false on failure (logged); the file is then unchanged.
bool tuned_merge(const struct tuned_list *entries, bool newer, struct tuned_counts *counts);
// Removes the entries of the user's file for which `match` returns true. *removed is their number. Otherwise as
// tuned_merge.
bool tuned_remove(bool (*match)(void *context, const struct tuned_entry *entry), void *context, size_t *removed);
