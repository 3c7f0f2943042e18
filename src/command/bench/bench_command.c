// bench_command.c: the command that measures, and its options
#include "command/bench/bench_command.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/resource.h"
#include "bench/pool.h"
#include "bench/results.h"
#include "command/command.h"
#include "command/shared.h"
#include "filter/user_filter.h"

#include <stdio.h>
#include <stdlib.h>

#define AT(member) offsetof(struct bench_options, member)

static const struct option options[] = {
    CASE_OPTIONS(AT(cases)),
    {"measures", 0, OPTION_TEXT, "MEASURE,...",
     .help = "'filters': list of measures of RGBA images: histogram, columns (sums), rows (sums), levels",
     .offset = AT(measures)},
    {"path", 'p', OPTION_TEXT, "PATH,...", .help = "list of paths: " PATH_CHOICES, .offset = AT(paths)},
    DEVICE_OPTION(AT(device), "; 'device' also takes 'all'", "|all"),
    {"threads", 't', OPTION_TEXT, "N,...", .help = "list of thread counts for the cpu path", .offset = AT(threads)},
    {"pictures", 0, OPTION_INT, "N",
     .help =
         "number of input images per case; default: 1 for images up to 4 megapixels, else enough to exceed the caches",
     .offset = AT(pictures), .min = 1, .max = POOL_PICTURES_MAX},
    {"rounds", 'n', OPTION_INT, "N", .help = "measure each case N times; default: 30; 'device': 9",
     .offset = AT(rounds), .min = 1, .max = 1000, .excludes = "time"},
    {"time", 0, OPTION_NUMBER, "SECONDS",
     .help = "measure 3 to 1000 rounds for this many seconds, excluding set-up; 'device': time of all tests together",
     .offset = AT(seconds), .min = 0.1, .max = 86400},
    JSON_OPTION(AT(json), "print one JSON object per line on standard output", .excludes = "csv"),
    {"csv", 0, OPTION_FLAG, .help = "print comma-separated values with a header line", .offset = AT(csv)},
    {"compare", 'c', OPTION_TEXT, "BASE.json",
     .help = "compare with the --json output of an earlier run; exit status 1 if a case is slower",
     .offset = AT(compare), .complete = "file"},
    {"report", 'r', OPTION_TEXT, "FILE.html", .help = "write a page with charts, which needs no network",
     .offset = AT(report), .complete = "file"},
    FILTERS_OPTION(AT(filter_dir)),
    KERNELS_OPTION(AT(kernels), ""),
    {0},
};

static const char *const examples[] = {
    "monocle bench filters  measure the standard cases, each beside a plain copy or read",
    "monocle bench filters -f median -f blur=7,gray --formats nv21 --sizes 1280x720  measure two other chains",
    "monocle bench filters -p cpu --measures histogram,levels  measure only two measures",
    "monocle bench filters -p cpu --json >base.json  save the results",
    "monocle bench filters -p cpu --compare base.json  compare with the saved results",
    "monocle bench paths --sizes 1920x1080  measure whole frames on every path",
    "monocle bench variants -f blur=3  measure the generic code and each variant for blur",
    "monocle bench device  measure what the first OpenCL device can do, in about two minutes",
    "monocle bench device compute -d all --json  measure one test on all devices",
    "monocle bench device --json --report report.html >a.json  save the results, and show them as charts",
    "monocle bench device b.json --compare a.json  compare two saved results",
    NULL,
};

