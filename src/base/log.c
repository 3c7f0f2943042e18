// log.c: messages to standard error
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static enum log_level log_level = LOG_WARN;

static const char *const level_names[] = {"silent", "error", "warn", "info", "debug"};

void log_set_level(enum log_level level)
{
    log_level = level;
}

bool log_level_from_name(const char *name, enum log_level *level)
{
    for (size_t i = 0; i < sizeof(level_names) / sizeof(*level_names); i++) {
        if (strcmp(name, level_names[i]) == 0) {
            *level = (enum log_level)i;
            return true;
        }
    }
    return false;
}

// One write per message, so that lines of several threads don't mix.
static void log_line(enum log_level level, const char *kind, const char *format, va_list arguments)
{
    if (level > log_level)
        return;
    char line[2048];
    const int head = snprintf(line, sizeof(line), "monocle: %s", kind);
    const int rest = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, format, arguments);
    if (rest < 0)
        return;
    size_t end = (size_t)head + (size_t)rest;
    if (end > sizeof(line) - 2)
        end = sizeof(line) - 2;
    line[end] = '\n';
    fwrite(line, 1, end + 1, stderr);
}

void log_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_line(LOG_ERROR, "error: ", format, arguments);
    va_end(arguments);
}

void log_warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_line(LOG_WARN, "warning: ", format, arguments);
    va_end(arguments);
}

void log_info(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_line(LOG_INFO, "", format, arguments);
    va_end(arguments);
}

void log_debug(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_line(LOG_DEBUG, "debug: ", format, arguments);
    va_end(arguments);
}
