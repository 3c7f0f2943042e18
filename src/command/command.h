// command.h: the subcommands as a table
#pragma once

#include "base/options.h"

// Exit codes, documented in the man page. Signals: 128 + number (130 SIGINT, 143 SIGTERM).
enum exit_code {
    EXIT_OK = 0,
    EXIT_FAILED_SOME = 1, // something went wrong while running
    EXIT_USAGE = 2,       // wrong arguments
    EXIT_NOTHING = 3,     // nothing could be done: no such source, no device
    EXIT_DEVICE = 4,      // the device was lost and no other path could take over, or the display was lost
};

// Added to what a command returns where it had to leave a thread behind in a driver: main ends the process without what
// exit() runs, which would take the drivers' data from under that thread.
enum { EXIT_AT_ONCE = 256 };
// Added where the code says all there is to say, also of a signal that has come: it may have been too late to matter.
enum { EXIT_SETTLED = 512 };

struct command {
    const struct option_list *list;    // name, usage, help, options
    int (*run)(int argc, char **argv); // argv[0] is the command's name; returns the exit code
    bool hidden;                       // for the build, not for people: in no list
};

extern const struct command *const commands[]; // NULL-ended; the first is the default

const struct command *command_find(const char *name); // NULL when there is none

// Runs the command that the program's arguments name; returns the exit code.
int command_main(int argc, char **argv);

// How a command's run begins: parses as options_parse does, prints the help where it is asked for, refuses more than
// `operands_max` operands. False when the command is over; *code is then its exit code.
struct command_operands {
    const char **word; // borrowed from argv
    int count;
};
bool command_parse(const struct option_list *list, int argc, char **argv, void *values, int operands_max,
                   struct command_operands *operands, int *code);
// The last of that by itself, for a command that looks at its operands first. False is logged.
bool command_limit_operands(const struct option_list *list, const struct command_operands *operands, int most);

// SIGINT, SIGTERM and SIGHUP end the process at once, with their exit code, whatever it waits for. A command that has
// something to finish holds them from then on: they end waits and set what command_interrupted returns (the number, 0
// before), and only a second one ends the process at once.
void command_catch_signals(void);
void command_hold_signals(void);
int command_interrupted(void);

// Gives closed standard streams a descriptor that can't be used, so that no file opened later is taken for them.
void command_guard_streams(void);
// Raises a low limit of open files as far as the process may: drivers open many.
void command_raise_limits(void);
// Flushes standard output. False where something written did not arrive (closed pipe, full disk); not logged: main
// says so at the end, and a command that writes much stops at once.
bool command_flush(void);
