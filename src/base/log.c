// log.c: messages to standard error
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 2048 };

static struct log_state {
    enum log_level level;
    pthread_mutex_t lock; // over the hook and while it runs
    void (*hook)(void *context, const char *message);
    void *context;
} log_state = {.level = LOG_WARN, .lock = PTHREAD_MUTEX_INITIALIZER};

static const char indent[] = "\n  ";

void log_set_level(enum log_level level)
{
    log_state.level = level;
}

void log_set_error_hook(void (*hook)(void *context, const char *message), void *context)
{
    pthread_mutex_lock(&log_state.lock);
    log_state.hook = hook;
    log_state.context = context;
    pthread_mutex_unlock(&log_state.lock);
}

// Bytes of the UTF-8 character that the text begins with, one that a terminal shows; 0 where it begins with none.
static size_t character_bytes(const unsigned char *text)
{
    static const struct {
        unsigned char lead_min, lead_max, next_min, next_max; // Unicode 15, table 3-7
        size_t bytes;
    } forms[] = {
        {'\t', '\t', 0, 0, 1},       {0x20, 0x7e, 0, 0, 1},
        {0xc2, 0xc2, 0xa0, 0xbf, 2}, // below are the control characters U+0080 to U+009F
        {0xc3, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
        {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        if (text[0] < forms[i].lead_min || text[0] > forms[i].lead_max)
            continue;
        if (forms[i].bytes > 1 && (text[1] < forms[i].next_min || text[1] > forms[i].next_max))
            continue;
        size_t bytes = 2; // the NUL at the end is no byte of a character
        while (bytes < forms[i].bytes && (text[bytes] & 0xc0) == 0x80)
            bytes++;
        return bytes < forms[i].bytes ? 0 : forms[i].bytes;
    }
    return 0;
}

size_t log_escape(char *out, size_t size, const char *text)
{
    size_t used = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at && size > 0;) {
        size_t bytes = character_bytes(at);
        char escape[8];
        if (bytes == 0)
            snprintf(escape, sizeof(escape), "\\x%02x", *at);
        const char *piece = bytes ? (const char *)at : escape;
        const size_t length = bytes ? bytes : strlen(escape);
        if (used + length >= size)
            break;
        memcpy(out + used, piece, length);
        used += length;
        at += bytes ? bytes : 1;
    }
    if (size > 0)
        out[used] = '\0';
    return used;
}

static void call_hook(const char *message)
{
    pthread_mutex_lock(&log_state.lock);
    if (log_state.hook)
        log_state.hook(log_state.context, message);
    pthread_mutex_unlock(&log_state.lock);
}

// One write per message, so that messages of several threads don't mix. What follows a newline, as a compiler's words
// have them, is indented: nothing but a message begins with "monocle: ".
static void print(const char *kind, char message[MESSAGE_BYTES])
{
    char text[2 * MESSAGE_BYTES];
    size_t used = (size_t)snprintf(text, sizeof(text), "monocle: %s", kind);
    char *rest = message, *line;
    for (bool first = true; (line = strsep(&rest, "\n")); first = false) {
        if (!first && *line && used + sizeof(indent) < sizeof(text)) {
            memcpy(text + used, indent, sizeof(indent) - 1);
            used += sizeof(indent) - 1;
        }
        if (first || *line)
            used += log_escape(text + used, sizeof(text) - 1 - used, line);
    }
    text[used++] = '\n';
    fwrite(text, 1, used, stderr);
}

static void log_message(enum log_level level, const char *kind, const char *format, va_list arguments)
{
    char message[MESSAGE_BYTES];
    if (level > log_state.level && level != LOG_ERROR)
        return;
    if (vsnprintf(message, sizeof(message), format, arguments) < 0)
        return;
    if (level == LOG_ERROR)
        call_hook(message);
    if (level <= log_state.level)
        print(kind, message); // takes the message apart
}

void log_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_message(LOG_ERROR, "error: ", format, arguments);
    va_end(arguments);
}

void log_warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_message(LOG_WARN, "warning: ", format, arguments);
    va_end(arguments);
}

void log_info(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_message(LOG_INFO, "", format, arguments);
    va_end(arguments);
}

void log_debug(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_message(LOG_DEBUG, "debug: ", format, arguments);
    va_end(arguments);
}
