// tune_command.c: the command that searches for the fastest configurations, and its options
#include "base/log.h"
#include "command/shared.h"
#include "command/tune/chains.h"
#include "filter/user_filters.h"
#include "tune/study/replay.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tune_options {
    struct option_texts filters, search;
    const char *sizes, *formats, *device, *kernels, *filter_dir, *budget, *t4, *csv, *heat_map, *replay, *from;
    int path, threads, objective, seed, seeds, log_level;
    double target;
    bool json, explain, resume;
};

#define AT(member) offsetof(struct tune_options, member)

static const struct option options[] = {
    {"filter", 'f', OPTION_TEXTS, "CHAIN",
     .help = "tune this filter chain; may be repeated; 'all': each filter by itself", .offset = AT(filters),
     .complete = "filter"},
    {"from", 0, OPTION_TEXT, "DIR",
     .help = "tune the captures in DIR, which live or batch --capture wrote: their chains, frames and devices",
     .offset = AT(from), .complete = "directory", .excludes = "filter|sizes|formats|path|replay"},
    {"sizes", 's', OPTION_TEXT, "WxH,...", .help = "list of frame sizes, in pixels; default: 1920x1080",
     .offset = AT(sizes)},
    {"formats", 0, OPTION_TEXT, "FORMAT,...", .help = "list of input pixel formats: rgba, nv21, ...; default: rgba",
     .offset = AT(formats)},
    {"path", 'p', OPTION_CHOICE, "PATH", .choices = "opencl|zerocopy|cpu",
     .help = "tune for this path; opencl: results in memory; zerocopy: results in textures; default: opencl",
     .offset = AT(path)},
    {"threads", 't', OPTION_INT, "N", .help = "with -p cpu: number of threads; default: one per CPU",
     .offset = AT(threads), .min = 1, .max = 256},
    DEVICE_OPTION(AT(device), "", ""),
    {"budget", 'b', OPTION_TEXT, "N|SECONDSs",
     .help = "limit per pass: configurations (80) or time (30s); default: 80 with --search auto and --replay",
     .offset = AT(budget)},
    {"target", 0, OPTION_NUMBER, "MPIX", .help = "end the search when a configuration has this speed, in Mpixel/s",
     .offset = AT(target), .min = 0.001, .max = 1e9},
    {"objective", 0, OPTION_CHOICE, .choices = "time|energy",
     .help = "choose the configuration with the least time, or energy, per frame; default: time",
     .offset = AT(objective)},
    {"search", 0, OPTION_TEXTS, "SEARCH", .choices = "all|" STRATEGY_CHOICES,
     .help = "search to use; default: auto; with --replay: all searches; may be repeated", .offset = AT(search)},
    {"seed", 0, OPTION_INT, "N", .help = "seed of the search's random numbers; default: 1", .offset = AT(seed),
     .min = 1, .max = INT_MAX},
    {"resume", 0, OPTION_FLAG, .help = "continue an interrupted run with its logged results", .offset = AT(resume),
     .excludes = "replay"},
    {"explain", 0, OPTION_FLAG, .help = "also print how each parameter changed the time", .offset = AT(explain),
     .excludes = "json"},
    {"heat-map", 0, OPTION_TEXT, "FILE",
     .help = "draw the best time of each work-group size of the last pass, as a PNG file", .offset = AT(heat_map),
     .complete = "file", .excludes = "replay"},
    {"t4", 0, OPTION_TEXT, "FILE", .help = "write the results of the last pass to a T4 file, which Kernel Tuner reads",
     .offset = AT(t4), .complete = "file"},
    {"csv", 0, OPTION_TEXT, "FILE", .help = "write a line for each tried configuration of all passes to a CSV file",
     .offset = AT(csv), .complete = "file", .excludes = "replay"},
    {"replay", 0, OPTION_TEXT, "TABLE", .help = "simulate searches on a T4 file of measured results; needs no device",
     .offset = AT(replay), .complete = "file"},
    {"seeds", 0, OPTION_INT, "K", .help = "with --replay: repeat each search with K seeds; default: 50",
     .offset = AT(seeds), .min = 1, .max = 10000},
    {"json", 'j', OPTION_FLAG,
     .help = "print one JSON object per pass, with all tried configurations; or one per replay", .offset = AT(json)},
    FILTERS_OPTION(AT(filter_dir)),
    {"kernels", 0, OPTION_TEXT, "DIR",
     .help = "prefer kernels (.cl files) in DIR to the built-in ones, and store no result",
     .environment = "MONOCLE_KERNELS", .offset = AT(kernels), .complete = "directory"},
    {"log-level", 0, OPTION_CHOICE, .choices = "silent|error|warn|info|debug",
     .help = "log level on standard error; default: warn; info: why configurations fail", .offset = AT(log_level)},
    {0},
};

