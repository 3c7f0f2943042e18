// text.h: UTF-8 in columns of one letter's width
#pragma once

#include <stddef.h>
#include <stdint.h>

// A piece of a text; not NUL-terminated.
struct span {
    const char *text;
    size_t length; // bytes
};

struct span span_of(const char *text);
// Takes the first character off; U+FFFD for bytes that are not UTF-8, 0 at the end.
uint32_t span_next(struct span *span);
int span_columns(struct span span);
struct span span_head(struct span span, int columns); // its first columns

// Takes the next line of at most `columns` columns off the text: ends at a line feed, else behind a space where there
// is one, else anywhere. Drops the line feed or the spaces at which it broke.
struct span span_take_line(struct span *text, int columns);
