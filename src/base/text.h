// text.h: splits UTF-8 text into characters and lines, of which each character fills one column, and into settings
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A part of a text; not NUL-terminated.
struct span {
    const char *text;
    size_t length; // bytes
};

struct span span_of(const char *text);

// Returns `text` if it is `shown`, else "": for the optional parts of a line.
static inline const char *text_if(bool shown, const char *text)
{
    return shown ? text : "";
}
// Returns `text`, or `other` if it is NULL.
static inline const char *text_or(const char *text, const char *other)
{
    return text ? text : other;
}

// Removes the first character and returns it: U+FFFD for a byte that is not part of valid UTF-8, 0 at the end.
uint32_t span_next(struct span *span);
// Returns true for a character, other than a tab, that controls a terminal or the order of the text.
bool character_is_control(uint32_t character);
int span_columns(struct span span);
struct span span_head(struct span span, int columns); // returns its first columns

// Removes the next line, of at most `columns` columns, from the text and returns it. A line ends at a line feed, else
// after a space if it has one, else anywhere. Drops that line feed, or the spaces at the break.
struct span span_take_line(struct span *text, int columns);

// Appends to the text, which has room for `size` bytes, and cuts it to fit.
void text_append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Replaces line feeds by spaces. Use it for texts that monocle did not write, because a line feed in a message begins
// an indented line.
void text_join_lines(char *text);

// Removes the next line "name = value" from *rest, cuts it in place, and trims name and value. Skips empty lines and
// those that begin with '#'. *line counts the lines; it begins at 0. *value is NULL if the line has no '='. False:
// there is no more.
bool text_next_setting(char **rest, int *line, char **name, char **value);
