// lane.c: the `lane` command: finds the lane lines of a road
#include "command/lane/lane.h"

#include "base/log.h"
#include "command/shared.h"
#include "lane/score.h"
#include "matte/matte.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#define AT(member) offsetof(struct lane_options, member)

static const struct option options[] = {
    {"camera", 0, OPTION_TEXT, "KEY=VALUE,...",
     .help = "height in metres; degrees: pitch (down), yaw (right), roll, fov; default: "
             "height=1.4,pitch=4,yaw=0,roll=0,fov=62",
     .offset = AT(camera)},
    {"points", 0, OPTION_TEXT, "X,Y,X,Y,X,Y,X,Y",
     .help = "four points of the picture in place of --camera: near left, near right, far right, far left of a "
             "rectangle on the road",
     .offset = AT(points)},
    {"lane-width", 0, OPTION_NUMBER, "METRES",
     .help = "width of the own lane, which gives the camera's height; default: 3 to 3.75, or the height of --camera",
     .offset = AT(lane_width), .min = 2, .max = 6, .excludes = "points|score"},
    {"config", 0, OPTION_TEXT, "FILE.json",
     .help = "read the calibration, the lens and settings of the search from FILE.json, again when it changes",
     .offset = AT(config), .complete = "file"},
    {"calibrate", 0, OPTION_FLAG,
     .help = "move the four points with the mouse; Enter writes them to the file of --config (default: lane.json)",
     .offset = AT(calibrate),
     .excludes = "headless|json|measures|culane|screenshot|record|truth|trace|socket|score|frames|path|device"},
    {"marks", 0, OPTION_TEXT, "NAME",
     .help = "the program ~/.config/monocle/mattes/NAME makes the picture of the marks: white is paint (docs/lane.md)",
     .offset = AT(marks), .excludes = "calibrate|score"},
    PATH_OPTION(AT(path), "pipeline"),
    DEVICE_OPTION(AT(device), "", ""),
    THREADS_OPTION(AT(threads)),
    {"frames", 'n', OPTION_INT, "N",
     .help = "stop after N frames; default: 300 if the source has no end, or with --loop", .offset = AT(frames),
     .min = 1, .max = INT_MAX},
    {"fast", 0, OPTION_FLAG, .help = "run as fast as possible, not at the source's rate; no effect with cameras",
     .offset = AT(fast)},
    LOOP_OPTION(AT(loop)),
    {"independent", 0, OPTION_FLAG,
     .help = "the frames are unrelated pictures of any size: each one is a first frame; raw_file is the picture's path",
     .offset = AT(independent), .excludes = "calibrate|score"},
    {"headless", 0, OPTION_FLAG, .help = "run without a window", .offset = AT(headless)},
    JSON_OPTION(AT(json), "print one JSON object per frame on standard output"),
    {"measures", 0, OPTION_FLAG,
     .help = "with --json: also the column sums of the ridges, their histogram and its peaks (docs/lane.md)",
     .offset = AT(measures), .excludes = "calibrate|score"},
    {"culane", 0, OPTION_TEXT, "DIRECTORY",
     .help = "write the lines of each frame in CULane's format to DIRECTORY/NAME.lines.txt; existing files need "
             "--overwrite",
     .offset = AT(culane), .complete = "directory"},
    OUTPUT_OPTIONS(AT(outputs)),
    SOCKET_OPTION(AT(socket), "reads the lines and drives the run"),
    {"score", 0, OPTION_TEXT, "TRUTH.json", .help = "score the results on standard input against this truth",
     .offset = AT(score), .complete = "file", .excludes = "screenshot|record|trace|socket"},
    MODE_OPTIONS(AT(mode)),
    LOG_LEVEL_OPTION(AT(log_level)),
    {0},
};

static const char *const examples[] = {
    "monocle lane clip.y4m --headless --fast --json  find the lanes of a video, one JSON object per frame",
    "monocle lane camera --camera height=1.2,pitch=6,fov=70  find lanes with a camera at this place",
    "monocle lane camera --calibrate --config car.json  find the place of the camera by hand",
    "monocle lane clip.y4m --headless --record lines.mp4  record the video with its lines",
    "monocle lane road:level=rain --headless --fast --truth truth.json --json  find the lines of a synthetic road",
    "monocle lane --score truth.json <results.json  compare found lane lines with the truth",
    NULL,
};

