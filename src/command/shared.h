// shared.h: options that several commands have
#pragma once

#include "base/json_text.h"
#include "command/command.h"
#include "path/path.h"
#include "source/source.h"
#include "stream/output_files.h"

// The options of the commands that print a list.
struct list_options {
    bool json;
};
extern const struct option list_options[];
#define LIST_JSON_HELP "print one JSON array on standard output"

// The rows of options that several commands have: `at` is the offset of the member, and `more` is a string literal that
// is appended to the common help, "" for none.
#define SHARED_ROW(row_name, short_name, row_type, placeholder, at, text, ...)                                         \
    {                                                                                                                  \
        .name = (row_name), .letter = (short_name), .type = (row_type), .value = (placeholder), .offset = (at),        \
        .help = text, __VA_ARGS__                                                                                      \
    }
#define FILTER_OPTION(at, more)                                                                                        \
    SHARED_ROW("filter", 'f', OPTION_TEXT, "CHAIN", at, "filter chain to apply, such as 'blur=2,gray'" more,           \
               .complete = "filter")
#define LOOK_OPTION(at)                                                                                                \
    SHARED_ROW("look", 0, OPTION_TEXT, "NAME", at,                                                                     \
               "chain with this name from `monocle looks`, before that of "                                            \
               "--filter",                                                                                             \
               .complete = "look", .excludes = "filter", .joins = true)
// --path with the choices of path_or_auto; the member is -1 if the user gives none.
#define PATH_OPTION(at, what)                                                                                          \
    SHARED_ROW("path", 'p', OPTION_CHOICE, NULL, at,                                                                   \
               "path that runs the " what "; default: auto, the fastest on a GPU; cpu without a GPU",                  \
               .choices = PATH_OR_AUTO_CHOICES)
#define DEVICE_OPTION(at, more, more_choices)                                                                          \
    SHARED_ROW("device", 'd', OPTION_TEXT, "DEVICE", at,                                                               \
               "OpenCL device: number, type or part of the name from `monocle devices`; default: 0" more,              \
               .environment = "MONOCLE_DEVICE", .choices = "gpu|cpu|accelerator" more_choices)
#define THREADS_OPTION(at)                                                                                             \
    SHARED_ROW("threads", 't', OPTION_INT, "N", at, "number of threads of the cpu path; default: one per CPU",         \
               .min = 1, .max = 256)
#define JSON_OPTION(at, text, ...) SHARED_ROW("json", 'j', OPTION_FLAG, NULL, at, text, __VA_ARGS__)
#define SOCKET_OPTION(at, what)                                                                                        \
    SHARED_ROW("socket", 0, OPTION_TEXT, "SOCKET", at, "make a Unix socket through which `monocle ctl` " what,         \
               .complete = "file")
#define KERNELS_OPTION(at, more)                                                                                       \
    SHARED_ROW("kernels", 0, OPTION_TEXT, "DIR", at, "prefer the kernel files (.cl) in DIR to the built-in ones" more, \
               .environment = "MONOCLE_KERNELS", .complete = "directory")
// Call user_filters_load with its value before parsing a chain.
#define FILTERS_OPTION(at)                                                                                             \
    SHARED_ROW("filters", 0, OPTION_TEXT, "DIR", at, "add the filters (.cl files) in DIR to those of monocle",         \
               .environment = "MONOCLE_FILTERS", .complete = "directory")
#define LOG_LEVEL_OPTION(at)                                                                                           \
    SHARED_ROW("log-level", 0, OPTION_CHOICE, NULL, at, "log level on standard error; default: warn",                  \
               .choices = "silent|error|warn|info|debug")

// The options that choose the mode of a source.
struct mode_options {
    struct option_size size; // 0: not given
    double rate;             // 0: not given
    const char *pixel_format;
};
#define MODE_OPTIONS(base)                                                                                             \
    SHARED_ROW("size", 's', OPTION_SIZE, "WxH", (base) + offsetof(struct mode_options, size),                          \
               "frame size: required for raw files, requested from cameras and the test pattern"),                     \
        SHARED_ROW("rate", 'r', OPTION_NUMBER, "FPS", (base) + offsetof(struct mode_options, rate),                    \
                   "frames per second; default: the rate of the source", .min = 0.01, .max = 1000),                    \
        SHARED_ROW("pixel-format", 0, OPTION_TEXT, "FORMAT", (base) + offsetof(struct mode_options, pixel_format),     \
                   "pixel format, such as nv12: required for raw files, requested from cameras; images are converted " \
                   "to it",                                                                                            \
                   .complete = "pixel-format")
#define LOOP_OPTION(at) SHARED_ROW("loop", 'l', OPTION_FLAG, NULL, at, "repeat a video, an image or a list without end")
#define CONTROL_OPTION(at)                                                                                             \
    SHARED_ROW("control", 0, OPTION_TEXTS, "NAME=VALUE", at,                                                           \
               "set a camera control, such as brightness=128; may be repeated")

