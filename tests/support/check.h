// check.h: counts the checks of a test program, and captures its standard error
#pragma once

#include <stdbool.h>

enum { CHECK_SKIP = 77, CHECK_PRINTED = 20 }; // meson's exit status of a skipped test; failures printed in full

struct check {
    const char *name; // of the test program
    long done, failed;
};

// Counts one check. Prints the text if it failed, for the first CHECK_PRINTED failures. Returns `ok`.
bool check_that(struct check *check, bool ok, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Prints the counts. Returns the exit status of the test, which is 1 if a check failed or none was made.
int check_end(const struct check *check);
// Returns the index of `given`, a program's argument, in `names`, which end with NULL; 0 if `given` is NULL. If it is
// none of them, prints the names and exits with status 2.
int check_name(const char *given, const char *const *names);

// A captured standard error. Only one capture can be open.
struct captured {
    char text[4096]; // the first bytes, after the end of the capture
    int stderr_fd, file_fd;
};

void capture_stderr(struct captured *captured);
const char *captured_stderr(struct captured *captured); // ends the capture; returns `text`
int captured_lines(struct captured *captured);          // ends the capture; returns the number of lines in `text`
