// json_text.c: see json_text.h
#include "base/json_text.h"

#include "base/alloc.h"
#include "base/child.h"
#include "base/log.h"
#include "base/text.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *text_json(const char *text)
{
    static const char replacement[] = "\xef\xbf\xbd"; // U+FFFD, as span_next returns it
    json_t *value = json_string(text);
    if (value)
        return value;
    char *valid = xmalloc(sizeof(replacement) * strlen(text)), *to = valid;
    for (struct span rest = span_of(text); rest.length > 0;) {
        const char *from = rest.text;
        const bool wrong = span_next(&rest) == 0xfffd;
        to = wrong ? mempcpy(to, replacement, sizeof(replacement) - 1) : mempcpy(to, from, (size_t)(rest.text - from));
    }
    value = json_stringn(valid, (size_t)(to - valid));
    free(valid);
    return value;
}

const char *json_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

json_t *json_thousandths(double value)
{
    return json_real(round(value * 1000) / 1000);
}

bool print_json(json_t *value, size_t flags)
{
    char *text = json_dumps(value, flags);
    bool ok = text != NULL;
    for (struct span rest = span_of(ok ? text : ""); ok && rest.length > 0;) {
        const char *at = rest.text;
        const uint32_t character = span_next(&rest);
        const size_t bytes = (size_t)(rest.text - at);
        if (character_is_control(character) && character != '\n') // jansson escapes only those below U+0020
            ok = printf("\\u%04x", (unsigned)character) > 0;
        else
            ok = fwrite(at, 1, bytes, stdout) == bytes;
    }
    free(text);
    json_decref(value);
    return ok && putchar('\n') != EOF;
}

void send_json(json_t *value)
{
    char *line = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(6)); // does not depend on the locale
    if (line)
        child_write(line);
    free(line);
    json_decref(value);
}

void csv_print(FILE *out, const char *text)
{
    const size_t room = 4 * strlen(text) + 1;
    char *shown = xmalloc(room);
    log_escape(shown, room, text);
    const bool quoted = strpbrk(shown, ",\"") != NULL;
    fputs(quoted ? "\"" : "", out);
    for (const char *at = shown; *at; at++)
        fprintf(out, *at == '"' ? "\"\"" : "%c", *at);
    fputs(quoted ? "\"" : "", out);
    free(shown);
}