static const char *const details[] = {
    "device\tmeasures the speed of an OpenCL device: arithmetic, memory, launches, transfers, products of matrices, "
    "convolution, small images, compiling, GL textures, energy. Operands choose tests from the list below, or groups "
    "such as 'memory'. Each test runs in a child process, so a driver that hangs or crashes ends only this test. "
    "monocle compares each kernel's result with its own. The event clock is the clock of OpenCL's profiling events.",
    "Tables show the median of the rounds ± half the interquartile range, in % of the median; '-': skipped. 'device' "
    "measures 9 rounds, but at least 3 on a slow device. --json prints one object for each device; "
    "docs/bench.schema.json describes it.",
    "Operands that end in .json are files of saved results. monocle then reads these results and measures nothing. "
    "--compare gives a figure the verdict 'same' if the values differ by at most 3 %. Otherwise it is 'unclear' if a "
    "Mann-Whitney rank test gives p >= 0.001 (both runs need at least 8 rounds) or, for tests of a device, if the "
    "values differ by at most twice the sum of both spreads. All others are 'faster' or 'slower'. If the plain copy "
    "of a case changed in the same direction, its change is added to the 3 %. 'new' and 'missing' figures have a value "
    "in only one of the two results.",
    "Give both runs of 'device' the same --time: sizes of matrices depend on it. The base is the device of the same "
    "name (if there are several: and number), or else the first device in the file. The page of --report shows all "
    "devices, and the base, side by side.",
    "'filters', 'paths' and 'variants' measure every case once per round, and run in monocle's own process. Input "
    "images are random. Before the first round, monocle compares each case's output with the cpu path's output, "
    "computed filter by filter, and does not measure cases that differ. Each has further tests, such as "
    "'filters.speed', whose figures follow from the same rounds; --compare does not judge them.",
    "All results have the load, the average number of processes that ran in the minute before the start. If it is near "
    "the number of processors, the machine was busy.",
    NULL,
};
static const char *const exits[] = {
    "0\tall cases were measured, and --compare found no slower case",
    "1\ta case failed, --compare found a slower or missing figure, or the page cannot be written",
    "2\twrong arguments",
    "3\tthere is no such device, or the file of --compare or of results cannot be read",
    "129, 130, 143\tended by SIGHUP, SIGINT or SIGTERM",
    NULL,
};

static void print_measurements(FILE *out)
{
    fprintf(out, "\nMeasurements:\n");
    for (int i = 0; measurement_list[i]; i++) {
        char name[40];
        snprintf(name, sizeof(name), "  %s", measurement_list[i]->name);
        options_print_row(out, name, measurement_list[i]->details, 22);
    }
    fprintf(out, "\nTests of 'device' (M: 10^6, G: 10^9):\n");
    for (int i = 0; bench_tests[i]; i++) {
        char name[40], text[512];
        snprintf(name, sizeof(name), "  %s", bench_tests[i]->name);
        snprintf(text, sizeof(text), "%s: %s", bench_tests[i]->unit, bench_tests[i]->definition);
        options_print_row(out, name, text, 22);
    }
}

// ---- options that are lists ----

enum { THREADS_MAX = 256 };

static bool take_path(void *context, const char *item)
{
    struct chosen *chosen = context;
    const char *names[PATH_KINDS + 1] = {NULL};
    for (int i = 0; i < PATH_KINDS; i++)
        names[i] = path_kind_name((enum path_kind)i);
    const int path = options_choose(item, "path", names);
    chosen->path[chosen->paths++] = (enum path_kind)path;
    return path >= 0;
}

static bool take_measure(void *context, const char *item)
{
    struct chosen *chosen = context;
    const char *names[PICTURE_MEASURES + 1] = {NULL};
    for (int i = 0; i < PICTURE_MEASURES; i++)
        names[i] = picture_measures[i].name;
    const int measure = options_choose(item, "measure", names);
    if (measure >= 0)
        chosen->measure[chosen->measures++] = &picture_measures[measure];
    return measure >= 0;
}

static bool take_threads(void *context, const char *item)
{
    struct chosen *chosen = context;
    char *end;
    const long threads = strtol(item, &end, 10);
    if (*end || item[0] < '0' || item[0] > '9' || threads < 1 || threads > THREADS_MAX) {
        log_error("--threads is '%s', but must be between 1 and %d", item, THREADS_MAX);
        return false;
    }
    chosen->thread[chosen->threads++] = (int)threads;
    return true;
}

