// live_options.c: the arguments of the `live` command
#include "command/live/live_options.h"

#include "base/alloc.h"
#include "base/installed_program.h"
#include "base/log.h"
#include "base/resource.h"
#include "command/looks.h"
#include "command/shared.h"
#include "filter/user_filter.h"
#include "path/path.h"
#include "sink/recording.h"
#include "source/source.h"
#include "stream/settings.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(struct live_options, member)

enum { SOURCE_COLUMN = 28 };

static const struct option live_options[] = {
    FILTER_OPTION(AT(filters), "; `monocle filters` lists the filters"),
    LOOK_OPTION(AT(look)),
    {"camera", 0, OPTION_TEXT, "CHAIN",
     .help = "filters before the look, kept when the look changes, such as mirror,rotate=90", .offset = AT(camera),
     .complete = "filter"},
    {"titles", 0, OPTION_TEXT, "CHAIN",
     .help =
         "filters after the look, kept when the look changes, such as \"overlay=logo.png,text='%H:%M':at=top-right\"",
     .offset = AT(titles), .complete = "filter"},
    {"showcase", 0, OPTION_FLAG,
     .help =
         "show one look after another until a key is pressed; default without SOURCE, --filter, --look and a camera",
     .offset = AT(showcase), .excludes = "filter|look"},
    PATH_OPTION(AT(path), "filters"),
    DEVICE_OPTION(AT(device), "", ""),
    THREADS_OPTION(AT(threads)),
    MODE_OPTIONS(AT(mode)),
    CONTROL_OPTION(AT(controls)),
    {"list-controls", 0, OPTION_FLAG, .help = "list the camera's controls and exit", .offset = AT(list_controls)},
    {"load-controls", 0, OPTION_TEXT, "FILE", .help = "set the camera controls from FILE, written by --save-controls",
     .offset = AT(load_controls), .complete = "file"},
    {"save-controls", 0, OPTION_TEXT, "FILE", .help = "write the camera's controls to FILE at the start of the run",
     .offset = AT(outputs.save_controls), .complete = "file"},
    {"matrix", 0, OPTION_CHOICE, .choices = "auto|601|709|2020",
     .help = "matrix that converts YUV to RGB; default: auto, the matrix that the source names", .offset = AT(matrix)},
    {"range", 0, OPTION_CHOICE, .choices = "auto|limited|full",
     .help = "range of the YUV values; default: auto, the range that the source names", .offset = AT(range)},
    LOOP_OPTION(AT(loop)),
    {"fast", 0, OPTION_FLAG,
     .help = "run as fast as possible, not at the source's rate or --rate; no effect with cameras; default with "
             "--headless --record",
     .offset = AT(fast)},
    {"headless", 0, OPTION_FLAG,
     .help = "run without a window, at the rate of the source unless --fast or --record is given",
     .offset = AT(headless), .excludes = "showcase|fullscreen|vsync|overlay|keys"},
    {"frames", 'n', OPTION_INT, "N",
     .help = "stop after N frames; without --loop, an image has one; default: 300 without a window if the source has "
             "no end",
     .offset = AT(frames), .min = 1, .max = INT_MAX},
    {"tune", 0, OPTION_FLAG,
     .help = "search for faster kernels while frames run, use them and store them; not for the cpu path",
     .offset = AT(settings.tune)},
    JSON_OPTION(AT(json), "print one JSON object per line on standard output"),
    OUTPUT_OPTIONS(AT(outputs)),
    {"stages", 0, OPTION_TEXT, "DIR",
     .help = "with --headless: save the first frame after each filter, with times, as a page in the new directory DIR",
     .offset = AT(stages), .complete = "directory"},
    {"recording-format", 0, OPTION_CHOICE, .choices = RECORDING_FORMATS,
     .help = "format of the recordings of the key r; default: mkv if ffmpeg is installed, else y4m",
     .offset = AT(settings.recording_format)},
    {"output-size", 0, OPTION_SIZE, "WxH",
     .help = "size of the results; images of another size are scaled; default: the first size of each output",
     .offset = AT(settings.output)},
    {"output-fit", 0, OPTION_CHOICE, .choices = OUTPUT_FITS,
     .help = "for images of another shape: letterbox adds black bars, fill cuts two sides",
     .offset = AT(settings.output_fit)},
    {"matte-wait", 0, OPTION_INT, "MS",
     .help =
         "longest wait of a camera's or stream's frame for its matte; default: until the next frame; files: no limit",
     .offset = AT(matte_wait), .max = 1000},
    {"virtual-camera", 0, OPTION_TEXTS, "NODE",
     .help =
         "send the filtered frames to NODE, a V4L2 output device (v4l2loopback) or pipewire[:NAME]; may be repeated",
     .offset = AT(virtual_camera), .complete = "file"},
    {"on-demand", 0, OPTION_FLAG,
     .help = "with --virtual-camera --headless: keep the camera closed while no program reads the virtual camera",
     .offset = AT(on_demand)},
    VSYNC_OPTION(AT(vsync)),
    FULLSCREEN_OPTION(AT(settings.fullscreen)),
    {"overlay", 0, OPTION_CHOICE, .choices = OVERLAY_CHOICES,
     .help = "size of the overlay, which shows rates and times; default: small", .offset = AT(settings.overlay)},
    {"keys", 0, OPTION_TEXT, "MAP", .help = "assign other keys to actions, such as 'path=P,quit=x'",
     .offset = AT(keys)},
    SOCKET_OPTION(AT(socket), "drives the view"),
    KERNELS_OPTION(AT(kernels), ", and reload them when they change; GL shaders are .glsl files"),
    FILTERS_OPTION(AT(filter_dir)),
    {"error-window", 0, OPTION_FLAG,
     .help = "show an error in a window, too, if the view cannot start; for the menu of a desktop",
     .offset = AT(error_window)},
    LOG_LEVEL_OPTION(AT(log_level)),
    {"no-config", 0, OPTION_FLAG,
     .help = "do not read options from the file $XDG_CONFIG_HOME/monocle/config, and keep no state of the window",
     .offset = AT(no_config)},
    {0},
};

