// naming.h: makes the names of outputs from a template
#pragma once

#include "command/batch/formats.h"
#include "command/batch/inputs.h"

struct naming {
    char *template;
    char *directory;                 // common directory of all outputs; NULL: the output is one file
    const struct codec_info *format; // format of all outputs; NULL: the format of the input's extension, else PNG
};

// `output` is a directory, a file name with an extension, or a template with the fields {dir} (directory of the input's
// relative name, with slash), {stem}, {ext} (with dot) and {n} (six digits). `format` is the value of --format, or
// NULL. Returns false on failure (logged).
bool naming_init(struct naming *naming, const char *output, const char *format);
void naming_finish(struct naming *naming);

// Returns the path of the output, which the caller frees; NULL if out of memory. `number` counts the inputs from 1.
char *naming_output(const struct naming *naming, const struct input *input, size_t number);
