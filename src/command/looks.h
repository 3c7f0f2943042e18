// looks.h: looks: named filter chains, from the program and from the user's file "looks"
#pragma once

#include "filter/chain.h"

enum { LOOK_NAME = 24, LOOKS_MAX = 400, LOOK_TEXTS = 2 };

struct look {
    const char *name;  // at most LOOK_NAME letters, digits, '-' and '_'
    const char *chain; // a text that parses
    char *whole;       // the chain with whole names of files; NULL: it has none
    bool users;        // from the user's file
};

// The user's looks, those of the program that have other names, then the user's looks named "look-1", "look-2", ...,
// so that a saved look moves no other one to another digit key. Zeroed is empty.
struct looks {
    struct look look[LOOKS_MAX];
    int count;
    char *text[LOOK_TEXTS];   // the looks point into these
    char asked[CHAIN_TEXT];   // chain of the last looks_with
    const struct look *found; // ... and its result
};

// Reads all looks. A bad line of the user's file is left out; `warns`: the first ones are logged as warnings with their
// places, further ones as a number. Main thread.
void looks_open(struct looks *looks, bool warns);
void looks_close(struct looks *looks);                                      // accepts a zeroed struct
const struct look *looks_find(const struct looks *looks, const char *name); // NULL: there is none
// Writes one line: there is no look of this name. It has the most similar name, or other advice.
void looks_describe_unknown(const struct looks *looks, const char *name, char why[CHAIN_ERROR]);
// Returns the first look with the look of this chain. NULL: there is none.
const struct look *looks_with(struct looks *looks, const struct chain *chain);
// Returns true if looks_with may return this look.
bool look_has(const struct look *look, const struct chain *chain);

// Parses the arguments of --look and -f, of which one may be NULL. The filters of -f follow those of the look. Names of
// files are relative to `directory`, as in chain_parse_from. False: one is wrong (logged, with advice).
bool look_parse(const char *name, const char *more, const char *directory, struct chain *chain);
// Parses one option likewise.
bool look_parse_part(const char *text, enum chain_part which, const char *directory, struct chain *chain);

// Returns false if the program of a matte is missing: the run must not start, and show what was to be hidden. `error`
// gets one line.
bool look_mattes_ready(const struct chain *chain, char error[CHAIN_ERROR]);

// Saves the chain's look with the first free name of "look-1", "look-2", ... in the user's file. False on failure;
// `why` then gets one line (not logged). `name` gets the name.
bool looks_save(struct looks *looks, const struct chain *chain, char name[LOOK_NAME + 1], char why[CHAIN_ERROR]);
