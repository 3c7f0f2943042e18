// tune.c: the command that searches for the fastest configurations, and its options
#include "base/log.h"
#include "command/shared.h"
#include "command/tune/chains.h"
#include "command/tune/replay.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tune_options {
    struct option_texts filters, search;
    const char *sizes, *formats, *device, *kernels, *budget, *t4, *replay;
    int path, seed, seeds, log_level;
    double target;
    bool json, explain;
};

#define AT(member) offsetof(struct tune_options, member)

static const struct option options[] = {
    {"filter", 'f', OPTION_TEXTS, "CHAIN",
     .help = "tune this filter chain; may be repeated; 'all': each filter by itself", .offset = AT(filters),
     .complete = "filter"},
    {"sizes", 's', OPTION_TEXT, "WxH,...", .help = "list of frame sizes, in pixels; default: 1920x1080",
     .offset = AT(sizes)},
    {"formats", 0, OPTION_TEXT, "FORMAT,...", .help = "list of input pixel formats: rgba, nv21, ...; default: rgba",
     .offset = AT(formats)},
    {"path", 'p', OPTION_CHOICE, "PATH", .choices = "opencl|zerocopy",
     .help = "tune for this path: results in memory (opencl) or in textures (zerocopy); default: opencl",
     .offset = AT(path)},
    DEVICE_OPTION(AT(device), "", ""),
    {"budget", 'b', OPTION_TEXT, "N|SECONDSs",
     .help = "limit per pass: configurations (80) or time (30s); default: all; with --replay: 80",
     .offset = AT(budget)},
    {"target", 0, OPTION_NUMBER, "MPIX", .help = "end the search when a configuration has this speed, in Mpixel/s",
     .offset = AT(target), .min = 0.001, .max = 1e9},
    {"search", 0, OPTION_TEXTS, "SEARCH", .choices = "all|" STRATEGY_CHOICES,
     .help = "search to use, see below; default: auto; with --replay: default: all, may be repeated",
     .offset = AT(search)},
    {"seed", 0, OPTION_INT, "N", .help = "seed of the search's random numbers; default: 1", .offset = AT(seed),
     .min = 1, .max = INT_MAX},
    {"explain", 0, OPTION_FLAG, .help = "also print how each parameter changed the time", .offset = AT(explain),
     .excludes = "json"},
    {"t4", 0, OPTION_TEXT, "FILE", .help = "write the results of the last pass to a T4 file, which Kernel Tuner reads",
     .offset = AT(t4), .complete = "file"},
    {"replay", 0, OPTION_TEXT, "TABLE", .help = "simulate searches on a T4 file of measured results; needs no device",
     .offset = AT(replay), .complete = "file"},
    {"seeds", 0, OPTION_INT, "K", .help = "with --replay: repeat each search with K seeds; default: 50",
     .offset = AT(seeds), .min = 1, .max = 10000},
    {"json", 'j', OPTION_FLAG,
     .help = "print one JSON object per pass, with all tried configurations; or one per replay", .offset = AT(json)},
    {"kernels", 0, OPTION_TEXT, "DIR",
     .help = "prefer kernels (.cl files) in DIR to the built-in ones, and store no result",
     .environment = "MONOCLE_KERNELS", .offset = AT(kernels), .complete = "directory"},
    {"log-level", 0, OPTION_CHOICE, .choices = "silent|error|warn|info|debug",
     .help = "log level on standard error; default: warn; info: why configurations fail", .offset = AT(log_level)},
    {0},
};

static const char *const examples[] = {
    "monocle tune -f blur=2  try all configurations for 1920x1080, rgba",
    "monocle tune -f gray,blur=5 --formats nv21,yuyv --sizes 1280x720  tune for cameras",
    "monocle tune -f all --budget 30s  tune every filter, 30 seconds for each pass",
    "monocle tuned list  list the stored results",
    "monocle tune -f blur=2 --explain  show how each parameter changes the time",
    "monocle tune -f blur=2 --t4 table.json  save all measurements",
    "monocle tune --replay table.json --budget 40  show how close each search gets with 40 configurations",
    NULL,
};

