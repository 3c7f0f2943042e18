// check.h: what a test counts and prints
#pragma once

#include <stdbool.h>

enum { CHECK_SKIP = 77, CHECK_PRINTED = 20 }; // meson's exit code for a skipped test; failures printed in full

struct check {
    const char *name; // of the test program
    long done, failed;
};

// Counts one check; prints the text when it failed, up to CHECK_PRINTED of them. Returns `ok`.
bool check_that(struct check *check, bool ok, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Prints the sum; the exit code of the test, which is 1 if there was no check.
int check_end(const struct check *check);
// The place of `given`, a program's argument, in `names`, which NULL ends; 0 if `given` is NULL. Exits with 2 and
// prints the names if it is none of them.
int check_name(const char *given, const char *const *names);
