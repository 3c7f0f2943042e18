// tuned.h: results of tunings: entries, the files with them, and the lookup of the fastest choice
#pragma once

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// ---- entries and files ----

// The first line of a file is "monocle tuned 1". Each other line is an entry, empty, or a comment after
// "#". If several lines have the same key, the last one counts. A file with another first line is not used and not
// changed. A damaged line is not used, and stays in the file. All functions are safe on any thread.

// The pass that was tuned, and its device. The texts have no control characters; "" is unknown.
struct tuned_key {
    const char *pass; // "rgba>blur2>buffer"
    const char *size; // size class, as tuned_size writes it: "2M"
    const char *device, *vendor, *type, *architecture, *driver;
    int compute_units; // 0: unknown
};

struct tuned_entry {
    struct tuned_key key;
    const char *choice;    // "window:ROWS=8"
    const char *source;    // hash of the measured kernel text; "": the entry is for any text
    const char *date;      // of the measurement, as tuned_date writes it
    double ms, default_ms; // times of the choice and of the untuned default; 0: unknown
    // Of a user's kernel: an initializer in C, a row for each launch: {"name", times, {global size}, {local size}}.
    // "": unknown, or over TUNED_LAUNCHES bytes.
    const char *launches;
};

// Compares all members of the keys. Returns a number less than 0, 0, or greater than 0.
int tuned_key_compare(const struct tuned_key *a, const struct tuned_key *b);

// ---- values ----

enum { TUNED_SIZE = 8, TUNED_DATE = 24 };
// Writes the size class of a picture: its number of pixels, rounded to a power of two, such as "256K" or "2M".
void tuned_size(int width, int height, char text[TUNED_SIZE]);
// Returns the base-2 logarithm of a size class; -1 if the text is not a size class.
int tuned_size_log2(const char *text);

// Writes the current time in UTC: "2026-11-23T15:29:47Z". Later dates sort after earlier ones.
void tuned_date(char text[TUNED_DATE]);

// ---- lines ----

// A line has these fields in order, separated by tabs; an empty text is written as "-", but the last one is left out.
// Times have a decimal point in every locale.
enum { TUNED_FIELDS = 14, TUNED_WHY = 96, TUNED_FIELD = 32, TUNED_LAUNCHES = 2048 };
const char *tuned_field_name(int field);
// Returns the text of a field. It is in `number` or in the entry.
const char *tuned_field_text(const struct tuned_entry *entry, int field, char number[TUNED_FIELD]);

// Writes the line and a newline. Control characters in texts become spaces.
void tuned_entry_print(const struct tuned_entry *entry, FILE *out);
// Parses a line without its newline, and changes the line; the texts of the entry point into it. False: `why` has the
// reason.
bool tuned_entry_parse(char *line, struct tuned_entry *entry, char why[TUNED_WHY]);

// ---- files ----

// Later levels take precedence. TUNED_RUN is this run, in memory only.
enum tuned_level { TUNED_SHIPPED, TUNED_SYSTEM, TUNED_USER, TUNED_RUN, TUNED_LEVELS };
const char *tuned_level_name(enum tuned_level level); // "user"

struct tuned_list {
    struct tuned_entry **entry; // each one is a block of its own
    size_t count;
};
void tuned_list_add(struct tuned_list *list, const struct tuned_entry *entry); // adds a copy
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
// Merges entries into the user's file. An entry replaces the lines with its key (of a user's kernel: and its source).
// With `newer`, an entry is skipped if its date is not later than such a line's. The file changes at once or not at
// all, and several processes may merge at the same time. Returns false on failure (logged); the file is then unchanged.
bool tuned_merge(const struct tuned_list *entries, bool newer, struct tuned_counts *counts);
// Adds an entry to the user's file, as tuned_merge.
bool tuned_store(const struct tuned_entry *entry);
// Removes the entries of the user's file for which `match` returns true. *removed is their number. Otherwise as
// tuned_merge.
bool tuned_remove(bool (*match)(void *context, const struct tuned_entry *entry), void *context, size_t *removed);

// ---- lookup ----

// The entries of all levels. On any thread.
struct tuned {
    pthread_mutex_t lock; // guards the members below
    bool loaded;
    struct tuned_list list[TUNED_LEVELS];
};

void tuned_init(struct tuned *tuned); // reads no file yet
void tuned_finish(struct tuned *tuned);

// How an entry fits a key, from best to worst. All have the pass of the key.
enum tuned_match {
    TUNED_EXACT,        // same device and driver, same size
    TUNED_OTHER_DRIVER, // same device, same size
    TUNED_OTHER_SIZE,   // same device
    TUNED_ARCHITECTURE, // same architecture
    TUNED_VENDOR_TYPE,  // same vendor and type of device
    TUNED_NONE,
};
const char *tuned_match_name(enum tuned_match match); // "same device, other size"

// An entry for a key.
struct tuned_found {
    const struct tuned_entry *entry; // valid until tuned_finish
    enum tuned_level level;
    enum tuned_match match;
    bool stale;    // same device, but the driver has changed since the measurement
    uint64_t rank; // for tuned_next
};

// Finds the entries for a key, one per call, from the best to the worst. The first call, with `found` zeroed, finds the
// best. Returns false if no entry is left. The caller skips entries that it cannot use: the entry is for another kernel
// text (entry.source), or its choice does not fit. Among entries with the same match, the nearest size comes first,
// then the driver of the key, then the latest level and line. The first call for `tuned` reads the files.
bool tuned_next(struct tuned *tuned, const struct tuned_key *key, struct tuned_found *found);

// Adds an entry to the level TUNED_RUN.
void tuned_add(struct tuned *tuned, const struct tuned_entry *entry);
