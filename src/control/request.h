// request.h: a line of the control protocol: {"command": ["get_property", "chain"], "request_id": 1}
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { REQUEST_ERROR = 256, REQUEST_ARGUMENTS = 8 };

struct request {
    struct json_t *root; // owns the others; NULL: the line is not a request
    long long id;        // 0: not given
    const char *command;
    const struct json_t *argument[REQUEST_ARGUMENTS];
    int arguments;
};

// Parses a line, which may have any bytes. False: `error` is one line of UTF-8. Free the request in both cases.
bool request_parse(struct request *request, const char *line, size_t size, char error[REQUEST_ERROR]);
void request_free(struct request *request);

// Writes a text, number or boolean as text. False: the value is something else, or too long.
enum { REQUEST_TEXT = 4096 };
bool request_text(const struct json_t *value, char text[REQUEST_TEXT]);
// Reads a whole number from 0 on, which may be given as text.
bool request_number(const struct json_t *value, long long *number);
