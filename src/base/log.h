// log.h: messages and the status line on standard error; a message is one line: "monocle: error: ..."
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum log_level { LOG_SILENT, LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

// Sets the level; default: LOG_WARN. Only main calls this, before it starts any thread.
void log_set_level(enum log_level level);
// Passes the text of every error to `hook`, at any log level. Calls come from the thread that logs, one at a time. The
// hook must not log. NULL removes the hook; when this returns, the hook is not running.
void log_set_error_hook(void (*hook)(void *context, const char *message), void *context);

// From now on, copies the text of each error that the calling thread logs to `text`, at any log level. NULL ends this.
void log_keep_error(char *text, size_t size);

// From now on, begins each error that the calling thread logs with `place`, such as "FILE:LINE: ". NULL ends this.
void log_set_place(const char *place);

// The code that detects an error logs it once: what failed, where, and what to do. Safe on any thread. Names may
// contain any bytes: log_escape escapes the message, newlines too. With LOG_LINES, for a compiler's log, a newline
// starts an indented line of the same message instead.
enum { LOG_LINES = 8 }; // added to a level
void log_message(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define log_error(...) log_message(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_message(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_message(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_message(LOG_DEBUG, __VA_ARGS__)

// Logs the warning, unless this process has already logged the same text with this function (up to 16 texts). On any
// thread.
void log_warn_once(const char *text);

// Copies text for a terminal and truncates it to fit. Control characters except tabs, and bytes that are not UTF-8, are
// written as "\x1b". Returns the length.
size_t log_escape(char *out, size_t size, const char *text);
// Prints a line, escaped as a whole, and a newline. Use it for lines with texts that monocle did not write, such as
// names of files and cameras.
void log_print_line(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Returns true if standard error is a terminal that can replace a line.
bool status_line_possible(void);
// If possible, shows the text in place of the status line before, cut at the terminal's width. "" clears the line. A
// message also clears it.
void status_line_show(const char *text);

// The status line of a wait or a run, on a terminal: it appears after 2 s, and changes at most 5 times a second. Begin
// with a zeroed struct.
struct status_line {
    int64_t start_ns, next_ns;
    bool shown;
};
void status_line_tick(struct status_line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
void status_line_end(struct status_line *line);
