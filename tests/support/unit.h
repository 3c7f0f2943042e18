// unit.h: what a unit test adds to check.h: checks that name their line, a captured standard error, a directory
#pragma once

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// One per test program; main returns check_end(&unit).
static struct check unit = {.name = __BASE_FILE__};

static inline void unit_text(const char *got, const char *want, bool whole, int line)
{
    const bool ok = got && (whole ? strcmp(got, want) == 0 : strstr(got, want) != NULL);
    check_that(&unit, ok, "line %d: '%s' %s '%s'", line, got ? got : "(null)", whole ? "is not" : "lacks", want);
}

#define CHECK(condition) check_that(&unit, condition, "line %d: %s", __LINE__, #condition)
#define CHECK_NUMBER(got, want)                                                                                        \
    check_that(&unit, (double)(got) == (double)(want), "line %d: %s is %.10g, not %.10g", __LINE__, #got,              \
               (double)(got), (double)(want))
#define CHECK_TEXT(got, want) unit_text(got, want, true, __LINE__)
#define CHECK_HAS(got, part) unit_text(got, part, false, __LINE__)

// What is written to standard error between the two calls.
struct captured {
    FILE *file;
    int stderr_fd;
    char text[4096];
};

static inline void capture_stderr(struct captured *c)
{
    fflush(stderr);
    c->file = tmpfile();
    c->stderr_fd = dup(STDERR_FILENO);
    if (!c->file || c->stderr_fd < 0 || dup2(fileno(c->file), STDERR_FILENO) < 0)
        abort();
}

static inline const char *captured_stderr(struct captured *c)
{
    fflush(stderr);
    dup2(c->stderr_fd, STDERR_FILENO);
    close(c->stderr_fd);
    rewind(c->file);
    c->text[fread(c->text, 1, sizeof(c->text) - 1, c->file)] = '\0';
    fclose(c->file);
    return c->text;
}

// A fresh directory of the test's own, which the test empties and removes.
static inline void unit_directory(char path[64])
{
    snprintf(path, 64, "/tmp/monocle-test-XXXXXX");
    if (!mkdtemp(path))
        abort();
}
