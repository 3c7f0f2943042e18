// command.c: finds the subcommand and runs it
#include "command/command.h"

#include "base/alloc.h"
#include "base/log.h"
#include "compute/drivers.h"
#include "filter/filter.h"
#include "source/source.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMMANDS_MAX = 32 };

static const struct command help_command;

const struct command *const commands[] = {
    &live_command,
    &ctl_command,
    &batch_command,
    &report_command,
    &lane_command,
    &filters_command,
    &looks_command,
    &matte_command,
    &bench_command,
    &latency_command,
    &tune_command,
    &tuned_command,
    &devices_command,
    &doctor_command,
    &cameras_command,
    &help_command,
    &completion_command,
    &manual_command,
    &probe_command,
    &bench_test_command,
    &inspect_command,
    &matte_program_command,
    NULL,
};

// The help prints a title before each of these commands.
static const struct {
    const char *title;
    const struct command *first;
} groups[] = {
    {"Pictures", &live_command},
    {"Speed", &bench_command},
    {"This machine", &devices_command},
    {"Help", &help_command},
};

const struct command *command_find(const char *name)
{
    for (int i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

bool command_parse(const struct command *command, int argc, char **argv, void *values, int operands_max,
                   struct command_operands *operands)
{
    operands->word = (const char **)argv + 1; // options_parse never moves an operand to the right
    operands->code = EXIT_USAGE;
    switch (options_parse(command, argc, argv, values, operands->word, &operands->count)) {
    case OPTION_HELP:
        options_print_help(command, stdout);
        operands->code = EXIT_OK;
        return false;
    case OPTION_ERROR:
        return false;
    case OPTION_OK:
        break;
    }
    for (int i = 0; i < operands->count; i++) {
        if (operands->word[i][0])
            continue;
        log_error("an argument is empty; remove it or give it a value; usage: monocle %s %s", command->name,
                  command->usage);
        return false;
    }
    const char *first = operands->count > 0 && command == commands[0] ? operands->word[0] : "";
    if (command_find(first) && access(first, F_OK) != 0) {
        log_error("%s is a command; write it before the options", first);
        return false;
    }
    return command_limit_operands(command, operands, operands_max);
}

bool command_limit_operands(const struct command *command, const struct command_operands *operands, int most)
{
    if (operands->count <= most)
        return true;
    log_error("unexpected argument '%s'; usage: monocle %s %s", operands->word[most], command->name, command->usage);
    return false;
}

static const struct command *find_or_suggest(const char *name)
{
    const struct command *command = command_find(name);
    if (command)
        return command;
    const char *names[COMMANDS_MAX + 1] = {NULL};
    int count = 0;
    for (int i = 0; commands[i] && count < COMMANDS_MAX; i++) {
        if (!commands[i]->hidden)
            names[count++] = commands[i]->name;
    }
    const char *nearest = options_nearest(name, names);
    char file[NAME_MAX + 1];
    if (filter_find(name))
        log_error("%s is a filter; monocle filters %s describes it", name, name);
    else if (nearest)
        log_error("unknown command '%s'; did you mean monocle %s?", name, nearest);
    else if (options_nearest_file(name, file))
        log_error("there is no file '%s'; did you mean '%s'?", name, file);
    else
        log_error("there is no command and no file named '%s'; 'monocle help' lists the commands", name);
    return NULL;
}

static int print_commands(void)
{
    printf("Usage: monocle [COMMAND] [ARGUMENTS]\n\n"
           "Applies filters to cameras, videos and images, in real time or in batches.\n");
    for (int i = 0; commands[i]; i++) {
        for (size_t k = 0; k < sizeof(groups) / sizeof(*groups); k++) {
            if (groups[k].first == commands[i])
                printf("\n%s:\n", groups[k].title);
        }
        if (!commands[i]->hidden)
            printf("  %-8s  %s%s\n", commands[i]->name, commands[i]->summary, i == 0 ? " (default command)" : "");
    }
    printf("\nExamples:\n"
           "  monocle live                       show the first camera, or a photograph\n"
           "  monocle clip.y4m -f 'blur=2,gray'  show a video, blurred and grey\n"
           "  monocle filters                    list the filters\n"
           "  monocle manual | man -l -          read the man page\n"
           "  source <(monocle completion bash)  complete words with Tab in this shell\n"
           "\n'monocle COMMAND --help' describes a command.\n"
           "'monocle --version' prints the version.\n");
    return EXIT_OK;
}

const struct option no_options[] = {{0}};
static const char *const help_examples[] = {"monocle help live  describe the command live", NULL};
static int help_run(int argc, char **argv)
{
    struct command_operands operands;
    if (!command_parse(&help_command, argc, argv, NULL, 1, &operands))
        return operands.code;
    if (operands.count == 0)
        return print_commands();
    const struct command *command = find_or_suggest(operands.word[0]);
    if (!command)
        return EXIT_USAGE;
    options_print_help(command, stdout);
    return EXIT_OK;
}

static const struct command help_command = {
    .name = "help",
    .usage = "[COMMAND]",
    .summary = "list the commands, or describe one",
    .examples = help_examples,
    .options = no_options,
    .complete = "command",
    .run = help_run,
};

// Returns true if the word can only be a source, such as "clip.y4m" or "pattern:640x480". The default command then
// runs.
static bool is_source(const char *word)
{
    return source_has_word(word) || word[strcspn(word, "/.:@")] || access(word, F_OK) == 0;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct pocl_cache cache;
    pocl_cache_open(&cache);
    const int code = command->run(argc, argv);
    drivers_remove();
    pocl_cache_close(&cache);
    return code;
}

void command_clean_up(void)
{
    drivers_remove();
}

int command_main(int argc, char **argv)
{
    const char *first = argc > 1 ? argv[1] : "-";
    json_set_alloc_funcs(xmalloc, free); // so no call of jansson needs a check for memory
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
        printf("monocle %s\n", MONOCLE_VERSION);
        return EXIT_OK;
    }
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0)
        return print_commands();
    const struct command *command = command_find(first);
    if (command)
        return run(command, argc - 1, argv + 1);
    if (first[0] != '-' && !is_source(first)) {
        find_or_suggest(first);
        return EXIT_USAGE;
    }
    return run(commands[0], argc, argv);
}