static const char *const examples[] = {
    "monocle tune -f blur=2  tune for 1920x1080, rgba",
    "monocle tune -f gray,blur=5 --formats nv21,yuyv --sizes 1280x720  tune for cameras",
    "monocle tune -f all --budget 30s  tune every filter, 30 seconds for each pass",
    "monocle tune -p cpu -f emboss --sizes 1920x1080,3840x2160  tune the cpu path",
    "monocle tune -p zerocopy -f blur=2  tune for live with the sharing mode gl-shared",
    "monocle tune --from work  tune what live or batch ran and captured in the directory work",
    "monocle tune -f blur=2 --search full  try all configurations",
    "monocle tuned list  list the stored results",
    "monocle tune -f blur=2 --explain  show how each parameter changes the time",
    "monocle tune -f all --csv tried.csv  save the time, or the failure, of each configuration",
    "monocle tune -f blur=2 --heat-map blur.png  draw the times by width and height of the work-group",
    "monocle tune -f blur=2 --t4 table.json  save all measurements",
    "monocle tune -f blur=2 --resume  continue after Ctrl-C",
    "monocle tune matmul.json --budget 60s  tune your own OpenCL kernel, which matmul.json describes",
    "monocle tune --replay table.json --budget 40  show how close each search gets with 40 configurations",
    NULL,
};

