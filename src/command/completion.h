// completion.h: shell completion scripts, generated from the option tables
#pragma once

#include "command/command.h"

void completion_zsh(FILE *out);
void completion_fish(FILE *out);

// Writes the words for an operand or an option's value to `text`, separated by spaces: "blur gray". Writes "" if the
// shell must find them, as for files. `complete` may be NULL.
void completion_words(const char *complete, char *text, size_t size);
// Does the same for an option: its choices, else the words for its `complete`.
void completion_option_words(const struct option *option, char *text, size_t size);
// Returns true if a command's operands may be files.
bool completion_of_files(const struct option_list *list);
// Returns true if one of the words must precede the files: "report merge FILE...".
bool completion_word_first(const struct option_list *list);
