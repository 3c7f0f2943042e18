// log.h: messages to standard error, one line each: "monocle: error: ..."
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum log_level { LOG_SILENT, LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

// The one mutable state of the program. The level is set once by main before any thread starts; default LOG_WARN.
void log_set_level(enum log_level level);
// Hands every error, at any level, to `hook` too: the message alone, on the thread that logs it, one at a time. The
// hook must not log. NULL ends it: once this returns the hook is not running.
void log_set_error_hook(void (*hook)(void *context, const char *message), void *context);

// Whoever detects an error logs it once: what was tried, on what, and what to do. Safe on any thread. Names may hold
// any bytes: messages are escaped as by log_escape, but for newlines, behind which a message goes on indented.
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Copies text for a terminal, cut to fit: control characters but tabs, and what is no UTF-8, as "\x1b", all else as it
// is. Returns the length.
size_t log_escape(char *out, size_t size, const char *text);
