// probe.c: the hidden command that tests a kernel variant in a child process (path/probe.h)
#include "path/probe.h"

#include "base/child.h"
#include "base/log.h"
#include "command/command.h"
#include "tune/kernel/user_kernel.h"

#include <string.h>

const char child_program[] = "/proc/self/exe";

static const struct option_list list = {
    .command = "probe",
    .usage = "ARGUMENTS",
    .summary = "test a kernel variant; only monocle itself runs this command",
    .options = no_options,
};

static int probe_run(int argc, char **argv)
{
    struct command_operands operands;
    int code;
    // EXIT_AT_ONCE, because a faulty driver could crash in the functions that exit() runs.
    if (argc == KERNEL_WORDS && strcmp(argv[KERNEL_WORD_KIND], "spec") == 0)
        return user_kernel_answer(argv) | EXIT_AT_ONCE;
    if (argc == SHADER_WORDS && strcmp(argv[SHADER_WORD_KIND], "shader") == 0)
        return probe_shader_answer(argv) | EXIT_AT_ONCE;
    if (argc == WORDS)
        return probe_answer(argv) | EXIT_AT_ONCE;
    if (!command_parse(&list, argc, argv, NULL, argc, &operands, &code))
        return code;
    log_error("this command is internal: monocle starts it to test kernels on a device");
    return EXIT_USAGE;
}

const struct command probe_command = {.list = &list, .run = probe_run, .hidden = true};
