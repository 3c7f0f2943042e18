// command.h: the subcommands as a table
#pragma once

#include "base/options.h"

// Exit codes, documented in the man page. Signals: 128 + number (130 SIGINT, 143 SIGTERM).
enum exit_code {
    EXIT_OK = 0,
    EXIT_FAILED_SOME = 1, // something went wrong while running
    EXIT_USAGE = 2,       // wrong arguments
    EXIT_NOTHING = 3,     // nothing could be done: no such source, no device
    EXIT_DEVICE = 4,      // the device was lost and no other path could take over
};

struct command {
    const struct option_list *list;    // name, usage, help, options
    int (*run)(int argc, char **argv); // argv[0] is the command's name; returns the exit code
};

extern const struct command *const commands[]; // NULL-ended; the first is the default

// Set by SIGINT and SIGTERM (the number), 0 before. A second signal ends the process at once.
int command_interrupted(void);
void command_catch_signals(void);
