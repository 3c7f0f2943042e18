// check.c: what a test counts and prints
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