// Returns false if an option is wrong (logged).
static bool parse_lists(struct chosen *chosen, const struct bench_options *o)
{
    struct cases *cases = &chosen->cases;
    bool needs_device = false;
    chosen->pictures = o->pictures;
    if (!cases_take_sizes(cases, o->cases.sizes) || !cases_take_formats(cases, o->cases.formats) ||
        !cases_each("measures", o->measures, take_measure, chosen) ||
        !cases_each("path", o->paths, take_path, chosen) || !cases_each("threads", o->threads, take_threads, chosen))
        return false;
    for (int i = 0; i < chosen->paths; i++)
        needs_device = needs_device || path_kind_info(chosen->path[i])->needs_device;
    if (chosen->paths > 0 && !needs_device &&
        !device_options_unused(o->device, o->kernels, path_kind_name(chosen->path[0])))
        return false;
    return cases_take_chains(cases, &o->cases.filters);
}

// ---- the command ----

const char *bench_word(int index)
{
    int count = 0;
    while (measurement_list[count])
        count++;
    if (index < count)
        return measurement_list[index]->name;
    return index == count ? "device" : NULL;
}

// Returns false if there is no such measurement, or if an option belongs to another one (logged).
static bool find_measurement(struct bench *bench, const char *name)
{
    const struct bench_options *o = bench->options;
    const char *names[CASES_LIST + 1] = {NULL};
    for (int i = 0; bench_word(i); i++)
        names[i] = bench_word(i);
    const int found = options_choose(name, "measurement", names);
    bench->measurement = found >= 0 ? measurement_list[found] : NULL;
    const struct {
        const char *name;
        bool given;
    } others[] = {
        {"filter", o->cases.filters.count > 0}, {"sizes", o->cases.sizes != NULL},
        {"formats", o->cases.formats != NULL},  {"path", o->paths != NULL},
        {"threads", o->threads != NULL},        {"pictures", o->pictures > 0},
    };
    for (size_t i = 0; found >= 0 && !bench->measurement && i < sizeof(others) / sizeof(*others); i++) {
        if (!others[i].given)
            continue;
        log_error("--%s is not an option of 'bench device'; it measures the device, not filters", others[i].name);
        return false;
    }
    const bool measures = o->measures && !(bench->measurement && bench->measurement->has_measures);
    if (found >= 0 && measures)
        log_error("--measures is an option of 'bench filters'");
    return found >= 0 && !measures;
}

static int bench_run(int argc, char **argv)
{
    struct bench_options o = {0};
    struct bench bench = {.options = &o};
    struct bench_results base = {0};
    struct command_operands operands;
    if (!command_parse(&bench_command, argc, argv, &o, argc, &operands))
        return operands.code;
    if (o.kernels && !o.kernels[0])
        o.kernels = NULL;
    if (!resource_check_kernels(o.kernels) || !user_filters_load(o.filter_dir))
        return EXIT_USAGE;
    if (operands.count == 0) {
        log_error("name a measurement; usage: monocle bench %s", bench_command.usage);
        return EXIT_USAGE;
    }
    if (!find_measurement(&bench, operands.word[0]))
        return EXIT_USAGE;
    struct chosen *chosen = xalloc(sizeof(*chosen)); // too large for the stack
    int code = EXIT_USAGE;
    bench.word = operands.word + 1;
    bench.words = operands.count - 1;
    if (parse_lists(chosen, &o)) {
        process_hold_signals(CALLS_ANY); // after a signal, the results so far are printed
        code = EXIT_NOTHING;
        if (getloadavg(&bench.load, 1) != 1)
            bench.load = -1;
        bench.base = o.compare ? &base : NULL;
        if (!o.compare || results_read(&base, o.compare))
            code = figures_run(&bench, chosen);
    }
    results_free(&base);
    free(chosen);
    return code;
}

const struct command bench_command = {
    .name = "bench",
    .usage = "filters|paths|variants|device [TEST...|FILE.json...] [options]",
    .summary = "measure the speed of filters, paths, variants or devices",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = options,
    .print_more = print_measurements,
    .complete = "measurement",
    .run = bench_run,
};
