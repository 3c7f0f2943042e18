// completion.h: completion for the shells, written from the same tables as the help
#pragma once

#include "command/command.h"

void completion_zsh(FILE *out);
void completion_fish(FILE *out);

// Words for what an option or operand completes, with spaces between them ("gpu cpu accelerator"); "" where only the
// shell knows, as for files.
void completion_words(const char *complete, char *text, size_t size);
// A row's choices with spaces between them, else completion_words of its `complete`.
void completion_option_words(const struct option *option, char *text, size_t size);
// Whether a command's operands may be files.
bool completion_of_files(const struct option_list *list);
// Whether one of the words must stand before the files: "report merge FILE...".
bool completion_word_first(const struct option_list *list);
