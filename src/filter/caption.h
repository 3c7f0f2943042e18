// caption.h: the words of the filter `text`
#pragma once

#include "filter/filter.h"

enum { CAPTION_MOST = 512 }; // bytes of a text with its fields, with the NUL

// Returns NULL for a text that `text` can show; else one static line.
const char *caption_check(const char *text);
struct font;
// Returns the letter, or a question mark if `text` cannot show it.
uint32_t caption_letter(const struct font *font, uint32_t letter);
// Replaces the conversions of strftime and the fields {frame}, {time}, {source} and {host}.
void caption_expand(const char *text, const struct moment *moment, char expanded[CAPTION_MOST]);
