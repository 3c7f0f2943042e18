// bench.c: the command that measures, and its options
#include "command/bench/bench.h"

#include "base/log.h"
#include "base/resource.h"
#include "command/bench/memory.h"
#include "command/command.h"
#include "command/shared.h"
#include "filter/user_filters.h"
#include "measure/measure.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct measurement *const measurements[] = {&filters_measurement, &paths_measurement, &variants_measurement,
                                                  &device_measurement, NULL};

#define AT(member) offsetof(struct bench_options, member)

static const struct option options[] = {
    {"filter", 'f', OPTION_TEXTS, "CHAIN",
     .help = "measure this filter chain; may be repeated; 'all': each filter by itself", .offset = AT(filters),
     .complete = "filter"},
    {"sizes", 's', OPTION_TEXT, "WxH,...", .help = "list of frame sizes, in pixels", .offset = AT(sizes)},
    {"formats", 0, OPTION_TEXT, "FORMAT,...", .help = "list of input pixel formats: rgba, nv21, yuyv, ...",
     .offset = AT(formats)},
    {"measures", 0, OPTION_TEXT, "MEASURE,...",
     .help = "'filters': list of measures of RGBA images: histogram, columns (sums), rows (sums), levels",
     .offset = AT(measures)},
    {"path", 'p', OPTION_TEXT, "PATH,...", .help = "list of paths: " PATH_CHOICES, .offset = AT(paths)},
    DEVICE_OPTION(AT(device), "; 'device' also takes 'all'", "|all"),
    {"threads", 't', OPTION_TEXT, "N,...", .help = "list of thread counts for the cpu path", .offset = AT(threads)},
    {"pictures", 0, OPTION_INT, "N",
     .help =
         "number of input images per case; default: 1 for images up to 4 megapixels, else enough to exceed the caches",
     .offset = AT(pictures), .min = 1, .max = BENCH_PICTURES_MAX},
    {"rounds", 'n', OPTION_INT, "N", .help = "measure each case N times; default: 30; 'device': 9",
     .offset = AT(rounds), .min = 1, .max = 1000, .excludes = "time"},
    {"time", 0, OPTION_NUMBER, "SECONDS",
     .help = "measure 3 to 1000 rounds for this many seconds, excluding set-up; 'device': time of all tests together",
     .offset = AT(seconds), .min = 0.1, .max = 86400},
    {"json", 'j', OPTION_FLAG, .help = "print one JSON object per line on standard output", .offset = AT(json),
     .excludes = "csv"},
    {"csv", 0, OPTION_FLAG, .help = "print comma-separated values with a header line", .offset = AT(csv)},
    {"compare", 'c', OPTION_TEXT, "BASE.json",
     .help = "compare with the --json output of an earlier run; exit status 1 if a case is slower",
     .offset = AT(compare), .complete = "file"},
    {"report", 'r', OPTION_TEXT, "FILE.html", .help = "'device': write a page with charts, which needs no network",
     .offset = AT(report), .complete = "file"},
    FILTERS_OPTION(AT(filter_dir)),
    {"kernels", 0, OPTION_TEXT, "DIR", .help = "prefer kernels (.cl files) in DIR to the built-in ones",
     .environment = "MONOCLE_KERNELS", .offset = AT(kernels), .complete = "directory"},
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
    "filters\ttimes whole passes, from an image in memory to RGBA in memory. On an OpenCL device, it uses the "
    "device's memory and clock; on gl, the clock of GL. The table also shows the time of a plain copy of the same "
    "number of bytes. A pass that reads its input once and writes its output once cannot be much faster than the "
    "copy. A measure only reads, so its limit is a plain read of the input on the cpu path, and a copy of half as "
    "many bytes on a device. 'levels' are the mean and the extremes, which the host computes from the histogram: only "
    "the cpu path has them. The gl path has no measures. Defaults: 11 standard chains, all measures; paths cpu and "
    "opencl; 1920x1080 and 3840x2160 on the cpu path, 7680x4320 on a GPU; 1 thread and one thread per CPU.",
    "paths\ttimes whole frames, from the source's memory to a texture, with one and with two frames in flight. The "
    "steps are copy in, upload, passes, download or sharing, and texture upload. Steps of two frames in flight "
    "overlap. The column 'after copy' has the latency without copy in, as for frames in pinned memory. Without a "
    "display, frames end in memory. Defaults: chain blur=2,gray,emboss; format nv21; all paths; "
    "640x480, 1280x720, 1920x1080 and 3840x2160; one thread per CPU.",
    "variants\ttimes the generic code of each case, and each variant that fits. A variant computes the same bytes "
    "faster on some devices or processors. The column 'x generic' shows how many times as fast it is. A chain of "
    "several passes uses the variant in every pass that it fits, and the generic code in the others. Defaults: the "
    "example of each filter; format rgba; paths and sizes as 'filters'; 1 thread.",
    "device\tmeasures the speed of an OpenCL device: arithmetic, memory, launches, transfers, products of matrices, "
    "convolution, small images, compiling, GL textures, camera frames, energy. Operands choose tests from the list "
    "below, or groups such as 'memory'. Each test runs in a child process, so a driver that hangs or crashes ends only "
    "this test. monocle compares each kernel's result with its own. The table shows the median of 9 rounds (at least 3 "
    "on a slow device) ± half the interquartile range, in % of the median; '-': skipped. The event clock is the clock "
    "of OpenCL's profiling events. --json prints one object for each device; docs/bench.schema.json describes it.",
    "Operands of 'device' that end in .json are files of saved results. monocle then reads these results and measures "
    "nothing. --compare gives a figure the verdict 'same' if the values differ by at most 3 %, 'faster' or 'slower' "
    "if they differ by more than twice the sum of both spreads, and otherwise 'unclear'. 'new' and 'missing' figures "
    "have a value in only one of the two results. Give both runs the same --time: sizes of matrices depend on it. The "
    "base is the device of the same name (if there are several: and number), or else the first device in the "
    "file. The page of --report shows all devices, and the base, side by side.",
    "'filters', 'paths' and 'variants' measure every case once per round. The table shows the median over the rounds, "
    "and the 5th and 95th percentiles. Input images are random. Before the first round, monocle compares each case's "
    "output with the cpu path's output, computed filter by filter, and skips cases that differ.",
    "All results have the load, the average number of processes that ran in the minute before the start. If it is near "
    "the number of processors, the machine was busy.",
    "For these three, --compare gives a case the verdict 'same' if the medians differ by at most 3 %, 'unclear' if a "
    "Mann-Whitney rank test gives p >= 0.001, and otherwise 'slower' or 'faster'. If the plain copy changed in the "
    "same direction, its change is added to the 3 %. Both runs need at least 8 rounds.",
    NULL,
};
static const char *const exits[] = {
    "0\tall cases were measured, and --compare found no slower case",
    "1\ta case failed, --compare found a slower case or a missing figure, or the page cannot be written",
    "2\twrong arguments",
    "3\tthere is no such device, or the file of --compare or of results cannot be read",
    "129, 130, 143\tended by SIGHUP, SIGINT or SIGTERM",
    NULL,
};

