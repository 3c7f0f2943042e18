// tuned_entry.h: a result of a tuning, and its line in a text file
#pragma once

#include <stdbool.h>
#include <stdio.h>

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
};

// Compares all members of the keys. Returns less than, equal to or more than 0.
int tuned_key_compare(const struct tuned_key *a, const struct tuned_key *b);

// Returns a copy with copies of its texts, in one block that the caller frees. NULL if there is no memory.
struct tuned_entry *tuned_entry_copy(const struct tuned_entry *entry);

// ---- values ----

enum { TUNED_SIZE = 8, TUNED_DATE = 24 };
// Writes the size class of a picture: its number of pixels, rounded to a power of two, such as "256K" or "2M".
void tuned_size(int width, int height, char text[TUNED_SIZE]);
// Returns the base-2 logarithm of a size class; -1 if the text is not a size class.
int tuned_size_log2(const char *text);

// Writes the current time in UTC: "2026-11-23T15:29:47Z". Later dates sort after earlier ones.
void tuned_date(char text[TUNED_DATE]);

// ---- lines ----

// A line has these fields in order, separated by tabs; an empty text is written as "-". Times have a decimal point in
// every locale.
enum { TUNED_FIELDS = 13, TUNED_WHY = 96, TUNED_FIELD = 32 };
const char *tuned_field_name(int field);
// Returns the text of a field. It is in `number` or in the entry.
const char *tuned_field_text(const struct tuned_entry *entry, int field, char number[TUNED_FIELD]);

// Writes the line and a newline. Control characters in texts become spaces.
void tuned_entry_print(const struct tuned_entry *entry, FILE *out);
// Parses a line without its newline, and changes the line; the texts of the entry point into it. False: `why` has the
// reason.
bool tuned_entry_parse(char *line, struct tuned_entry *entry, char why[TUNED_WHY]);
