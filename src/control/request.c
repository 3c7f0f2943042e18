// request.c: parses a line of the control protocol
#include "control/request.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool fail(char error[REQUEST_ERROR], const char *text)
{
    snprintf(error, REQUEST_ERROR, "%s", text);
    return false;
}

// The text of the JSON library may quote bytes of the line that are not UTF-8.
static bool fail_parse(char error[REQUEST_ERROR], const json_error_t *place)
{
    snprintf(error, REQUEST_ERROR, "this is not JSON: %.150s (byte %d)", place->text, place->position);
    for (char *at = error; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
    return false;
}

bool request_parse(struct request *r, const char *line, size_t size, char error[REQUEST_ERROR])
{
    static const char form[] = "a request has the form {\"command\": [\"get_property\", \"chain\"], \"request_id\": 1}";
    json_error_t place;
    *r = (struct request){.root = json_loadb(line, size, JSON_REJECT_DUPLICATES, &place)};
    if (!r->root)
        return fail_parse(error, &place);
    const json_t *id = json_object_get(r->root, "request_id"), *list = json_object_get(r->root, "command");
    if (json_is_integer(id))
        r->id = json_integer_value(id);
    else if (id)
        return fail(error, "request_id is not a whole number");
    r->command = json_string_value(json_array_get(list, 0));
    if (!r->command)
        return fail(error, form);
    const size_t count = json_array_size(list) - 1;
    if (count > REQUEST_ARGUMENTS)
        return fail(error, "the command has too many arguments");
    for (; r->arguments < (int)count; r->arguments++)
        r->argument[r->arguments] = json_array_get(list, (size_t)r->arguments + 1);
    return true;
}

void request_free(struct request *r)
{
    json_decref(r->root);
    r->root = NULL;
}

bool request_text(const json_t *value, char text[REQUEST_TEXT])
{
    int length = -1;
    if (json_is_string(value))
        length = snprintf(text, REQUEST_TEXT, "%s", json_string_value(value));
    else if (json_is_boolean(value))
        length = snprintf(text, REQUEST_TEXT, "%s", json_is_true(value) ? "on" : "off");
    else if (json_is_integer(value))
        length = snprintf(text, REQUEST_TEXT, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        length = snprintf(text, REQUEST_TEXT, "%.9g", json_real_value(value));
    return length >= 0 && length < REQUEST_TEXT;
}

bool request_number(const json_t *value, long long *number)
{
    char text[REQUEST_TEXT], *end;
    if (!request_text(value, text) || text[strspn(text, "0123456789")] || !text[0])
        return false;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return errno == 0;
}