static void print_tests(FILE *out)
{
    fprintf(out, "\nTests of 'device' (M: 10^6, G: 10^9):\n");
    for (int i = 0; measure_tests[i]; i++) {
        char name[40], text[512];
        snprintf(name, sizeof(name), "  %s", measure_tests[i]->name);
        snprintf(text, sizeof(text), "%s: %s", measure_tests[i]->unit, measure_tests[i]->definition);
        options_print_row(out, name, text, 22);
    }
}

static const struct option_list list = {
    .command = "bench",
    .usage = "filters|paths|variants|device [TEST...] [options]",
    .summary = "measure the speed of filters, paths, variants or devices",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = options,
    .print_more = print_tests,
    .complete = "measurement",
};

// ---- options that are lists ----

enum { THREADS_MAX = 256 };

static bool take_path(void *context, const char *item)
{
    struct bench *bench = context;
    const char *names[PATH_KINDS + 1] = {NULL};
    for (int i = 0; i < PATH_KINDS; i++)
        names[i] = path_kind_name((enum path_kind)i);
    const int path = options_choose(item, "path", names);
    bench->path[bench->paths++] = (enum path_kind)path;
    return path >= 0;
}

static bool take_measure(void *context, const char *item)
{
    struct bench *bench = context;
    const char *names[BENCH_MEASURES + 1] = {NULL};
    for (int i = 0; i < BENCH_MEASURES; i++)
        names[i] = bench_measures[i].name;
    const int measure = options_choose(item, "measure", names);
    if (measure >= 0)
        bench->measure[bench->measures++] = &bench_measures[measure];
    return measure >= 0;
}

