// matte_command.c: the command that installs the networks of the built-in programs for mattes
#include "base/log.h"
#include "base/text.h"
#include "command/command.h"
#include "matte/matte.h"
#include "matte/network.h"

#include <stdio.h>
#include <time.h>

struct matte_options {
    bool list;
    const char *install, *check;
};

#define NAMES "person|faces"
static const struct option options[] = {
    {.name = "list",
     .type = OPTION_FLAG,
     .offset = offsetof(struct matte_options, list),
     .help = "list the networks",
     .excludes = "install|check"},
    {.name = "install",
     .type = OPTION_TEXT,
     .value = "NAME",
     .offset = offsetof(struct matte_options, install),
     .help = "install the networks with npm from its registry, or from FILE: the npm archive or a .tflite file",
     .choices = NAMES,
     .excludes = "check"},
    {.name = "check",
     .type = OPTION_TEXT,
     .value = "NAME",
     .offset = offsetof(struct matte_options, check),
     .help = "compare the installed networks with their checksums, and run them",
     .choices = NAMES},
    {0},
};
static const char *const examples[] = {
    "monocle matte --install person  install the networks that find people (500 kB)",
    "monocle matte --install person mediapipe-selfie_segmentation-0.1.1675465747.tgz  the same, offline",
    "monocle matte --list  list the networks and their licences",
    NULL,
};
static const char *const details[] = {
    "The networks are MediaPipe's. monocle checks the SHA-256 of each file, and runs the networks itself.",
    NULL,
};
static const char *const exits[] = {
    "0\tthe networks are installed, or the list was printed",
    "1\tthe networks cannot be installed, or standard output cannot be written",
    "2\twrong arguments, or there is no such network",
    "3\ta network to check is missing or damaged",
    NULL,
};
static const char *const states[] = {"not installed", "damaged", "installed"};

static int print_list(void)
{
    char path[PATH_MAX];
    for (const struct matte_network *network = matte_networks; network->name; network++)
        printf("%-8s %-14s finds %s; %s; npm package %s\n", network->name, states[matte_state(network, path)],
               network->help, network->licence, network->package);
    return EXIT_OK;
}

static int install(const struct matte_network *first, const char *file)
{
    char path[PATH_MAX];
    bool all = true;
    for (const struct matte_network *network = first; network; network = matte_network_next(network))
        all = all && matte_state(network, path) == MATTE_INSTALLED;
    process_hold_signals(CALLS_MAIN);
    if (!all && !matte_install(first, file))
        return EXIT_FAILED_SOME;
    for (const struct matte_network *network = first; network; network = matte_network_next(network)) {
        if (matte_network_ready(network) && matte_network_path(network, path))
            log_print_line(stdout, "%s is %sinstalled: %s", network->name, text_if(all, "already "), path);
        else
            log_warn("the network that finds %s is not installed; its file is in the npm archive", network->help);
    }
    if (!all)
        log_print_line(stdout, "from the npm package %s, licence %s", first->package, first->licence);
    return EXIT_OK;
}

static bool check(const struct matte_network *network)
{
    char path[PATH_MAX], why[NETWORK_WHY] = "";
    const enum matte_state state = matte_state(network, path);
    struct network *read = state == MATTE_INSTALLED ? network_open(path, why) : NULL;
    if (!read) {
        log_error("the network that finds %s is %s%s%s; run: monocle matte --install %s", network->help, states[state],
                  text_if(why[0], ", but "), why, network->name);
        return false;
    }
    network_run(read);
    const clock_t start = clock();
    network_run(read);
    log_print_line(stdout, "%s is installed: %s; %.1f ms of processor time a matte", network->name, path,
                   (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC);
    network_free(read);
    return true;
}

// Checks all networks of a program.
static int check_all(const struct matte_network *first)
{
    bool sound = true;
    for (const struct matte_network *network = first; network; network = matte_network_next(network))
        sound = check(network) && sound;
    return sound ? EXIT_OK : EXIT_NOTHING;
}

static int matte_run(int argc, char **argv)
{
    struct matte_options o = {0};
    struct command_operands operands;
    if (!command_parse(&matte_command, argc, argv, &o, 1, &operands))
        return operands.code;
    if (!o.install && !command_limit_operands(&matte_command, &operands, 0))
        return EXIT_USAGE;
    const char *name = o.install ? o.install : o.check;
    if (!name)
        return print_list();
    static const char *const names[] = {"person", "faces", NULL};
    const int index = options_choose(name, "network", names);
    if (index < 0)
        return EXIT_USAGE;
    const struct matte_network *first = matte_network_find(names[index]);
    return o.check ? check_all(first) : install(first, operands.count ? operands.word[0] : NULL);
}

const struct command matte_command = {
    .name = "matte",
    .usage = "[FILE] [options]",
    .summary = "install the networks that find people and faces",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = options,
    .complete = "file",
    .run = matte_run,
};
