// text.h: the words of the filter `text`
#pragma once

#include "filter/filter.h"

enum { TEXT_FILTER_MOST = 512 }; // bytes of a text with its fields, with the NUL

// Returns NULL for a text that `text` can show; else one static line.
const char *text_filter_why(const char *text);
// Replaces the conversions of strftime and the fields {frame}, {time}, {source} and the like.
void text_filter_expand(const char *text, const struct frame_time *frame_time, char expanded[TEXT_FILTER_MOST]);
