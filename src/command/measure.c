// measure.c: the hidden command that runs a test of a device in a child process (measure/measure.h)
#include "measure/measure.h"

#include "base/log.h"
#include "command/command.h"

static const struct option_list list = {
    .command = "measure",
    .usage = "ARGUMENTS",
    .summary = "run a test of `monocle bench device`; only monocle itself runs this command",
    .options = no_options,
};

static int measure_command_run(int argc, char **argv)
{
    struct command_operands operands;
    int code;
    // EXIT_AT_ONCE, because a faulty driver could crash in the functions that exit() runs.
    if (argc == MEASURE_WORDS)
        return measure_answer(argv) | EXIT_AT_ONCE;
    if (!command_parse(&list, argc, argv, NULL, argc, &operands, &code))
        return code;
    log_error("this command is internal: monocle starts it to measure a device");
    return EXIT_USAGE;
}

const struct command measure_command = {.list = &list, .run = measure_command_run, .hidden = true};