static const char *const details[] = {
    "monocle tune measures configurations (kernel variant and work-group size) of each pass of a chain on a device. "
    "It stores the fastest one. live, batch and bench use the results from their next start. A child process tests "
    "each configuration first, so monocle never uses one that crashes or computes wrong bytes. Ctrl-C ends the "
    "search; monocle then compares and stores the results so far.",
    "The table shows the median times of the default and of the best configuration, measured in turns, and the "
    "speed-up. A configuration replaces the default only if it is faster by more than 2 % and by more than the noise.",
    "--explain prints, for each parameter, the median and best time of the configurations with each value. It also "
    "prints the share of the variation of times that each parameter explains, and the pairs that explain more "
    "together.",
    "--replay needs no device. It reads the time of each configuration from a T4 results file, which --t4 or Kernel "
    "Tuner has written. The table shows the optimum's time divided by the best time found, after a quarter, half and "
    "all of the budget. 1 is the optimum. p10: 10 % of the seeds are at or below this value.",
    "The searches are:",
    "full\ttries all configurations in order",
    "random\ttries configurations in random order",
    "anneal\tsimulated annealing: moves one parameter to its next value; accepts slower configurations, often at first "
    "and later rarely",
    "mcmc\tMetropolis walk: changes one parameter; sometimes accepts a slower configuration; restarts after 25 results "
    "without a gain",
    "ils\titerated local search: changes one parameter, and continues from a faster configuration; tries "
    "configurations without a new build first; at an optimum, changes 2 or 3 parameters",
    "pool\tfills a pool with neighbours and mixtures of the best configurations, and random ones; estimates each from "
    "the nearest results, and tries the best",
    "model\tas pool, but a Gaussian process selects every second configuration by its expected gain",
    "auto\tfull without --budget and --target, or if the budget in configurations suffices for all; otherwise model",
    NULL,
};
static const char *const exits[] = {
    "0\tdone",
    "1\ta pass cannot be tuned, or a result cannot be stored or written",
    "2\twrong arguments",
    "3\tthere is no such device; or the table of --replay cannot be read or has no correct result",
    "129, 130, 143\tended by SIGHUP, SIGINT or SIGTERM",
    NULL,
};

static const struct option_list list = {
    .command = "tune",
    .usage = "-f CHAIN [options] | --replay TABLE [options]",
    .summary = "find the fastest kernels for a device",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = options,
};

struct budget {
    int count;      // of configurations; 0: no limit
    double seconds; // 0: no limit
};

static bool parse_budget(struct budget *budget, const char *text)
{
    *budget = (struct budget){0};
    if (!text)
        return true;
    char *end;
    const double number = strtod(text, &end);
    const bool seconds = strcmp(end, "s") == 0;
    if (end == text || !(number > 0 && number <= 1e6) || (!seconds && (*end || number != floor(number)))) {
        log_error("--budget is '%s', but must be a number of configurations, such as 80, or a time, such as 30s", text);
        return false;
    }
    if (seconds)
        budget->seconds = number;
    else
        budget->count = (int)number;
    return true;
}

enum { STRATEGIES_MAX = 16, REPLAY_BUDGET = 80 };

// Finds the search for a device; default: auto. False: logged.
static bool find_strategy(const struct strategy **found, const struct option_texts *search)
{
    const char *name = search->count > 0 ? search->text[0] : "auto", *names[STRATEGIES_MAX + 1] = {NULL};
    if (search->count > 1 || strcmp(name, "all") == 0) {
        log_error("several searches need --replay; name one search, such as auto");
        return false;
    }
    for (int i = 0; strategies[i] && i < STRATEGIES_MAX; i++)
        names[i] = strategies[i]->name;
    const int at = find_word(name, "search", names, "use auto");
    *found = at >= 0 ? strategies[at] : NULL;
    return at >= 0;
}

static int run_replay(const struct tune_options *o, const struct budget *budget)
{
    if (o->filters.count > 0 || o->t4 || budget->seconds > 0) {
        log_error("--replay needs no device; leave out -f, --t4 and times of --budget");
        return EXIT_USAGE;
    }
    const int count = budget->count > 0 ? budget->count : REPLAY_BUDGET;
    return replay_run(&(struct replay){o->replay, &o->search, count, o->seeds, o->json, o->explain});
}

static int tune_run(int argc, char **argv)
{
    struct tune_options o = {.seed = 1, .seeds = 50, .log_level = LOG_WARN};
    struct command_operands operands;
    struct budget budget;
    const struct strategy *strategy;
    int code;
    if (!command_parse(&list, argc, argv, &o, 0, &operands, &code))
        return code;
    log_set_level((enum log_level)o.log_level);
    if (!parse_budget(&budget, o.budget))
        return EXIT_USAGE;
    if (!o.replay && o.filters.count == 0) {
        log_error("name a chain to tune, such as -f blur=2; usage: monocle tune %s", list.usage);
        return EXIT_USAGE;
    }
    command_hold_signals(); // after a signal, the results so far are kept
    if (o.replay)
        return run_replay(&o, &budget);
    if (!find_strategy(&strategy, &o.search))
        return EXIT_USAGE;
    return tune_chains_run(&(struct tune_chains){
        .filters = &o.filters,
        .sizes = o.sizes,
        .formats = o.formats,
        .device = o.device,
        .kernels = o.kernels,
        .strategy = strategy,
        .to_image = o.path == 1,
        .seed = (uint64_t)o.seed,
        .budget = budget.count,
        .seconds = budget.seconds,
        .target_mpix_s = o.target,
        .json = o.json,
        .explain = o.explain,
        .t4 = o.t4,
    });
}

const struct command tune_command = {.list = &list, .run = tune_run};
