// main.c: the process begins and ends here
#include "base/log.h"
#include "command/command.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    process_guard_streams();
    process_raise_limits();
    process_catch_signals(command_clean_up);
    int code = command_main(argc, argv);
    const bool at_once = code & EXIT_AT_ONCE;
    const bool settled = code & EXIT_SETTLED;
    code &= ~(EXIT_AT_ONCE | EXIT_SETTLED);
    errno = 0;
    if (!process_flush()) {
        // The stream stores only that an earlier write failed, perhaps because of a signal. Another write gives the
        // reason.
        if (errno == 0 && (process_interrupted() || write(STDOUT_FILENO, "\n", 1) == 1))
            errno = process_interrupted() ? EINTR : EIO;
        if (errno != EPIPE) // head(1) and pagers end before all lines are written
            log_error("cannot write to standard output: %s",
                      errno == EBADF ? "it is closed; redirect it to a file or a program" : strerror(errno));
        if (code == EXIT_OK && (settled || !process_interrupted()))
            code = EXIT_FAILED_SOME;
    }
    if (code == EXIT_OK && !settled && process_interrupted())
        code = 128 + process_interrupted();
    if (at_once)
        _exit(code);
    return code;
}
