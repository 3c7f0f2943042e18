// names.h: names of files: their formats, their normal form, the names of outputs, and tables that a name finds
#pragma once

#include "image/codec/codec.h"

#include <stddef.h>

// Returns the extension within the file name, with its dot; the end of the name if there is none.
const char *name_extension(const char *path);
// Finds the format of the file name's extension, in upper or lower case. Returns false for an unknown extension.
bool name_format(const char *path, enum codec_format *format);
// Returns the library that the file's format needs and this build lacks; NULL if none is missing.
const char *name_missing_library(const char *path);

// Returns the normal form of `path`, without "." and "..": relative to `directory` if the file is below it, else
// absolute. `directory` is the working directory; "" if it is unknown. Resolves a symbolic link only if ".."
// follows it, because the link then decides what ".." means. The caller frees the text.
char *name_normal(const char *directory, const char *path);

// How the outputs are named
struct naming {
    char *template;
    char *directory;                 // common directory of all outputs; NULL: the output is one file
    const struct codec_info *format; // format of all outputs; NULL: the format of the input's extension, else PNG
};

// `output` is a directory, a file name with an extension, or a template with the fields {dir} (directory of the input's
// relative name, with slash), {stem}, {type} (the extension without dot), {ext} (the output's, with dot) and {n} (six
// digits). `format` is the value of --format, or NULL. Returns false on failure (logged); naming_finish is needed in
// either case.
bool naming_init(struct naming *naming, const char *output, const char *format);
void naming_finish(struct naming *naming);
// Returns the path of the output, which the caller frees. `relative` is the input's path below
// the directory that the user named; `number` counts the inputs from 1.
char *naming_output(const struct naming *naming, const char *relative, size_t number);
// The name of a filter's file for one image; `text` has the same fields but {n}. The caller frees it. The first
// function returns false if `text` has other fields (logged).
bool naming_file_check(const char *filter, const char *text);
char *naming_file(const char *text, const char *relative);

// Initialise with zeros.
struct key_table {
    void **row; // in the order in which they were added; a row stays where it is
    size_t count;
    size_t *slot; // number of a row, from 1; 0: free
    size_t room;  // number of slots, a power of two
};

// Returns the row of the key. If there is none, adds a row of zeros with a copy of the key. Each row is a struct of
// `row_bytes` whose first member is `const char *`: the key.
void *table_row(struct key_table *table, const char *key, size_t row_bytes);
void *table_find(const struct key_table *table, const char *key); // the row of the key; NULL: there is none
void table_free(struct key_table *table);                         // frees the rows too; leaves the table empty
