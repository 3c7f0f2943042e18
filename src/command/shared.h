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

// The row of the option --device. `more_help` and `more_choices` are string literals that are appended to the common
// texts; "" for none.
#define DEVICE_OPTION(member_offset, more_help, more_choices)                                                          \
    {                                                                                                                  \
        .name = "device", .letter = 'd', .type = OPTION_TEXT, .value = "DEVICE", .offset = (member_offset),            \
        .help = "OpenCL device: number, type or part of the name from `monocle devices`; default: 0" more_help,        \
        .environment = "MONOCLE_DEVICE", .choices = "gpu|cpu|accelerator" more_choices,                                \
    }

// The row of the option --filters. Call user_filters_load with its value before parsing a chain.
#define FILTERS_OPTION(member_offset)                                                                                  \
    {                                                                                                                  \
        .name = "filters", .type = OPTION_TEXT, .value = "DIR", .offset = (member_offset),                             \
        .help = "add the filters (.cl files) in DIR to those of monocle", .environment = "MONOCLE_FILTERS",            \
        .complete = "directory",                                                                                       \
    }

// The rows of the options of output files; `base`: the offset of a struct output_options.
#define OUTPUT_ROW(row_name, short_name, row_type, placeholder, base, member, text, ...)                               \
    {                                                                                                                  \
        .name = (row_name), .letter = (short_name), .type = (row_type), .value = (placeholder), .help = text,          \
        .offset = (base) + offsetof(struct output_options, member), __VA_ARGS__                                        \
    }
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
        OUTPUT_ROW("overwrite", 0, OPTION_FLAG, NULL, base, overwrite,                                                 \
                   "replace existing files of --record, --screenshot and --trace", .complete = NULL),                  \
        OUTPUT_ROW("truth", 0, OPTION_TEXT, "FILE.json", base, truth,                                                  \
                   "write the true lane lines of each frame of the source `road`", .complete = "file"),                \
        OUTPUT_ROW("trace", 0, OPTION_TEXT, "FILE.json", base, trace,                                                  \
                   "write a Chrome/Perfetto trace of every stage on every thread", .complete = "file")

// For a path that needs no device, "cpu" or "gl": returns false (logged) if the user gave -d on the command line.
// `device` is the option's value. The variable MONOCLE_DEVICE is allowed.
bool device_option_unused(const char *device, const char *path);

// Sets the setup's pixel format from the value of --pixel-format. "mjpeg" asks a camera for compressed frames; NULL
// allows every format. Returns false if there is no such format (logged).
bool pixel_format_take(const char *name, struct source_setup *setup);

// Returns a value of --pixel-format by its index: the names of the formats, then "mjpeg"; NULL after that.
const char *pixel_format_name(int index);

// Writes the names of all formats for messages: "rgba, nv12, ..., and mjpeg (cameras only)".
enum { PIXEL_FORMAT_LIST = 256 };
void pixel_format_list(char text[PIXEL_FORMAT_LIST]);

// Finds an operand that is not a file and continues the chain, as in "-f blur=2 gray" or "-f blur 2". `chain` is the
// value of --filter, or NULL. Returns true if there is no such operand. Otherwise logs the correct spelling and returns
// false.
bool chain_operands_none(const struct command_operands *operands, const char *chain);
