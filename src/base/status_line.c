// status_line.c: a line of standard error, on a terminal, that the next one replaces
#include "base/status_line.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool status_line_possible(void)
{
    const char *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) && !(terminal && strcmp(terminal, "dumb") == 0);
}

void status_line_show(const char *text)
{
    struct winsize size;
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    fprintf(stderr, "\r\033[K%.*s", known ? size.ws_col - 1 : INT_MAX, text);
    fflush(stderr);
}
