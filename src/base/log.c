// log.c: messages and the status line on standard error
#include "base/log.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 2048, ONCE_MOST = 16 };

static struct log_state {
    enum log_level level;
    pthread_mutex_t lock; // guards the members below; held while the hook runs
    void (*hook)(void *context, const char *message);
    void *context;
    uint64_t once[ONCE_MOST]; // hashes of the texts of log_warn_once
    int onces;
    atomic_bool status; // a status line is shown
} log_state = {.level = LOG_WARN, .lock = PTHREAD_MUTEX_INITIALIZER};

// Where the thread's latest error is kept; text NULL: nowhere.
static _Thread_local struct {
    char *text;
    size_t size;
} kept;

static _Thread_local const char *place; // NULL: none

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

void log_keep_error(char *text, size_t size)
{
    kept.text = text;
    kept.size = size;
}

void log_set_place(const char *text)
{
    place = text;
}

// Returns the bytes of the first character if a terminal shows it; 0 for a control character or an invalid byte.
static size_t shown_bytes(struct span text)
{
    const size_t length = text.length;
    const uint32_t character = span_next(&text);
    const size_t bytes = length - text.length;
    const bool invalid = character == 0xfffd && bytes == 1;
    return character_is_control(character) || invalid ? 0 : bytes;
}

size_t log_escape(char *out, size_t size, const char *text)
{
    size_t used = 0;
    for (struct span rest = span_of(text); rest.length > 0 && size > 0;) {
        const size_t bytes = shown_bytes(rest);
        char escape[8];
        snprintf(escape, sizeof(escape), "\\x%02x", (unsigned char)*rest.text);
        const size_t length = bytes ? bytes : strlen(escape);
        if (used + length >= size)
            break;
        memcpy(out + used, bytes ? rest.text : escape, length);
        used += length;
        rest.text += bytes ? bytes : 1;
        rest.length -= bytes ? bytes : 1;
    }
    if (size > 0)
        out[used] = '\0';
    return used;
}

void log_print_line(FILE *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = xvprintf(format, arguments);
    va_end(arguments);
    const size_t size = 4 * strlen(text) + 1;
    char *shown = xmalloc(size);
    log_escape(shown, size, text);
    fprintf(out, "%s\n", shown);
    free(shown);
    free(text);
}

static void call_hook(const char *message)
{
    pthread_mutex_lock(&log_state.lock);
    if (log_state.hook)
        log_state.hook(log_state.context, message);
    pthread_mutex_unlock(&log_state.lock);
}

// Writes each message at once, so that messages of several threads do not mix. Lines after the first, as in a
// compiler's log, are indented: only messages begin with "monocle: ".
static void print(const char *kind, char message[MESSAGE_BYTES], bool lines)
{
    char text[2 * MESSAGE_BYTES];
    const char *clear = atomic_exchange(&log_state.status, false) ? "\r\033[K" : "";
    size_t used = (size_t)snprintf(text, sizeof(text), "%smonocle: %s", clear, kind);
    char *rest = message, *line;
    for (bool first = true; (line = strsep(&rest, lines ? "\n" : "")); first = false) {
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

void log_message(int level, const char *format, ...)
{
    static const char *const kinds[] = {
        [LOG_ERROR] = "error: ", [LOG_WARN] = "warning: ", [LOG_INFO] = "", [LOG_DEBUG] = "debug: "};
    char message[MESSAGE_BYTES];
    va_list arguments;
    const bool lines = level & LOG_LINES;
    level &= ~LOG_LINES;
    if (level > (int)log_state.level && level != LOG_ERROR)
        return;
    const int used = snprintf(message, MESSAGE_BYTES / 2, "%s", level == LOG_ERROR && place ? place : "");
    const size_t from = used < MESSAGE_BYTES / 2 ? (size_t)used : MESSAGE_BYTES / 2 - 1;
    va_start(arguments, format);
    const int length = vsnprintf(message + from, sizeof(message) - from, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    if (level == LOG_ERROR)
        call_hook(message);
    if (level == LOG_ERROR && kept.text)
        snprintf(kept.text, kept.size, "%s", message);
    if (level <= (int)log_state.level)
        print(kinds[level], message, lines); // modifies the message
}

void log_warn_once(const char *text)
{
    const uint64_t hash = hash_64(text, strlen(text));
    int i = 0;
    pthread_mutex_lock(&log_state.lock);
    while (i < log_state.onces && log_state.once[i] != hash)
        i++;
    const bool first = i == log_state.onces;
    if (first && i < ONCE_MOST)
        log_state.once[log_state.onces++] = hash;
    pthread_mutex_unlock(&log_state.lock);
    if (first)
        log_warn("%s", text);
}

bool status_line_possible(void)
{
    const char *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) && !(terminal && strcmp(terminal, "dumb") == 0);
}

void status_line_show(const char *text)
{
    struct winsize size;
    if (!status_line_possible())
        return;
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    log_state.status = *text != '\0';
    fprintf(stderr, "\r\033[K%.*s", known ? size.ws_col - 1 : INT_MAX, text);
    fflush(stderr);
}

void status_line_tick(struct status_line *line, const char *format, ...)
{
    enum { LATE_MS = 2000, TURN_MS = 200 };
    const int64_t now_ns = clock_now_ns();
    if (line->start_ns == 0) {
        line->start_ns = now_ns;
        line->next_ns = now_ns + (int64_t)LATE_MS * 1000000;
    }
    if (now_ns < line->next_ns || !status_line_possible())
        return;
    char text[256], shown[sizeof(text)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    log_escape(shown, sizeof(shown), text);
    status_line_show(shown);
    line->shown = true;
    line->next_ns = now_ns + (int64_t)TURN_MS * 1000000;
}

void status_line_end(struct status_line *line)
{
    if (line->shown)
        status_line_show("");
    *line = (struct status_line){0};
}
