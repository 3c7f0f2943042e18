// naming.h: the names of outputs, from a template
#pragma once

#include "command/batch/formats.h"
#include "command/batch/inputs.h"

struct naming {
    char *template;
    char *directory;                 // that all outputs are below; NULL: one file
    const struct codec_info *format; // of every output; NULL: what its input's name says, or PNG
};

// `output` is a directory, a template with {dir} (of the input's relative name, with its slash), {stem}, {ext} (with
// its dot) and {n} (six digits), or, with an extension and without any of these, one file. `format` NULL: none given.
// False on failure (logged).
bool naming_init(struct naming *naming, const char *output, const char *format);
void naming_finish(struct naming *naming);

// The output's path, the caller's to free; NULL where there is no memory. Numbers count from 1.
char *naming_output(const struct naming *naming, const struct input *input, size_t number);