static bool take_threads(void *context, const char *item)
{
    struct bench *bench = context;
    char *end;
    const long threads = strtol(item, &end, 10);
    if (*end || item[0] < '0' || item[0] > '9' || threads < 1 || threads > THREADS_MAX) {
        log_error("--threads is '%s', but must be between 1 and %d", item, THREADS_MAX);
        return false;
    }
    bench->thread[bench->threads++] = (int)threads;
    return true;
}

// Returns false if an option is wrong (logged).
static bool parse_lists(struct bench *bench)
{
    const struct bench_options *o = bench->options;
    struct cases *cases = &bench->cases;
    if (!cases_take_sizes(cases, o->sizes) || !cases_take_formats(cases, o->formats) ||
        !cases_each("measures", o->measures, take_measure, bench) || !cases_each("path", o->paths, take_path, bench) ||
        !cases_each("threads", o->threads, take_threads, bench))
        return false;
    if (bench->paths > 0 && !bench_needs_device(bench) &&
        !device_option_unused(o->device, path_kind_name(bench->path[0])))
        return false;
    return cases_take_chains(cases, &o->filters);
}

// ---- the command ----

static const struct measurement *find_measurement(const char *name)
{
    const char *names[CASES_LIST + 1] = {NULL};
    for (int i = 0; measurements[i]; i++)
        names[i] = measurements[i]->name;
    const int found = options_choose(name, "measurement", names);
    return found >= 0 ? measurements[found] : NULL;
}

// Returns false if an option belongs to another measurement (logged).
static bool fits_measurement(const struct bench_options *o, const struct measurement *measurement)
{
    const bool report = o->report && measurement != &device_measurement;
    const bool measures = o->measures && measurement != &filters_measurement;
    if (report)
        log_error("--report is an option of 'bench device'");
    else if (measures)
        log_error("--measures is an option of 'bench filters'");
    return !report && !measures;
}

static int bench_run(int argc, char **argv)
{
    struct bench_options o = {0};
    struct command_operands operands;
    int code;
    if (!command_parse(&list, argc, argv, &o, argc, &operands, &code))
        return code;
    if (o.kernels && !o.kernels[0])
        o.kernels = NULL;
    if (!resource_check_kernels(o.kernels) || !user_filters_load(o.filter_dir))
        return EXIT_USAGE;
    if (operands.count == 0) {
        log_error("name a measurement; usage: monocle bench %s", list.usage);
        return EXIT_USAGE;
    }
    const struct measurement *measurement = find_measurement(operands.word[0]);
    if (!measurement || (!measurement->takes_words && !command_limit_operands(&list, &operands, 1)))
        return EXIT_USAGE;
    if (!fits_measurement(&o, measurement))
        return EXIT_USAGE;
    struct bench *bench = calloc(1, sizeof(*bench)); // too large for the stack
    if (!bench) {
        log_error("cannot measure: out of memory");
        return EXIT_USAGE;
    }
    code = EXIT_USAGE;
    tuned_init(&bench->tuned);
    bench->options = &o;
    bench->word = operands.word + 1;
    bench->words = operands.count - 1;
    if (parse_lists(bench)) {
        process_hold_signals(CALLS_ANY); // after a signal, the results so far are printed
        json_t *(*base_read)(const char *) = measurement->base_read ? measurement->base_read : bench_base_read;
        code = EXIT_NOTHING;
        bench_cpu_name(bench->cpu_name);
        if (getloadavg(&bench->load, 1) != 1)
            bench->load = -1;
        if ((!o.compare || (bench->base = base_read(o.compare))) && (bench->memory = bench_memory_open(o.pictures)))
            code = measurement->run(bench);
    }
    bench_memory_close(bench->memory);
    bench_close_device(bench);
    json_decref(bench->base);
    tuned_finish(&bench->tuned);
    free(bench);
    return code;
}

const struct command bench_command = {.list = &list, .run = bench_run};
