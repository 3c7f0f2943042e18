// bench.c: the command that measures
#include "command/bench/bench.h"

#include "base/log.h"
#include "base/resource.h"
#include "command/bench/memory.h"
#include "command/command.h"
#include "command/device_option.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct measurement filters_measurement, paths_measurement, variants_measurement;
const struct measurement *const measurements[] = {&filters_measurement, &paths_measurement, &variants_measurement,
                                                  NULL};

#define AT(member) offsetof(struct bench_options, member)

static const struct option options[] = {
    {"filter", 'f', OPTION_TEXTS, "CHAIN",
     .help = "measure this filter chain; may be repeated; 'all': each filter by itself", .offset = AT(filters),
     .complete = "filter"},
    {"sizes", 's', OPTION_TEXT, "WxH,...", .help = "list of frame sizes, in pixels", .offset = AT(sizes)},
    {"formats", 0, OPTION_TEXT, "FORMAT,...", .help = "list of input pixel formats: rgba, nv21, yuyv, ...",
     .offset = AT(formats)},
    {"path", 'p', OPTION_TEXT, "PATH,...", .help = "list of paths: " PATH_CHOICES, .offset = AT(paths)},
    DEVICE_OPTION(AT(device), "", ""),
    {"threads", 't', OPTION_TEXT, "N,...", .help = "list of thread counts for the cpu path", .offset = AT(threads)},
    {"pictures", 0, OPTION_INT, "N",
     .help = "number of input images per case; default: 1 up to 4 megapixels, else enough to exceed the caches",
     .offset = AT(pictures), .min = 1, .max = BENCH_PICTURES_MAX},
    {"rounds", 'n', OPTION_INT, "N", .help = "measure each case N times; default: 30", .offset = AT(rounds), .min = 1,
     .max = 1000, .excludes = "time"},
    {"time", 0, OPTION_NUMBER, "SECONDS", .help = "measure 3 to 1000 rounds for this many seconds, excluding set-up",
     .offset = AT(seconds), .min = 0.1, .max = 86400},
    {"json", 'j', OPTION_FLAG, .help = "print one JSON object per line on standard output", .offset = AT(json),
     .excludes = "csv"},
    {"csv", 0, OPTION_FLAG, .help = "print comma-separated values with a header line", .offset = AT(csv)},
    {"compare", 'c', OPTION_TEXT, "BASE.json",
     .help = "compare with the --json output of an earlier run; exit status 1 if a case is slower",
     .offset = AT(compare), .complete = "file"},
    {"kernels", 0, OPTION_TEXT, "DIR", .help = "prefer kernels (.cl files) in DIR to the built-in ones",
     .environment = "MONOCLE_KERNELS", .offset = AT(kernels), .complete = "directory"},
    {0},
};

static const char *const examples[] = {
    "monocle bench filters  measure the 8 standard cases, each beside a plain copy",
    "monocle bench filters -f median -f blur=7,gray --formats nv21 --sizes 1280x720  measure two other chains",
    "monocle bench filters -p cpu --json >base.json  save the results",
    "monocle bench filters -p cpu --compare base.json  compare with the saved results",
    "monocle bench paths --sizes 1920x1080  measure whole frames on every path",
    "monocle bench variants -f blur=3  measure the generic code and each variant for blur",
    NULL,
};

static const char *const details[] = {
    "filters\ttimes whole passes, from an image in memory to RGBA in memory. On an OpenCL device, it uses the "
    "device's "
    "memory and clock. The table also shows the time of a plain copy of the same number of bytes. A pass that reads "
    "its input "
    "once and writes its output once cannot be much faster than the copy. "
    "Defaults: 8 standard cases; paths cpu and opencl; 1920x1080 and 3840x2160 on the cpu path, 7680x4320 on a GPU; 1 "
    "thread and one thread per CPU.",
    "paths\ttimes whole frames, from the source's memory to a texture, with one and with two frames in flight. The "
    "steps "
    "are copy in, upload, passes, download or sharing, and texture upload. Steps of two frames in flight overlap. "
    "Without a display, frames end in memory. "
    "Defaults: chain blur=2,gray,emboss; format nv21; all paths; 640x480, 1280x720, 1920x1080 and 3840x2160; one "
    "thread per CPU.",
    "variants\ttimes the generic code of each case, and each variant that fits. A variant computes the same bytes "
    "faster "
    "on some devices or processors. The column 'x generic' shows how many times as fast it is. A chain of several "
    "passes "
    "uses the variant in every pass that it fits, and the generic code in the others. "
    "Defaults: the example of each filter; format rgba; paths and sizes as 'filters'; 1 thread.",
    "Each round measures every case once. The table shows the median over the rounds, and the 5th and 95th "
    "percentiles. "
    "Input images are random. Before the first round, monocle compares each case's output with the cpu path's "
    "output, "
    "computed filter by filter, and skips cases that differ.",
    "--compare gives a case the verdict 'slower' or 'faster' if a Mann-Whitney rank test gives p < 0.001 and the "
    "medians differ by more than 3 %. If the plain copy changed in the same direction, its change is added to the 3 %. "
    "Both "
    "runs "
    "need at least 8 rounds.",
    NULL,
};
static const char *const exits[] = {
    "0\tall cases were measured, and --compare found no slower case",
    "1\ta case failed, or --compare found a slower case",
    "2\twrong arguments",
    "3\tthere is no such device, or the file of --compare cannot be read",
    "129, 130, 143\tended by SIGHUP, SIGINT or SIGTERM",
    NULL,
};

static const struct option_list list = {
    .command = "bench",
    .usage = "filters|paths|variants [options]",
    .summary = "measure the speed of filters, paths or variants",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = options,
    .complete = "measurement",
};

static const struct measurement *find_or_suggest(const char *name)
{
    const char *names[BENCH_LIST + 1] = {NULL};
    for (int i = 0; measurements[i]; i++) {
        if (name && strcmp(measurements[i]->name, name) == 0)
            return measurements[i];
        names[i] = measurements[i]->name;
    }
    const char *nearest = name ? options_nearest(name, names) : NULL;
    if (nearest)
        log_error("unknown measurement '%s'; did you mean monocle bench %s?", name, nearest);
    else
        log_error("name a measurement; usage: monocle bench %s", list.usage);
    return NULL;
}

static int bench_run(int argc, char **argv)
{
    struct bench_options o = {0};
    struct command_operands operands;
    int code;
    if (!command_parse(&list, argc, argv, &o, 1, &operands, &code))
        return code;
    if (o.kernels && !o.kernels[0])
        o.kernels = NULL;
    if (!resource_check_kernels(o.kernels))
        return EXIT_USAGE;
    const struct measurement *measurement = find_or_suggest(operands.count > 0 ? operands.word[0] : NULL);
    struct bench_wish *wish = calloc(1, sizeof(*wish)); // too large for the stack
    if (measurement && !wish)
        log_error("cannot measure: out of memory");
    code = EXIT_USAGE;
    if (measurement && wish && bench_parse_lists(wish, &o)) {
        command_hold_signals(); // what has been measured is reported
        code = measurement->run(wish);
    }
    free(wish);
    return code;
}

extern const struct command bench_command;
const struct command bench_command = {.list = &list, .run = bench_run};
