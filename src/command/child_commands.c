// child_commands.c: the hidden commands that monocle itself runs in child processes, for code that may crash or hang
#include "base/child.h"
#include "base/log.h"
#include "bench/bench.h"
#include "command/command.h"
#include "inspect/inspect.h"
#include "matte/matte.h"
#include "path/probe.h"
#include "tune/kernel/user_kernel.h"

#include <string.h>

const char child_program[] = "/proc/self/exe";

// A job of `monocle probe`, by the word at `at`; `at` 0: any word.
static const struct child_job {
    int words, at;
    const char *kind;
    int (*answer)(char *const *argv);
} probes[] =
    {
        {KERNEL_WORDS, KERNEL_WORD_KIND, "spec", user_kernel_answer},
        {SHADER_WORDS, SHADER_WORD_KIND, "shader", probe_shader_answer},
        {WORDS, 0, NULL, probe_answer},
},
  inspections[] = {{INSPECT_WORDS, 0, NULL, inspect_answer}}, measurements[] = {{BENCH_WORDS, 0, NULL, bench_reply}},
  mattes[] = {{MATTE_WORDS, 0, NULL, matte_answer}};

// Runs the job that the arguments name. EXIT_AT_ONCE, because a faulty driver could crash in the functions that exit()
// runs.
static int run(const struct command *command, const struct child_job *job, size_t jobs, int argc, char **argv)
{
    struct command_operands operands;
    for (size_t i = 0; i < jobs; i++) {
        if (argc == job[i].words && (!job[i].kind || strcmp(argv[job[i].at], job[i].kind) == 0))
            return job[i].answer(argv) | EXIT_AT_ONCE;
    }
    if (!command_parse(command, argc, argv, NULL, argc, &operands))
        return operands.code;
    log_error("this command is internal: monocle starts it in a child process");
    return EXIT_USAGE;
}

#define CHILD_COMMAND(word, jobs, text)                                                                                \
    static int run_##word(int argc, char **argv)                                                                       \
    {                                                                                                                  \
        return run(&word##_command, jobs, sizeof(jobs) / sizeof(*(jobs)), argc, argv);                                 \
    }                                                                                                                  \
    const struct command word##_command = {                                                                            \
        .name = #word,                                                                                                 \
        .usage = "ARGUMENTS",                                                                                          \
        .summary = text "; only monocle itself runs this command",                                                     \
        .options = no_options,                                                                                         \
        .run = run_##word,                                                                                             \
        .hidden = true,                                                                                                \
    };

CHILD_COMMAND(probe, probes, "test a kernel variant")
CHILD_COMMAND(bench_test, measurements, "run a test of `monocle bench device`")
CHILD_COMMAND(matte_program, mattes, "make mattes of frames")
CHILD_COMMAND(inspect, inspections, "query drivers")