static const char *const details[] = {
    "The truth and the results have TuSimple's format: one JSON object per line with raw_file, h_samples and lanes. "
    "Results without raw_file are in the order of the truth's frames. The last line has TuSimple's accuracy "
    "and rates, and CULane's F1. docs/lane.md defines them.",
    NULL,
};

static const char *const exits[] = {
    "0\tdone",
    "1\tthe source or an output failed during the run",
    "2\twrong arguments, or an impossible calibration",
    "3\tthere is no such source or device, or an output cannot be written; --calibrate: no window can be opened; "
    "--score: a file cannot be read or is "
    "not in TuSimple's format, or the files are not of the same run",
    "4\tevery path failed, or the display was lost",
    "129, 130, 143\tended by SIGHUP, SIGINT or SIGTERM",
    NULL,
};

static const struct option_list list = {
    .command = "lane",
    .usage = "[SOURCE] [options]",
    .summary = "find the lane lines of a road",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = options,
    .complete = "source",
};

// ---- the score ----

static void print_score(const struct score *s, bool json)
{
    if (json) {
        print_json(json_pack("{s:I,s:f,s:f,s:f,s:f,s:f,s:f,s:I,s:I,s:I}", "frames", (json_int_t)s->frames, "accuracy",
                             s->accuracy, "false_positives", s->false_positives, "false_negatives", s->false_negatives,
                             "f1", s->f1, "precision", s->precision, "recall", s->recall, "truth_lines",
                             (json_int_t)s->truth, "found_lines", (json_int_t)s->found, "matches",
                             (json_int_t)s->matches),
                   JSON_REAL_PRECISION(6));
        return;
    }
    printf("%zu lines in the truth, %zu found, %zu match: precision %.3f, recall %.3f\n", s->truth, s->found,
           s->matches, s->precision, s->recall);
    printf("accuracy %.3f, false positives %.3f, false negatives %.3f, F1 %.3f (%zu frame%s)\n", s->accuracy,
           s->false_positives, s->false_negatives, s->f1, s->frames, s->frames == 1 ? "" : "s");
}

// Scores the results on standard input, and prints the score as the last line. Returns the exit code.
static int run_score(const struct lane_options *o)
{
    const struct score_setup setup = {o->score, o->mode.size.width, o->mode.size.height};
    struct score score;
    if (isatty(STDIN_FILENO)) {
        log_error("--score reads results from standard input; run: monocle lane --score TRUTH.json <RESULTS.json");
        return EXIT_USAGE;
    }
    if (!score_read(&setup, stdin, &score))
        return EXIT_NOTHING;
    print_score(&score, o->json);
    return EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct lane_options o = {.path = -1, .log_level = -1, .outputs.settle = -1};
    struct command_operands operands;
    int code;
    if (!command_parse(&list, argc, argv, &o, 1, &operands, &code))
        return code;
    if (o.log_level >= 0)
        log_set_level((enum log_level)o.log_level);
    const struct path_kind_info *kind = o.path >= 0 ? path_kind_info((enum path_kind)o.path) : NULL;
    if (kind && !kind->needs_device && !device_option_unused(o.device, kind->name))
        return EXIT_USAGE;
    if (o.score && !command_limit_operands(&list, &operands, 0))
        return EXIT_USAGE;
    if (!output_files_check(&o.outputs, o.json) ||
        !loop_option_fits(o.loop, operands.count > 0 ? operands.word[0] : NULL))
        return EXIT_USAGE;
    if (o.measures && !o.json) {
        log_error("--measures prints nothing without --json; add it");
        return EXIT_USAGE;
    }
    char why[MATTE_WHY] = "the name has letters, digits, '-' and '_'";
    if (o.marks && (!matte_name_ok(o.marks) || !matte_ready(o.marks, why))) {
        log_error("--marks: %s", why);
        return EXIT_USAGE;
    }
    if (o.calibrate && !o.config)
        o.config = "lane.json";
    if (o.score)
        return run_score(&o);
    return lane_run(&o, operands.count > 0 ? operands.word[0] : NULL);
}

const struct command lane_command = {.list = &list, .run = run};
