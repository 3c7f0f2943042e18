// options.c: the arguments of the `live` command
#include "command/live/live.h"

#include "base/log.h"
#include "base/resource.h"
#include "command/chain_operand.h"
#include "command/device_option.h"
#include "command/pixel_format.h"
#include "source/cameras.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define AT(member) offsetof(struct live_options, member)

enum { SOURCE_COLUMN = 28 };

static const struct option live_options[] = {
    {"filter", 'f', OPTION_TEXT, "CHAIN",
     .help = "filter chain to apply, such as 'blur=2,gray'; `monocle filters` lists the filters", .offset = AT(filters),
     .complete = "filter"},
    {"path", 'p', OPTION_CHOICE, .choices = PATH_CHOICES,
     .help = "path that runs the filters; default: zerocopy, or cpu if there is no OpenCL device", .offset = AT(path)},
    DEVICE_OPTION(AT(device), "", ""),
    {"threads", 't', OPTION_INT, "N", .help = "number of threads of the cpu path; default: one per CPU",
     .offset = AT(threads), .min = 1, .max = 256},
    {"size", 's', OPTION_SIZE, "WxH",
     .help = "frame size: required for raw files, requested from cameras and the test pattern", .offset = AT(size)},
    {"rate", 'r', OPTION_NUMBER, "FPS", .help = "frames per second; default: the rate of the source",
     .offset = AT(rate), .min = 0.01, .max = 1000},
    {"pixel-format", 0, OPTION_TEXT, "FORMAT",
     .help = "pixel format, such as nv12: required for raw files, requested from cameras; images are converted to it",
     .complete = "pixel-format", .offset = AT(pixel_format)},
    {"control", 0, OPTION_TEXTS, "NAME=VALUE", .help = "set a camera control, such as brightness=128; may be repeated",
     .offset = AT(controls)},
    {"list-controls", 0, OPTION_FLAG, .help = "list the camera's controls and exit", .offset = AT(list_controls)},
    {"load-controls", 0, OPTION_TEXT, "FILE", .help = "set the camera controls from FILE, written by --save-controls",
     .offset = AT(load_controls), .complete = "file"},
    {"save-controls", 0, OPTION_TEXT, "FILE", .help = "write the camera's controls to FILE at the start of the run",
     .offset = AT(save_controls), .complete = "file"},
    {"matrix", 0, OPTION_CHOICE, .choices = "auto|601|709|2020",
     .help = "matrix that converts YUV to RGB; default: auto, the matrix that the source names", .offset = AT(matrix)},
    {"range", 0, OPTION_CHOICE, .choices = "auto|limited|full",
     .help = "range of the YUV values; default: auto, the range that the source names", .offset = AT(range)},
    {"loop", 'l', OPTION_FLAG, .help = "repeat a video, an image or a list without end", .offset = AT(loop)},
    {"fast", 0, OPTION_FLAG,
     .help = "run as fast as possible, not at the source's rate or --rate; default with --headless --record",
     .offset = AT(fast)},
    {"headless", 0, OPTION_FLAG,
     .help = "run without a window, at the rate of the source unless --fast or --record is given",
     .offset = AT(headless), .excludes = "fullscreen|vsync|overlay|keys"},
    {"frames", 'n', OPTION_INT, "N",
     .help = "stop after N frames; default: 300 without a window if the source has no end", .offset = AT(frames),
     .min = 1, .max = INT_MAX},
    {"json", 'j', OPTION_FLAG, .help = "print one JSON object per line on standard output", .offset = AT(json)},
    {"screenshot", 0, OPTION_TEXT, "FILE.png", .help = "write the last frame as PNG", .offset = AT(screenshot),
     .complete = "file"},
    {"record", 'o', OPTION_TEXT, "FILE.y4m", .help = "record the filtered frames as Y4M; - means standard output",
     .offset = AT(record), .complete = "file"},
    {"virtual-camera", 0, OPTION_TEXT, "NODE",
     .help = "send the filtered frames to NODE, a V4L2 output device such as v4l2loopback's /dev/video10",
     .offset = AT(virtual_camera), .complete = "file"},
    {"trace", 0, OPTION_TEXT, "FILE.json", .help = "write a Chrome/Perfetto trace of every stage on every thread",
     .offset = AT(trace), .complete = "file"},
    {"vsync", 0, OPTION_CHOICE, .choices = "on|off", .help = "wait for the monitor before each frame; default: on",
     .offset = AT(vsync)},
    {"fullscreen", 0, OPTION_FLAG, .help = "open the window in full screen", .offset = AT(fullscreen)},
    {"overlay", 0, OPTION_CHOICE, .choices = "off|small|full|large",
     .help = "size of the overlay, which shows rates and times; default: small", .offset = AT(overlay)},
    {"keys", 0, OPTION_TEXT, "MAP", .help = "assign other keys to actions, such as 'path=P,quit=x'",
     .offset = AT(keys)},
    {"kernels", 0, OPTION_TEXT, "DIR",
     .help = "prefer kernels (.cl files) in DIR to the built-in ones, and reload them when they change",
     .environment = "MONOCLE_KERNELS", .offset = AT(kernels), .complete = "directory"},
    {"log-level", 0, OPTION_CHOICE, .choices = "silent|error|warn|info|debug",
     .help = "log level on standard error; default: warn", .offset = AT(log_level)},
    {0},
};

