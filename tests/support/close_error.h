// close_error.h: makes close fail, for a test program linked with --wrap=close
#pragma once

#include <errno.h>

static int close_error; // errno of every close; 0: close succeeds

int __real_close(int fd);
int __wrap_close(int fd);

int __wrap_close(int fd)
{
    const int result = __real_close(fd);
    if (close_error == 0)
        return result;
    errno = close_error;
    return -1;
}
