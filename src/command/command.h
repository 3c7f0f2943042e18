// command.h: the table of commands, and functions that they share; call all on the main thread
#pragma once

#include "base/options.h"
#include "base/process.h"

extern const struct command live_command, lane_command, batch_command, report_command, bench_command, latency_command,
    tune_command, tuned_command, devices_command, doctor_command, cameras_command, filters_command, looks_command,
    matte_command, ctl_command, completion_command, manual_command, probe_command, bench_test_command, inspect_command,
    matte_program_command;
extern const struct command *const commands[]; // ends with NULL; the first command is the default

extern const struct option no_options[]; // of a command that has none

const struct command *command_find(const char *name); // NULL if there is none
// For completion: returns the name of a command of `monocle ctl`; NULL after the last.
const char *ctl_word(int index);

// Runs the command that the arguments name. Returns the exit code.
int command_main(int argc, char **argv);
// Removes temporary files. A signal handler may call it.
void command_clean_up(void);

// Parses the arguments of a command with options_parse, and prints the help if --help is given. Refuses empty operands
// and more than `operands_max` operands (logged). Returns false if the command must end.
struct command_operands {
    const char **word; // borrowed from argv
    int count;
    int code; // the exit code if the command must end
};
bool command_parse(const struct command *command, int argc, char **argv, void *values, int operands_max,
                   struct command_operands *operands);
// Returns false if there are more than `most` operands (logged). For a command whose limit depends on its first
// operands.
bool command_limit_operands(const struct command *command, const struct command_operands *operands, int most);
