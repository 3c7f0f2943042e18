// unit.h: checks that print their line and expression, for programs with one struct check; a directory
#pragma once

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The only struct check of the test program; main returns check_end(&unit).
static struct check unit = {.name = __BASE_FILE__};

static inline void unit_text(const char *got, const char *want, bool whole, int line)
{
    const bool ok = got && (whole ? strcmp(got, want) == 0 : strstr(got, want) != NULL);
    check_that(&unit, ok, "line %d: '%s' %s '%s'", line, got ? got : "(null)", whole ? "is not" : "lacks", want);
}

static inline void unit_number(double got, double want, const char *text, int line)
{
    check_that(&unit, got == want, "line %d: %s is %.10g, not %.10g", line, text, got, want);
}

#define CHECK(condition) check_that(&unit, condition, "line %d: %s", __LINE__, #condition)
#define CHECK_NUMBER(got, want) unit_number((double)(got), (double)(want), #got, __LINE__)
#define CHECK_TEXT(got, want) unit_text(got, want, true, __LINE__)
#define CHECK_HAS(got, part) unit_text(got, part, false, __LINE__)

// A new directory for the test, which the test empties and removes.
static inline void unit_directory(char path[64])
{
    snprintf(path, 64, "/tmp/monocle-test-XXXXXX");
    if (!mkdtemp(path))
        abort();
}
