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

extern const struct measurement filters_measurement, paths_measurement;
const struct measurement *const measurements[] = {&filters_measurement, &paths_measurement, NULL};

#define AT(member) offsetof(struct bench_options, member)

static const struct option options[] = {
    {"filter", 'f', OPTION_TEXTS, "CHAIN",
     .help = "measure this chain; give it again for more chains, 'all' for each filter alone", .offset = AT(filters),
     .complete = "filter"},
    {"sizes", 's', OPTION_TEXT, "WxH,...", .help = "picture sizes", .offset = AT(sizes)},
    {"formats", 0, OPTION_TEXT, "FORMAT,...", .help = "pixel formats that are read: rgba, nv21, yuyv, ...",
     .offset = AT(formats)},
    {"path", 'p', OPTION_TEXT, "PATH,...", .help = "cpu, opencl or zerocopy", .offset = AT(paths)},
    DEVICE_OPTION(AT(device), "", ""),
    {"threads", 't', OPTION_TEXT, "N,...", .help = "threads of the cpu path; 1, and one per CPU, without this",
     .offset = AT(threads)},
    {"pictures", 0, OPTION_INT, "N",
     .help = "random pictures that take turns; 1 up to 4 megapixels, more than caches hold above, without this",
     .offset = AT(pictures), .min = 1, .max = BENCH_PICTURES_MAX},
    {"rounds", 'n', OPTION_INT, "N", .help = "measure everything N times; 30 without this", .offset = AT(rounds),
     .min = 1, .max = 1000, .excludes = "time"},
    {"time", 0, OPTION_NUMBER, "SECONDS",
     .help = "as many rounds as fit in this time, set-up not counted, but 3 to 1000", .offset = AT(seconds), .min = 0.1,
     .max = 86400},
    {"json", 'j', OPTION_FLAG, .help = "one JSON object per line on standard output", .offset = AT(json),
     .excludes = "csv"},
    {"csv", 0, OPTION_FLAG, .help = "comma-separated values with a line of headings", .offset = AT(csv)},
    {"compare", 'c', OPTION_TEXT, "BASE.json",
     .help = "compare with an earlier run's --json; exit status 1 if anything is slower", .offset = AT(compare),
     .complete = "file"},
    {"kernels", 0, OPTION_TEXT, "DIR", .help = "take the kernels (.cl files) that DIR has from there",
     .environment = "MONOCLE_KERNELS", .offset = AT(kernels), .complete = "directory"},
    {0},
};

static const char *const examples[] = {
    "monocle bench filters  every case of the comparison with other libraries, beside a plain copy",
    "monocle bench filters -f median -f blur=7,gray --formats nv21 --sizes 1280x720  two chains of one's own",
    "monocle bench filters -p cpu --json >base.json  figures to compare with later",
    "monocle bench filters -p cpu --compare base.json  what a change made faster or slower",
    "monocle bench paths --sizes 1920x1080  whole frames on every path, one and two in flight",
    NULL,
};

static const char *const details[] = {
    "filters: whole passes, from pictures in memory to RGBA in memory, for opencl in the device's memory and by the "
    "device's clock. Beside each stands a plain copy of the same bytes, measured in the same rounds: no pass that "
    "reads its input once and writes its output once can be much faster.",
    "paths: whole frames on each path, with all that a frame goes through from the source's memory to a texture: copy "
    "in, upload, passes, download or sharing, texture upload. With two frames in flight these overlap. The texture "
    "needs a display; without one a frame ends in memory.",
    "Pictures are random. Up to 4 megapixels one is used over and over, which large caches serve as they serve a frame "
    "fresh from a camera; of larger ones so many take turns that no cache holds them. Everything is measured once per "
    "round, beginning one further each round; figures are medians over the rounds, with the range from the 5th to the "
    "95th percentile. Each case's bytes are compared with the cpu path's, filter by filter, before it is measured.",
    "With --compare a case counts as slower or faster where a rank test (Mann-Whitney, p below 0.001) tells the "
    "rounds apart and the medians differ by more than 3 % beyond what the plain copy changed by in the same direction; "
    "that takes 8 rounds or more on both sides.",
    NULL,
};

static const struct option_list list = {
    .command = "bench",
    .usage = "filters|paths [options]",
    .summary = "measure filters or whole paths",
    .examples = examples,
    .details = details,
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
        log_error("there is no measurement '%s'; did you mean monocle bench %s?", name, nearest);
    else
        log_error("name what to measure: monocle bench %s", list.usage);
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