static const char *const details[] = {
    "monocle tune measures configurations (kernel variant and its parameters) of each pass of a chain on a device. "
    "It stores the fastest one. live, batch and bench use the results from their next start. A child process tests "
    "each configuration first, so monocle never uses one that crashes or computes wrong bytes. Ctrl-C ends the "
    "search; monocle then compares and stores the results so far.",
    "The table shows the median times of the default and of the best configuration, measured in turns, and the "
    "speed-up. tried: configurations tried, of all; search s: duration of the search in seconds. A configuration "
    "replaces the default only if it is faster by more than 2 % and by more than the noise.",
    "With -p cpu, a configuration is for the whole chain, this processor and this number of threads. The parameters "
    "are:",
    "BANDS\tbands of rows per thread",
    "PREFETCH\tdistance of a stencil's prefetched rows, in calls; 0: no prefetch",
    "STREAM\tnon-temporal stores of the result, for chains without a stencil: 0 no, 1 yes",
    "monocle tests these configurations without a child process, because they need no new code. The time of a frame "
    "includes one read of the result, because a result behind non-temporal stores takes longer to read.",
    "If the device has an energy counter (RAPL, NVML, or INA3221 on Jetson), tune also prints the energy per frame of "
    "the default and of the best configuration: the energy of the whole processor, GPU or board while it runs the pass "
    "without pauses. With --objective energy, the 11 fastest configurations and the default run in turns, and the one "
    "with the least energy wins. It must be better than the default by more than 2 % and by more than the noise.",
    "--explain prints, for each parameter, the median and best time of the configurations with each value. It also "
    "prints the share of the variation of times that each parameter explains, and the pairs of parameters that explain "
    "more together than alone. The value - means that the variant does not have the parameter.",
    "The parameters of kernels are:",
    "GROUP_WIDTH\twork-items per work-group in x",
    "GROUP_HEIGHT\twork-items per work-group in y",
    "ITEMS\twork-items per work-group in x, of the variant sums",
    "ROWS\trows of pixels per work-item",
    "TILE\tlocal memory for the input of a stencil: 1 no, 2 yes, 3 yes, with padding between rows",
    "CONSTANT\tconstant memory for the arguments of filters: 1 no, 2 yes",
    "live --capture DIR and batch --capture DIR write captures: a chain and a frame. --from tunes each capture for its "
    "device or the cpu path. If that device is missing, it uses device 0. The timed pixels are those of the captured "
    "frame, not random ones. A later pass reads the output of the passes before it.",
    "tune logs each result in files named *.trials in $XDG_CACHE_HOME/monocle (default: ~/.cache/monocle). If a run is "
    "interrupted, killed or fails, run it again with --resume. It then uses the logged times and failures of the same "
    "program texts, device and driver. Without --resume, a run deletes the logged results of its passes. A run that "
    "finishes removes its logs.",
    "SPEC.json describes OpenCL kernels in the T1 format, which KTT and Kernel Tuner read too: parameters with values "
    "and conditions, kernels, sizes as expressions of the parameters, and arguments. Each parameter is a macro in the "
    "kernels. The paths in KernelFile and DataSource are relative to SPEC.json. A child process compares the output of "
    "each configuration with ReferenceArguments (files), with ReferenceKernel or, by default, with the output of the "
    "default configuration. ValidationThreshold is the tolerance. GlobalSize is rounded up to a multiple of LocalSize, "
    "so kernels must test bounds. monocle stores no result of SPEC.json. Examples: share/monocle/tune.",
    "KernelSpecification may be a list of kernels. They run in order, and their times are added. An element of "
    "Arguments may be only a name: the argument with this name in an earlier kernel.",
    "The members of SPEC.json that monocle uses are:",
    "ConfigurationSpace\tTuningParameters: list of Name, Values (a list) and Default; Conditions: list of Expression, "
    "such as \"GROUP * ITEMS <= 512\"",
    "KernelSpecification\tKernelName, KernelFile, CompilerOptions, Arguments; GlobalSize and LocalSize: X, Y, Z, "
    "numbers "
    "or expressions; GlobalSizeType: OpenCL (GlobalSize counts work-items; default) or CUDA (it counts work-groups); "
    "ProblemSize: a number for expressions",
    "Arguments\tin the kernel's order: Name; Type, such as int32, float or float4; MemoryType: Vector (default), "
    "Scalar "
    "or Local; Size: elements of a Vector or Local; AccessType: ReadWrite (default), ReadOnly or WriteOnly; Output: "
    "1 in any argument: only the arguments with 1 are compared",
    "FillType\tof an argument: Constant (FillValue; default: 0), Random (0 to FillValue; default: 1), Generator "
    "(DataSource is an expression of the index i) or BinaryRaw (DataSource is a file)",
    "ReferenceKernel\tas KernelSpecification, with ValidationThreshold (default: 0.0001) and ValidationMethod: "
    "SideBySideComparison (absolute; default) or SideBySideRelativeComparison",
    "--replay needs no device. It reads the time of each configuration from a T4 results file, which --t4 or Kernel "
    "Tuner has written. The table shows the optimum's time divided by the best time found, after a quarter, half and "
    "all of the budget. 1 is the optimum. p10: 10 % of the seeds are at or below this value.",
    "The searches are:",
    "full\ttries all configurations in order",
    "random\ttries configurations in random order",
    "model\tfills a pool with neighbours and mixtures of the best configurations, and random ones; tries the best by "
    "the "
    "nearest results and, in turns, by the expected gain of a Gaussian process",
    "auto\tfull if the budget suffices for all configurations, otherwise model; default budget: 80 (other searches: "
    "no limit)",
    NULL,
};
static const char *const exits[] = {
    "0\tdone",
    "1\ta pass cannot be tuned, or a result cannot be stored or written",
    "2\twrong arguments",
    "3\tthere is no such device; or SPEC.json cannot be used; or --from has no usable capture; or the table of "
    "--replay "
    "cannot be read or has no correct result",
    "129, 130, 143\tended by SIGHUP, SIGINT or SIGTERM",
    NULL,
};

static const struct option_list list = {
    .command = "tune",
    .usage = "-f CHAIN [options] | SPEC.json [options] | --from DIR [options] | --replay TABLE [options]",
    .summary = "find the fastest kernels for a device",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = options,
    .complete = "file",
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

enum { ON_ZEROCOPY = 1, ON_CPU }; // indices of the choices of --path
enum { STRATEGIES_MAX = 16, REPLAY_BUDGET = 80, REPLAY_SEEDS = 50 };

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
    const int at = options_choose(name, "search", names);
    *found = at >= 0 ? strategies[at] : NULL;
    return at >= 0;
}

