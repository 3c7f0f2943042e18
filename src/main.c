// main.c: the process begins and ends here
#include "base/log.h"
#include "command/command.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    command_guard_streams();
    command_catch_signals();
    int code = command_main(argc, argv);
    errno = 0;
    if (!command_flush()) {
        // The stream remembers that an earlier write failed, not why: another one tells.
        if (errno == 0 && write(STDOUT_FILENO, "\n", 1) == 1)
            errno = EIO;
        log_error("cannot write to standard output: %s", errno == EBADF ? "it is closed" : strerror(errno));
        if (code == EXIT_OK)
            code = EXIT_FAILED_SOME;
    }
    if (code == EXIT_OK && command_interrupted())
        code = 128 + command_interrupted();
    return code;
}
