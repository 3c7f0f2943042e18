// tune.c: the command that searches for the fastest configurations, and its options
#include "base/log.h"
#include "command/command.h"
#include "command/tune/replay.h"
#include "tune/search.h"

struct tune_options {
    const char *replay;
    struct option_texts search;
    int budget, seeds;
    bool json;
};

#define AT(member) offsetof(struct tune_options, member)

static const struct option options[] = {
    {"replay", 0, OPTION_TEXT, "TABLE", .help = "play searches against a table of measured results; needs no device",
     .offset = AT(replay), .complete = "file"},
    {"search", 0, OPTION_TEXTS, "SEARCH", .choices = "all|" STRATEGY_CHOICES,
     .help = "search to use, see below; may be repeated; default: all", .offset = AT(search)},
    {"budget", 0, OPTION_INT, "N", .help = "try this many configurations; default: 80", .offset = AT(budget), .min = 1,
     .max = 100000},
    {"seeds", 0, OPTION_INT, "K", .help = "repeat each search with this many seeds; default: 50", .offset = AT(seeds),
     .min = 1, .max = 10000},
    {"json", 'j', OPTION_FLAG, .help = "print one JSON object", .offset = AT(json)},
    {0},
};

static const char *const examples[] = {
    "monocle tune --replay table.json  compare all searches on a table of measured results",
    "monocle tune --replay table.json --search auto --budget 40  show how close auto gets with 40 configurations",
    "monocle tune --replay table.json --json >searches.json  save the comparison",
    NULL,
};

static const char *const details[] = {
    "A search looks for the fastest configuration of a kernel, such as its work-group size, and tries only some of all "
    "configurations. --replay needs no device: a T4 results file, as Kernel Tuner writes, has the time of each "
    "configuration. The table shows the optimum's time divided by the best time found, after a quarter, half and all "
    "of the budget. 1 is the optimum. p10: one of ten seeds is at or below this value.",
    "full\ttries all configurations in their order",
    "random\ttries configurations in random order",
    "anneal\tsimulated annealing: moves one parameter to its next value, at first often to a slower configuration",
    "mcmc\tMetropolis walk: changes one parameter, sometimes to a slower configuration; restarts when it is stuck",
    "ils\titerated local search: climbs to a neighbour that is faster, first among those that need no build; at an "
    "optimum, changes 2 or 3 parameters and climbs again",
    "pool\tselects from neighbours and mixtures of the best configurations, and random ones, by the times of the "
    "nearest "
    "results",
    "model\tas pool, but selects every second configuration by the gain that a Gaussian process expects",
    "auto\tfull if the budget suffices for all configurations, else model",
    NULL,
};
static const char *const exits[] = {
    "0\tdone",
    "1\tstandard output cannot be written",
    "2\twrong arguments",
    "3\tthe table cannot be read, or it has no correct result",
    "129, 130, 143\tended by SIGHUP, SIGINT or SIGTERM",
    NULL,
};

static const struct option_list list = {
    .command = "tune",
    .usage = "--replay TABLE [options]",
    .summary = "search for the fastest configurations",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = options,
};

static int tune_run(int argc, char **argv)
{
    struct tune_options o = {.budget = 80, .seeds = 50};
    struct command_operands operands;
    int code;
    if (!command_parse(&list, argc, argv, &o, 0, &operands, &code))
        return code;
    if (!o.replay) {
        log_error("name a table of results; usage: monocle tune %s", list.usage);
        return EXIT_USAGE;
    }
    command_hold_signals();
    return replay_run(&(struct replay){o.replay, &o.search, o.budget, o.seeds, o.json});
}

const struct command tune_command = {.list = &list, .run = tune_run};