// Writes the named strategies, or all. Returns false (logged) if there is no strategy of a name.
static bool choose_strategies(const struct option_texts *search, const struct strategy *chosen[STRATEGIES_MAX + 1])
{
    enum { ALL };
    const char *names[STRATEGIES_MAX + 2] = {[ALL] = "all"};
    bool wanted[STRATEGIES_MAX + 1] = {[ALL] = search->count == 0};
    for (int i = 0; strategies[i]; i++)
        names[i + 1] = strategies[i]->name;
    for (int i = 0; i < search->count; i++) {
        const int at = options_choose(search->text[i], "search", names);
        if (at < 0)
            return false;
        wanted[at] = true;
    }
    for (int i = 0, count = 0; strategies[i]; i++) {
        if (wanted[ALL] || wanted[i + 1])
            chosen[count++] = strategies[i];
    }
    return true;
}

static int run_replay(const struct tune_options *o, const struct budget *budget)
{
    if (o->filters.count > 0 || o->t4 || budget->seconds > 0) {
        log_error("--replay does not use -f, --t4 or a time in --budget; leave them out");
        return EXIT_USAGE;
    }
    const int count = budget->count > 0 ? budget->count : REPLAY_BUDGET;
    const struct strategy *chosen[STRATEGIES_MAX + 1] = {NULL};
    return choose_strategies(&o->search, chosen)
               ? replay_run(&(struct replay){o->replay, chosen, count, o->seeds ? o->seeds : REPLAY_SEEDS, o->json,
                                             o->explain})
               : EXIT_USAGE;
}

// Returns false (logged) if an option does not apply to SPEC.json.
static bool fits_spec(const struct tune_options *o)
{
    const struct {
        const char *name;
        bool given;
    } others[] = {
        {"--filter", o->filters.count > 0},
        {"--sizes", o->sizes},
        {"--formats", o->formats},
        {"--path", o->path != 0},
        {"--from", o->from},
        {"--target", o->target > 0},
        {"--replay", o->replay},
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        if (!others[i].given)
            continue;
        log_error("%s does not apply to SPEC.json; leave it out", others[i].name);
        return false;
    }
    return true;
}

// Returns false (logged) if an option was given without the option that it belongs to.
static bool fits_others(const struct tune_options *o)
{
    const char *wrong = NULL;
    if (o->threads > 0 && (o->path != ON_CPU || o->from || o->replay))
        wrong = "--threads needs -p cpu; add it, or leave --threads out";
    else if (o->seeds > 0 && !o->replay)
        wrong = "--seeds needs --replay; use --seed for one search";
    if (wrong)
        log_error("%s", wrong);
    return !wrong;
}

static int tune_run(int argc, char **argv)
{
    struct tune_options o = {.seed = 1, .log_level = LOG_WARN};
    struct command_operands operands;
    struct budget budget;
    const struct strategy *strategy;
    int code;
    if (!command_parse(&list, argc, argv, &o, 1, &operands, &code))
        return code;
    log_set_level((enum log_level)o.log_level);
    if (!parse_budget(&budget, o.budget) || (operands.count > 0 && !fits_spec(&o)) ||
        (o.path == ON_CPU && !device_option_unused(o.device, "cpu")) || !fits_others(&o))
        return EXIT_USAGE;
    if (!o.replay && !o.from && o.filters.count == 0 && operands.count == 0) {
        log_error("name a chain to tune, such as -f blur=2; usage: monocle tune %s", list.usage);
        return EXIT_USAGE;
    }
    if (o.replay) {
        process_hold_signals(CALLS_ANY); // after a signal, the results so far are printed
        return run_replay(&o, &budget);
    }
    if (!find_strategy(&strategy, &o.search) || !user_filters_load(o.filter_dir))
        return EXIT_USAGE;
    return tune_chains_run(&(struct tune_chains){
        .from = o.from,
        .filters = &o.filters,
        .sizes = o.sizes,
        .formats = o.formats,
        .device = o.device,
        .kernels = o.kernels,
        .strategy = strategy,
        .to_image = o.path == ON_ZEROCOPY,
        .on_cpu = o.path == ON_CPU,
        .threads = o.threads,
        .seed = (uint64_t)o.seed,
        .budget = budget.count,
        .seconds = budget.seconds,
        .target_mpix_s = o.target,
        .by_energy = o.objective == 1,
        .resume = o.resume,
        .json = o.json,
        .explain = o.explain,
        .t4 = o.t4,
        .csv = o.csv,
        .heat_map = o.heat_map,
        .spec = operands.count > 0 ? operands.word[0] : NULL,
    });
}

const struct command tune_command = {.list = &list, .run = tune_run};