// The rows of the options of a window.
#define VSYNC_OPTION(at)                                                                                               \
    SHARED_ROW("vsync", 0, OPTION_CHOICE, NULL, at, "wait for the monitor before each frame; default: on",             \
               .choices = "on|off")
#define FULLSCREEN_OPTION(at) SHARED_ROW("fullscreen", 0, OPTION_FLAG, NULL, at, "open the window in full screen")

// The options that choose cases to measure.
struct case_options {
    struct option_texts filters;
    const char *sizes, *formats; // lists, separated by commas; NULL: not given
};
#define CASE_OPTIONS(base)                                                                                             \
    SHARED_ROW("filter", 'f', OPTION_TEXTS, "CHAIN", (base) + offsetof(struct case_options, filters),                  \
               "use this filter chain; may be repeated; 'all': each filter by itself", .complete = "filter"),          \
        SHARED_ROW("sizes", 's', OPTION_TEXT, "WxH,...", (base) + offsetof(struct case_options, sizes),                \
                   "list of frame sizes, in pixels"),                                                                  \
        SHARED_ROW("formats", 0, OPTION_TEXT, "FORMAT,...", (base) + offsetof(struct case_options, formats),           \
                   "list of input pixel formats: rgba, nv21, yuyv, ...")

// The rows of the options of output files; `base`: the offset of a struct output_options.
#define OUTPUT_ROW(row_name, short_name, row_type, placeholder, base, member, ...)                                     \
    SHARED_ROW(row_name, short_name, row_type, placeholder, (base) + offsetof(struct output_options, member),          \
               __VA_ARGS__)
#define OUTPUT_OPTIONS(base)                                                                                           \
    OUTPUT_ROW("screenshot", 0, OPTION_TEXT, "FILE.png", base, screenshot, "write the last frame as PNG",              \
               .complete = "file"),                                                                                    \
        OUTPUT_ROW("record", 'o', OPTION_TEXT, "FILE.y4m", base, record,                                               \
                   "record without sound: to .y4m without loss (-: standard output), or with ffmpeg to .mp4, .mov, "   \
                   ".mkv, .webm, .gif, .webp",                                                                         \
                   .complete = "file"),                                                                                \
        OUTPUT_ROW("record-quality", 0, OPTION_INT, "N", base, record_quality,                                         \
                   "quality of an H.264, VP9 or WebP recording; default: 75", .min = 1,                                \
                   .max = RECORDING_QUALITY_BEST),                                                                     \
        OUTPUT_ROW("settle", 0, OPTION_INT, "N", base, settle,                                                         \
                   "leave out a camera's first N frames, which may be garbage; default: 2 with --record or "           \
                   "--screenshot, else 0",                                                                             \
                   .max = 1000),                                                                                       \
        OUTPUT_ROW("overwrite", 0, OPTION_FLAG, NULL, base, overwrite,                                                 \
                   "replace existing files of --record, --screenshot and --trace"),                                    \
        OUTPUT_ROW("truth", 0, OPTION_TEXT, "FILE.json", base, truth,                                                  \
                   "write the true lane lines of each frame of the source `road`", .complete = "file"),                \
        OUTPUT_ROW("trace", 0, OPTION_TEXT, "FILE.json", base, trace,                                                  \
                   "write a Chrome/Perfetto trace of every stage on every thread", .complete = "file")

// For a path that needs no device, "cpu" or "gl": returns false (logged) if the user gave -d or --kernels, with these
// values, on the command line. The variables MONOCLE_DEVICE and MONOCLE_KERNELS are allowed.
bool device_options_unused(const char *device, const char *kernels, const char *path);

// Returns false (logged) if --loop should repeat standard input. `source` may be NULL.
bool loop_option_fits(bool loop, const char *source);

// Sets the setup's size, rate and pixel format. The format "mjpeg" asks a camera for compressed frames; NULL allows
// every format. Returns false if there is no such format (logged).
bool mode_options_take(const struct mode_options *o, struct source_setup *setup);

// Returns a value of --pixel-format by its index: the names of the formats, then "mjpeg"; NULL after that.
const char *pixel_format_name(int index);

// Writes the names of all formats for messages: "rgba, nv12, ..., and mjpeg (cameras only)".
enum { PIXEL_FORMAT_LIST = 256 };
void pixel_format_list(char text[PIXEL_FORMAT_LIST]);

// Finds an operand that is not a file and continues the chain, as in "-f blur=2 gray" or "-f blur 2". `chain` is the
// value of --filter, or NULL. Returns true if there is no such operand. Otherwise logs the correct spelling and returns
// false.
bool chain_operands_none(const struct command_operands *operands, const char *chain);
