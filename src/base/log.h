// log.h: messages to standard error, one line each: "monocle: error: ..."
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum log_level { LOG_SILENT, LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

// The one mutable state of the program. The level is set once by main before any thread starts; default LOG_WARN.
void log_set_level(enum log_level level);
// Passes the text of every error to `hook`, at any log level. Calls come from the thread that logs, one at a time. The
// hook must not log. NULL removes the hook; when this returns, the hook is not running.
void log_set_error_hook(void (*hook)(void *context, const char *message), void *context);

// The code that detects an error logs it once: what failed, where, and what to do. Safe on any thread. Names may
// contain any bytes: log_escape escapes the message. A newline starts an indented line of the same message.
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Copies text for a terminal and truncates it to fit. Control characters except tabs, and bytes that are not UTF-8, are
// written as "\x1b". Returns the length.
size_t log_escape(char *out, size_t size, const char *text);