static const char *const examples[] = {
    "monocle live                                   show the first camera, or a moving test pattern",
    "monocle live clip.y4m -f 'blur=2,gray' --loop  repeat a video, blurred and grey",
    "monocle live photo.jpg -f emboss=nw            show an image; change the filter with keys",
    "monocle live --headless --frames 100 --json    measure 100 frames, for a script",
    "monocle live -f sepia --virtual-camera /dev/video10  send the filtered frames to other programs as a camera",
    "monocle live clip.y4m -f median --headless --record - | ffplay -  pipe the filtered video to another program",
    NULL,
};

static const char *const details[] = {
    "Press h in the window to see the keys. Without a display, or with --headless, the filters run without a window. "
    "At the end, monocle prints how long each stage took.",
    "monocle saves the last frame as monocle-0001.png, or under the next free number, if it cannot open a window or if "
    "it stops after the default 300 frames. --screenshot, --record and --virtual-camera turn this off.",
    "With --json, each line of standard output is an object with one of these events:",
    "start\tonce, before the first frame",
    "progress\tonce a second",
    "state\tafter a key, a build or a failure of a path",
    "reshaped\tthe camera changed its frame size or format",
    "error\tany failure",
    "summary\tthe last line",
    NULL,
};

static const char *const exits[] = {
    "0\tdone",
    "1\tthe source, the recording, the virtual camera or another output failed during the run",
    "2\twrong arguments",
    "3\tnothing done: no such source or device, or an output cannot be written",
    "4\tevery path failed, or the display was lost",
    "129, 130, 143\tended by SIGHUP, SIGINT or SIGTERM",
    NULL,
};

static void live_print_more(FILE *out)
{
    fprintf(out, "\nSources:\n");
    const char *row;
    for (int i = 0; (row = source_help(i)); i++) {
        char left[80];
        const char *tab = strchr(row, '\t');
        snprintf(left, sizeof(left), "  %.*s", (int)(tab - row), row);
        options_print_row(out, left, tab + 1, SOURCE_COLUMN);
    }
    char formats[PIXEL_FORMAT_LIST];
    pixel_format_list(formats);
    fprintf(out, "\nPixel formats:\n");
    options_print_row(out, "", formats, 2);
    struct keys keys;
    keys_default(&keys);
    fprintf(out, "\nKeys in the window, with their names for --keys:\n");
    keys_print(&keys, out);
}

const struct option_list live_list = {
    .command = "live",
    .usage = "[SOURCE] [options]",
    .summary = "show a camera, a video or an image through filters",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = live_options,
    .print_more = live_print_more,
    .complete = "source",
};

static bool same_file(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

// Returns true if the virtual camera is also the source.
static bool feeds_itself(const struct live_options *o)
{
    static const char prefix[] = "camera:";
    if (!o->source || strncmp(o->source, prefix, sizeof(prefix) - 1) != 0)
        return same_file(o->source, o->virtual_camera);
    return same_file(o->source + sizeof(prefix) - 1, o->virtual_camera);
}

// Returns false if two outputs would go to standard output (logged).
static bool check_stdout(struct live *live)
{
    struct live_options *o = &live->options;
    if (output_is_stdout(o->record))
        o->record = "-";
    const struct {
        bool wanted;
        const char *option;
    } rows[] = {
        {o->json, "--json"},
        {same_file(o->record, "-"), "--record"},
        {output_is_stdout(o->screenshot), "--screenshot"},
        {output_is_stdout(o->trace), "--trace"},
        {output_is_stdout(o->save_controls), "--save-controls"},
    };
    const char *first = NULL;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (!rows[i].wanted)
            continue;
        if (first) {
            log_error("%s and %s both write to standard output; use a file for one of them", first, rows[i].option);
            return false;
        }
        first = rows[i].option;
        live->stdout_taken = i > 0;
    }
    return true;
}

