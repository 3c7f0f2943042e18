// options.h: command-line options as tables; parsing, help, suggestions and completion all come from the rows
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum option_type {
    OPTION_FLAG,   // bool; takes no value
    OPTION_TEXT,   // const char *, borrowed from argv
    OPTION_INT,    // int within min..max
    OPTION_NUMBER, // double within min..max, locale-independent
    OPTION_SIZE,   // struct option_size, "WIDTHxHEIGHT"
    OPTION_CHOICE, // int: the index of the word in `choices`
    OPTION_TEXTS,  // struct option_texts; may be given several times
};

enum { OPTION_TEXTS_MAX = 64 };

struct option_texts {
    const char *text[OPTION_TEXTS_MAX]; // borrowed from argv, in the order given
    int count;
};

struct option_size {
    int width, height; // 0 when not given
};

struct option {
    const char *name; // long name without dashes; NULL ends a table
    char letter;      // short name, 0 for none
    enum option_type type;
    const char *value;       // placeholder in the help: "N", "FILE"; NULL for a flag
    const char *choices;     // OPTION_CHOICE: "cpu|opencl|zerocopy"; OPTION_TEXT: words it knows beside others
    const char *help;        // one line
    const char *environment; // variable that sets the option where the command line doesn't; NULL for none
    size_t offset;           // of the member in the options struct
    double min, max;         // OPTION_INT, OPTION_NUMBER; both 0 for no limit
    const char *complete;    // what a shell offers: "file", "directory", "filter", ...; NULL for choices or nothing
    const char *excludes;    // "fullscreen|vsync": options that contradict this one; NULL for none
};

struct option_list {
    const char *command;           // "live"
    const char *usage;             // "[SOURCE] [options]"
    const char *summary;           // one line
    const char *const *examples;   // lines "command  what it does", NULL-ended
    const char *const *details;    // paragraphs, or table rows "term\tmeaning", NULL-ended; NULL for none
    const char *const *exits;      // rows "code\tmeaning" of the exit status table, NULL-ended; NULL for none
    const struct option *options;  // ended by a row without a name
    void (*print_more)(FILE *out); // prints further sections after the options; NULL: none
    const char *complete;          // what a shell offers for operands: "source", "filter", ...; NULL for nothing
};

enum option_result {
    OPTION_OK,
    OPTION_HELP,  // --help was given
    OPTION_ERROR, // logged with the nearest right spelling
};

// Parses argv[1..argc-1] (argv[0] is the command's name) into `values`, which holds the defaults. "--name value",
// "--name=value", "-n value", "-nvalue", "-ab" for two flags and "--" work as in getopt_long, but names are never
// abbreviated, and "-n=value" is refused; options and operands may mix. An option given twice must have the same value
// both times, unless it is one of OPTION_TEXTS. Operands are moved to operands[0..*operand_count-1] (room for argc
// pointers, borrowed from argv; may be argv + 1 itself).
enum option_result options_parse(const struct option_list *list, int argc, char **argv, void *values,
                                 const char **operands, int *operand_count);

void options_print_help(const struct option_list *list, FILE *out);
// One row of such a help: `left` in a column `width` wide, `right` wrapped beside it.
void options_print_row(FILE *out, const char *left, const char *right, int width);
// The row's help, range and environment variable: "pause between frames (1 to 100) [MONOCLE_PAUSE]".
void options_describe(const struct option *option, char *text, size_t size);

// The most similar entry of `words` (NULL-ended), or NULL if none is similar enough to `word`.
const char *options_nearest(const char *word, const char *const *words);

// "640x480"; both 1..1000000.
bool options_parse_size(const char *text, struct option_size *size);
