// check.c: counts the checks of a test program, and captures its standard error
#include "check.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool check_that(struct check *check, bool ok, const char *format, ...)
{
    check->done++;
    if (ok)
        return true;
    if (check->failed++ < CHECK_PRINTED) {
        va_list arguments;
        va_start(arguments, format);
        fprintf(stderr, "%s: failed: ", check->name);
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
        va_end(arguments);
    }
    return false;
}

int check_end(const struct check *check)
{
    fflush(stdout);
    fprintf(stderr, "%s: %ld of %ld checks failed\n", check->name, check->failed, check->done);
    return check->failed > 0 || check->done == 0;
}

int check_name(const char *given, const char *const *names)
{
    for (int i = 0; names[i]; i++) {
        if (!given || strcmp(given, names[i]) == 0)
            return i;
    }
    fprintf(stderr, "there is no '%s' to test; there are:", given);
    for (int i = 0; names[i]; i++)
        fprintf(stderr, "%s %s", i ? "," : "", names[i]);
    fputc('\n', stderr);
    exit(2);
}

void capture_stderr(struct captured *captured)
{
    fflush(stderr);
    FILE *file = tmpfile();
    if (!file)
        abort();
    // Well above 0..2, which a test may have closed.
    captured->file_fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 10);
    captured->stderr_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
    fclose(file);
    if (captured->file_fd < 0 || captured->stderr_fd < 0 || dup2(captured->file_fd, STDERR_FILENO) < 0)
        abort();
}

const char *captured_stderr(struct captured *captured)
{
    fflush(stderr);
    dup2(captured->stderr_fd, STDERR_FILENO);
    close(captured->stderr_fd);
    const ssize_t got = pread(captured->file_fd, captured->text, sizeof(captured->text) - 1, 0);
    close(captured->file_fd);
    captured->text[got > 0 ? got : 0] = '\0';
    return captured->text;
}

int captured_lines(struct captured *captured)
{
    int lines = 0;
    for (const char *at = captured_stderr(captured); (at = strchr(at, '\n')); at++)
        lines++;
    return lines;
}