// Returns false if options contradict each other (logged).
static bool check_contradictions(const struct live_options *o)
{
    const bool to_stdout = same_file(o->record, "-");
    const struct {
        bool wrong;
        const char *text;
    } rows[] = {
        {to_stdout && isatty(STDOUT_FILENO), "--record - would write video to the terminal; redirect standard output"},
        {same_file(o->screenshot, "-"), "--screenshot cannot be -, only --record can; name a file"},
        {same_file(o->trace, "-"), "--trace cannot be -, only --record can; name a file"},
        {same_file(o->save_controls, "-"), "--save-controls cannot be -; name a file, or /dev/stdout to print them"},
        {same_file(o->record, o->screenshot), "--record and --screenshot name the same file; name another for one"},
        {same_file(o->record, o->trace), "--record and --trace name the same file; name another for one"},
        {same_file(o->screenshot, o->trace), "--screenshot and --trace name the same file; name another for one"},
        {feeds_itself(o), "the virtual camera cannot be its own source; name another device for one of them"},
        {same_file(o->source, "-") && o->loop, "--loop cannot repeat standard input; name a file"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (rows[i].wrong) {
            log_error("%s", rows[i].text);
            return false;
        }
    }
    return true;
}

// Returns false if the name of a screenshot or recording ends like another format's (logged).
static bool check_names(const struct live_options *o)
{
    const struct {
        const char *option, *path, *others[20], *advice, *own;
    } rows[] = {
        {"--screenshot",
         o->screenshot,
         {"jpg", "jpeg", "jpe", "bmp", "gif", "tga", "tif", "tiff", "webp", "ppm", "psd"},
         "monocle writes screenshots as PNG",
         "png"},
        {"--record",
         o->record,
         {"mp4", "m4v", "mkv", "avi", "mov", "webm", "mpg", "mpeg", "ogv", "wmv", "gif"},
         "monocle records Y4M, which ffmpeg can convert",
         "y4m"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *path = rows[i].path, *dot = path ? strrchr(path, '.') : NULL;
        for (const char *const *other = rows[i].others; dot && *other; other++) {
            if (strcasecmp(dot + 1, *other) != 0)
                continue;
            log_error("%s %s: %s; name it %.*s.%s", rows[i].option, path, rows[i].advice, (int)(dot - path), path,
                      rows[i].own);
            return false;
        }
    }
    return true;
}

// Checks the arguments and fills live->wish. Returns false if they are wrong (logged).
static bool take_options(struct live *live)
{
    struct live_options *o = &live->options;
    struct wish *wish = &live->wish;
    char error[CHAIN_ERROR];
    if (o->kernels && !o->kernels[0])
        o->kernels = NULL;
    struct source_setup setup; // discarded: only checks the name of the format
    if (!check_stdout(live) || !check_contradictions(o) || !check_names(o) ||
        !pixel_format_take(o->pixel_format, &setup) || !resource_check_kernels(o->kernels))
        return false;
    if (o->filters && !chain_parse(&wish->chain, o->filters, error)) {
        log_error("%s", error);
        return false;
    }
    keys_default(&live->keys);
    if (o->keys && !keys_remap(&live->keys, o->keys, error)) {
        log_error("--keys: %s", error);
        return false;
    }
    live_name_digits(live);
    if (o->log_level >= 0)
        log_set_level((enum log_level)o->log_level);
    live->color = (struct color){(enum color_matrix)o->matrix, (enum color_range)o->range};
    wish->kind = o->path >= 0 ? (enum path_kind)o->path : PATH_DEFAULT;
    wish->divider = 0.5f;
    wish->vsync = o->vsync != 1;
    wish->fullscreen = o->fullscreen;
    wish->overlay = o->overlay >= 0 ? (enum overlay_size)o->overlay : OVERLAY_SMALL;
    return true;
}

bool live_parse(struct live *live, int argc, char **argv, int *code)
{
    struct command_operands operands;
    live->options = (struct live_options){.path = -1, .vsync = -1, .overlay = -1, .log_level = -1};
    if (!command_parse(&live_list, argc, argv, &live->options, argc, &operands, code))
        return false;
    *code = EXIT_USAGE;
    if (!chain_operands_none(&operands, live->options.filters) || !command_limit_operands(&live_list, &operands, 1))
        return false;
    live->options.source = operands.count > 0 ? operands.word[0] : NULL;
    if (live->options.list_controls) {
        *code = cameras_print_controls(live->options.source, stdout, false) ? EXIT_OK : EXIT_NOTHING;
        return false;
    }
    return take_options(live);
}
