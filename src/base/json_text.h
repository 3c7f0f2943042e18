// json_text.h: text as JSON, JSON as text, and fields of comma-separated values (RFC 4180)
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct json_t; // of jansson

// Returns the text as JSON. If it is not UTF-8, as names of files and a driver's text may be, U+FFFD replaces each
// byte that is not part of valid UTF-8. Never NULL: in monocle, no function of jansson fails for lack of memory
// (command_main).
struct json_t *text_json(const char *text);
// Returns a member's text; "": the object has no such text.
const char *json_text(const struct json_t *object, const char *key);
// Returns the number with three decimals.
struct json_t *json_thousandths(double value);
// Prints a line of JSON on standard output, with all control characters escaped, and frees the value. `flags` are
// jansson's. Returns false if standard output cannot be written, and logs nothing: main logs the error at the end.
bool print_json(struct json_t *value, size_t flags);
// Writes a line of JSON to the parent (child_write) and frees the value.
void send_json(struct json_t *value);

// Prints a field, with control characters escaped as log_escape does.
void csv_print(FILE *out, const char *text);
