// command.h: the table of commands, and functions that they share; call all on the main thread
#pragma once

#include "base/options.h"

// Exit codes, documented in the man page. A run that a signal ends has 128 + the signal's number: 130 for SIGINT, 143
// for SIGTERM.
enum exit_code {
    EXIT_OK = 0,
    EXIT_FAILED_SOME = 1, // an error during the run
    EXIT_USAGE = 2,       // wrong arguments
    EXIT_NOTHING = 3,     // nothing could be done: no source, no device
    EXIT_DEVICE = 4,      // the device was lost and no other path could replace it, or the display was lost
};

// A command adds this to its exit code if one of its threads is still inside a driver. main then ends the process with
// _exit, because exit() would free data that the driver still uses.
enum { EXIT_AT_ONCE = 256 };
// A command adds this if its exit code already accounts for a signal that has arrived. main then keeps the code.
enum { EXIT_SETTLED = 512 };

struct command {
    const struct option_list *list;    // name, usage, options and help
    int (*run)(int argc, char **argv); // argv[0] is the command's name; returns the exit code
    bool hidden;                       // not listed in the help
};

extern const struct command live_command, lane_command, batch_command, report_command, bench_command, latency_command,
    tune_command, tuned_command, devices_command, doctor_command, cameras_command, filters_command, looks_command,
    ctl_command, completion_command, manual_command, probe_command, measure_command, inspect_command;
extern const struct command *const commands[]; // ends with NULL; the first command is the default

extern const struct option no_options[]; // of a command that has none

const struct command *command_find(const char *name); // NULL if there is none

// Runs the command that the arguments name. Returns the exit code.
int command_main(int argc, char **argv);

// Parses the arguments of a command with options_parse, and prints the help if --help is given. Refuses empty operands
// and more than `operands_max` operands (logged). Returns false if the command must end; *code is then its exit code.
struct command_operands {
    const char **word; // borrowed from argv
    int count;
};
bool command_parse(const struct option_list *list, int argc, char **argv, void *values, int operands_max,
                   struct command_operands *operands, int *code);
// Returns false if there are more than `most` operands (logged). For a command whose limit depends on its first
// operands.
bool command_limit_operands(const struct option_list *list, const struct command_operands *operands, int most);

// After command_catch_signals, SIGINT, SIGTERM and SIGHUP end the process at once with their exit code. After
// command_hold_signals, the first signal only interrupts waits and sets the result of command_interrupted: the signal's
// number, 0 before. A second signal ends the process at once. The process also ends if a driver call hangs for 10 s
// after the first signal: a call of any thread (CALLS_ANY), or only of the main thread (CALLS_MAIN, for a command whose
// main thread does not wait for other threads).
enum command_calls { CALLS_ANY, CALLS_MAIN };
void command_catch_signals(void);
void command_hold_signals(enum command_calls calls);
int command_interrupted(void);

// Opens /dev/null for each closed standard stream, so that no file opened later becomes a standard stream. Using such a
// stream is still an error.
void command_guard_streams(void);
// Raises the limit of open files to 1024, or to the hard limit if that is lower, because drivers open many files.
void command_raise_limits(void);
// Flushes standard output. Returns false if it could not be written completely (closed pipe, full disk), and logs
// nothing: main logs the error at the end. A command with much output should call it and stop.
bool command_flush(void);
