// options.h: command-line options as tables; parsing, help, suggestions and completion come from the rows
#pragma once

#include <limits.h>
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

enum { OPTION_TEXTS_MAX = 64, OPTION_ROWS = 64 };

struct option_texts {
    const char *text[OPTION_TEXTS_MAX]; // borrowed from argv, in the order given
    int count;
};

// The user's configuration file, as it was read.
struct option_file {
    char *text;               // the values point into it,
    char *path[OPTION_ROWS];  // or, for names of files, are these
    char directory[PATH_MAX]; // of the file
    int line[OPTION_ROWS];    // of each option whose value is from the file; 0: of the others
};
void options_file_free(struct option_file *file);

struct option_size {
    int width, height; // 0 when not given
};

struct option {
    const char *name; // long name without dashes; NULL ends a table
    char letter;      // short name, 0 for none
    enum option_type type;
    const char *value;       // placeholder in the help: "N", "FILE"; NULL for a flag
    const char *choices;     // OPTION_CHOICE: "cpu|opencl|zerocopy"; OPTION_TEXT: some of its values
    const char *help;        // one line
    const char *environment; // OPTION_TEXT: variable with the value if the command line has none; NULL: none
    size_t offset;           // of the member in the options struct
    double min, max;         // OPTION_INT, OPTION_NUMBER: the legal range, with max > 0
    const char *complete;    // for completion: "file", "directory", "filter", ...; NULL: `choices` or nothing
    const char *excludes;    // "fullscreen|vsync": options that contradict this one; NULL: none
    bool joins;              // those contradict it only between file and command line
};

// A command: its options, and its help.
struct command {
    const char *name;              // "live"
    const char *usage;             // "[SOURCE] [options]"
    const char *summary;           // one line
    const char *const *examples;   // lines "command  what it does", NULL-ended
    const char *const *details;    // paragraphs, or table rows "term\tmeaning", NULL-ended; NULL for none
    const char *const *exits;      // rows "code\tmeaning" of the exit status table, NULL-ended; NULL for none
    const struct option *options;  // ended by a row without a name
    const char *often;             // "filter|record": the help begins with these options; NULL: it does not
    void (*print_more)(FILE *out); // prints further sections after the options; NULL: none
    const char *actions;           // "list|show": the first operand is one of these words; NULL: it is not
    const char *complete;          // for completion of the other operands: "source", "filter", ...; NULL: nothing
    // File of the user's configuration (base/cache.h) with lines "option=value" or "option". Its options are used if
    // the command line has neither them nor an option that contradicts them, nor the option "no-config". Names of
    // files (of OPTION_TEXT, `complete` is "file" or "directory") are relative to its directory. NULL: none
    const char *file;
    size_t file_offset;                // of a struct option_file in the options struct
    int (*run)(int argc, char **argv); // argv[0] is the command's name; returns the exit code
    bool hidden;                       // not listed in the help
};

enum option_result {
    OPTION_OK,
    OPTION_HELP,  // --help was given
    OPTION_ERROR, // logged, with the most similar correct spelling
};

// Parses argv[1..argc-1] (argv[0] is the command's name) into `values`, which must contain the defaults. Accepts
// "--name value", "--name=value", "-n value", "-nvalue", "-ab" for two flags and "--", as getopt_long does, but no
// abbreviated names and no "-n=value". A negative number is an operand. Options and operands may alternate. An option
// other than OPTION_TEXTS may be repeated only with the same value. Writes the operands to `operands`, which has room
// for argc pointers and may be argv + 1.
enum option_result options_parse(const struct command *command, int argc, char **argv, void *values,
                                 const char **operands, int *operand_count);

// Writes the place of an option's value for messages: "FILE:LINE: ", or "" if it is not from the command's file.
enum { OPTION_PLACE = 4096 + 32 };
void options_place(const struct command *command, const struct option_file *file, const char *name,
                   char place[OPTION_PLACE]);
// Returns the directory of the command's file if an option's value is from it, else NULL.
const char *options_directory(const struct command *command, const struct option_file *file, const char *name);

// Takes options from a text as of command.file. Changes the text, into which the values point. `file` is for
// messages. False: a line is wrong (logged with its number).
bool options_take_text(const struct command *command, const char *file, char *text, void *values);

void options_print_help(const struct command *command, FILE *out);
// Prints a row as in the help: `left` in a column of this width, `right` wrapped beside it.
void options_print_row(FILE *out, const char *left, const char *right, int width);
// Prints text in lines of at most `columns` bytes, cut at spaces. The first line begins at `column`; the others are
// indented.
void options_print_text(FILE *out, const char *text, int column, int indent, int columns);
// Writes the row's help, range and environment variable: "pause between frames (1 to 100)".
void options_describe(const struct option *option, char *text, size_t size);

// Returns the most similar entry of `words` (NULL-ended), or NULL if none is similar enough to `word`.
const char *options_nearest(const char *word, const char *const *words);
// Finds the file of the path's directory with the most similar name. False: there is none.
bool options_nearest_file(const char *path, char nearest[NAME_MAX + 1]);
// Writes "there is no WHAT 'WORD'; did you mean NAME?"; if no name (NULL-ended) is similar enough, OTHERWISE instead of
// the question.
void options_unknown(char *text, size_t size, const char *what, const char *word, const char *const *names,
                     const char *otherwise);
// Returns the index of the word among the names, which end with NULL; -1 if it is none of them (logged, with the
// nearest name and all names). `what`: "path".
int options_choose(const char *word, const char *what, const char *const *names);

// Returns the index of the word in the list "a|b|c"; -1 if the list does not have it.
int options_find(const char *choices, const char *word);
// Writes the word with this index. False: the list has none, and the word is "".
bool options_choice(const char *choices, int index, char *word, size_t size);

// Parses "640x480"; both 1..1000000. False: not logged.
bool options_parse_size(const char *text, struct option_size *size);
