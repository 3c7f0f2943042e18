// lane.c: the `lane` command
#include "base/log.h"
#include "command/command.h"
#include "command/lane/score.h"

struct lane_options {
    const char *score;
    struct option_size size;
    bool json;
};

#define AT(member) offsetof(struct lane_options, member)

static const struct option options[] = {
    {"score", 0, OPTION_TEXT, "TRUTH.json", .help = "score the results on standard input against this truth",
     .offset = AT(score), .complete = "file"},
    {"size", 's', OPTION_SIZE, "WxH", .help = "size of the scored pictures; default: 1280x720", .offset = AT(size)},
    {"json", 'j', OPTION_FLAG, .help = "print one JSON object on standard output", .offset = AT(json)},
    {0},
};

static const char *const examples[] = {
    "monocle lane --score truth.json <results.json  compare found lane lines with the truth",
    NULL,
};

static const char *const details[] = {
    "Both files have TuSimple's format: one JSON object per line with raw_file, h_samples and lanes. Results without "
    "raw_file belong to the frames of the truth in order. The last line has TuSimple's accuracy and rates, and "
    "CULane's F1. docs/lane.md defines them.",
    NULL,
};

static const char *const exits[] = {
    "0\tdone",
    "1\tstandard output cannot be written",
    "2\twrong arguments",
    "3\ta file cannot be read or is not in TuSimple's format, or the files are not of the same run",
    NULL,
};

static const struct option_list list = {
    .command = "lane",
    .usage = "--score TRUTH.json <RESULTS.json",
    .summary = "score lane lines against the truth",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = options,
};

static int lane_run(int argc, char **argv)
{
    struct lane_options o = {0};
    struct command_operands operands;
    int code;
    if (!command_parse(&list, argc, argv, &o, 0, &operands, &code))
        return code;
    if (!o.score) {
        log_error("--score is missing; usage: monocle lane %s", list.usage);
        return EXIT_USAGE;
    }
    return score_run(&(struct score_setup){o.score, o.size.width, o.size.height, o.json});
}

const struct command lane_command = {.list = &list, .run = lane_run};