static const char *const examples[] = {
    "monocle live                                   show the first camera, or looks on a photograph",
    "monocle live clip.y4m -f 'blur=2,gray' --loop  repeat a video, blurred and grey",
    "monocle live photo.jpg -f emboss=nw            show an image; change the filter with keys",
    "monocle live photos --loop                     show the images of a directory, 5 s each",
    "monocle live --headless --frames 100 --json    measure 100 frames, for a script",
    "monocle live -f blur=2 --tune                  find and store faster kernels while frames run",
    "monocle live -f sepia --virtual-camera /dev/video10  send the filtered frames to other programs as a camera",
    "monocle live clip.y4m -f median --headless --record - | ffplay -  pipe the filtered video to another program",
    NULL,
};

static const char *const details[] = {
    "Press h in the window to see the keys. Without a display, or with --headless, the filters run without a window. "
    "At the end, monocle prints how long each stage took.",
    "Several sources play one after another. Image files that follow one another are a slide show.",
    "If monocle cannot open a window, or stops after the default 300 frames, it saves the last frame as "
    "monocle-last.png, in place of that of an earlier run. --screenshot, --record and --virtual-camera turn this off.",
    "$XDG_CONFIG_HOME/monocle/config (default: ~/.config/monocle/config) has options for every run of `monocle live`, "
    "one 'option=value' or 'option' per line, such as 'overlay=full' or 'fullscreen'. Lines that begin with # are "
    "comments. The command line and environment variables take precedence.",
    "--tune tunes each pass of the chain that has no result for this device, driver and size, as `monocle tune` does. "
    "A thread builds and tests up to 80 configurations for each pass, at most 20 after the fastest one. A fast "
    "configuration then runs on some of the frames. It replaces the current one if it is faster by more than 2 % and "
    "by more than the noise. All frames stay correct. The tuning pauses when frames are late. When all passes are "
    "tuned, it rests until the chain, the path or the frame size changes.",
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

const struct command live_command = {
    .name = "live",
    .usage = "[SOURCE...] [options]",
    .summary = "show a camera, a video or an image through filters",
    .often = "filter|loop|record|virtual-camera|fullscreen",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = live_options,
    .print_more = live_print_more,
    .complete = "source",
    .file = "config",
    .file_offset = AT(config),
    .run = live_main,
};

void live_set_settings(const struct live_options *o, struct settings *settings)
{
    char ffmpeg[PATH_MAX];
    struct option_size none;
    memset(&none, OPTION_NOT_GIVEN, sizeof(none));
    settings->recording_format = program_find("ffmpeg", ffmpeg, sizeof(ffmpeg)) ? RECORDING_MKV : RECORDING_Y4M;
    settings->matte_wait = (float)o->matte_wait;
    if (o->vsync >= 0)
        settings->vsync = o->vsync == 0;
    for (const struct option *row = live_options; row->name; row++) {
        const size_t one = row->type == OPTION_FLAG ? sizeof(bool) : sizeof(int);
        const size_t size = row->type == OPTION_SIZE ? sizeof(none) : one;
        const unsigned char *value = (const unsigned char *)o + row->offset;
        if (row->offset >= AT(settings) && row->offset < AT(settings) + sizeof(o->settings) &&
            memcmp(value, &none, size) != 0)
            memcpy((char *)settings + (row->offset - AT(settings)), value, size);
    }
}

bool live_has_display(void)
{
    const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return (x11 && *x11) || (wayland && *wayland);
}

static bool take_filter_files(struct live_options *o)
{
    return user_filters_load(o->filter_dir);
}

static bool take_format(struct live_options *o)
{
    return mode_options_take(&o->mode, &o->setup);
}

static bool take_kernels(struct live_options *o)
{
    return resource_check_kernels(o->kernels);
}

static bool take_filter(struct live_options *o)
{
    const char *directory = options_directory(&live_command, &o->config, "filter");
    return (!o->filters && !o->look) || look_parse(o->look, o->filters, directory, &o->chain);
}

// Takes the text of a part; NULL: not given. Returns false if it is wrong (logged).
static bool take_part(struct live_options *o, enum chain_part which, const char *text)
{
    struct chain part;
    char error[CHAIN_ERROR];
    if (!text)
        return true;
    if (!look_parse_part(text, which, options_directory(&live_command, &o->config, chain_part_name(which)), &part))
        return false;
    const bool fits = chain_put_part(&o->chain, which, &part, error);
    if (!fits)
        log_error("%s", error);
    return fits;
}

static bool take_camera(struct live_options *o)
{
    if (o->camera && *o->camera && !o->camera[strspn(o->camera, "0123456789")]) {
        log_error("--camera: there is no filter '%s'; a camera needs no option: monocle live /dev/video%s", o->camera,
                  o->camera);
        return false;
    }
    return take_part(o, PART_CAMERA, o->camera);
}

static bool take_titles(struct live_options *o)
{
    return take_part(o, PART_TITLES, o->titles);
}

static bool take_keys(struct live_options *o)
{
    char error[CHAIN_ERROR];
    keys_default(&o->key_map);
    if (!o->keys || keys_remap(&o->key_map, o->keys, error))
        return true;
    log_error("--keys: %s", error);
    return false;
}

// Takes the text of an option. Returns false if it is wrong (logged, with its place in the configuration file).
static bool take_text(struct live_options *o, const char *name, bool (*take)(struct live_options *o))
{
    char place[OPTION_PLACE];
    options_place(&live_command, &o->config, name, place);
    log_set_place(place);
    const bool ok = take(o);
    log_set_place(NULL);
    return ok;
}

// Returns false if options cannot go together (logged).
static bool fitting(const struct live_options *o)
{
    char path[PATH_MAX];
    const char *source = source_path(o->source, path), *wrong = NULL;
    for (int i = 0; source && i < o->virtual_camera.count; i++)
        if (strcmp(source, o->virtual_camera.text[i]) == 0)
            wrong = "the virtual camera cannot be its own source; name another device for one of them";
    if (!wrong && o->on_demand && !(o->virtual_camera.count > 0 && o->headless))
        wrong = "--on-demand needs --virtual-camera and --headless";
    else if (o->stages && !o->headless)
        wrong = "--stages needs --headless";
    else if (!chain_size_possible(o->settings.output.width, o->settings.output.height))
        wrong = "--output-size has at most 32768 pixels on a side and 268435456 in all";
    if (wrong)
        log_error("%s", wrong);
    return !wrong && loop_option_fits(o->loop, o->source);
}

// Checks the arguments and parses the chain and the keys. Returns false if they are wrong (logged).
static bool take_options(struct live_options *o)
{
    if (o->kernels && !o->kernels[0])
        o->kernels = NULL;
    o->setup = (struct source_setup){
        .text = o->source,
        .color = {(enum color_matrix)o->matrix, (enum color_range)o->range},
        .loop = o->loop && o->playlist.count < 2,
        .show = o->showcase || (!o->headless && live_has_display()),
        .settle = output_files_settle(&o->outputs),
        .paced = !o->fast && !(o->headless && o->outputs.record), // a recording without a window takes every frame
    };
    o->setup.slides = o->setup.paced;
    if (!output_files_check(&o->outputs, o->json) || !fitting(o) || !take_text(o, "pixel-format", take_format) ||
        !take_text(o, "kernels", take_kernels) || !take_text(o, o->filters ? "filter" : "look", take_filter) ||
        !take_text(o, "camera", take_camera) || !take_text(o, "titles", take_titles) ||
        !take_text(o, "keys", take_keys))
        return false;
    log_set_level((enum log_level)o->log_level);
    return true;
}

// Takes the sources: several ones play one after another.
static void take_sources(struct live_options *o, const struct command_operands *operands)
{
    if (operands->count < 2) {
        o->source = operands->count ? operands->word[0] : NULL;
        return;
    }
    char *lines = xstrdup(operands->word[0]);
    for (int i = 1; i < operands->count; i++) {
        char *longer = xprintf("%s\n%s", lines, operands->word[i]);
        free(lines);
        lines = longer;
    }
    playlist_init(&o->playlist, lines);
    free(lines);
    o->source = playlist_take(&o->playlist, false);
}

bool live_parse(struct live_options *o, int argc, char **argv, int *code)
{
    struct command_operands operands;
    *o = (struct live_options){.path = -1, .vsync = -1, .matte_wait = -1, .log_level = LOG_WARN, .outputs.settle = -1};
    memset(&o->settings, OPTION_NOT_GIVEN, sizeof(o->settings));
    const bool parsed = command_parse(&live_command, argc, argv, o, argc, &operands);
    *code = operands.code;
    if (!parsed || !take_text(o, "filters", take_filter_files) || !chain_operands_none(&operands, o->filters))
        return false;
    take_sources(o, &operands);
    if (o->list_controls) {
        *code = source_print_controls(o->source, stdout, false) ? EXIT_OK : EXIT_NOTHING;
        return false;
    }
    return take_options(o);
}
