// latency_command.c: the `latency` command: measures the time from a flash on the screen until the screen shows the
// camera's frame of it
#include "command/latency/latency.h"

#include "base/alloc.h"
#include "base/log.h"
#include "command/shared.h"

#include <stdlib.h>
#include <string.h>

enum { FLASHES_DEFAULT = 50 };

#define AT(member) offsetof(struct latency_options, member)

static const struct option options[] = {
    {"filter", 'f', OPTION_TEXT, "CHAIN", .help = "filter chain to apply to the frames; default: none",
     .offset = AT(filters), .complete = "filter"},
    {"path", 'p', OPTION_CHOICE, .choices = PATH_OR_AUTO_CHOICES,
     .help = "path that runs the filters; default: auto, the fastest, timed before the first flash",
     .offset = AT(path)},
    DEVICE_OPTION(AT(device), "", ""),
    {"size", 's', OPTION_SIZE, "WxH", .help = "frame size to request from the camera, in pixels", .offset = AT(size)},
    {"rate", 'r', OPTION_NUMBER, "FPS", .help = "frame rate to request from the camera, in frames per second",
     .offset = AT(rate), .min = 0.01, .max = 1000},
    {"pixel-format", 0, OPTION_TEXT, "FORMAT",
     .help = "pixel format to request from the camera: nv12, yuyv, ..., mjpeg", .complete = "pixel-format",
     .offset = AT(pixel_format)},
    {"control", 0, OPTION_TEXTS, "NAME=VALUE",
     .help = "set a camera control, such as auto_exposure=manual_mode; may be repeated", .offset = AT(controls)},
    {"flashes", 'n', OPTION_INT, "N", .help = "number of flashes; default: 50", .offset = AT(flashes), .min = 1,
     .max = LATENCY_FLASHES_MAX},
    {"vsync", 0, OPTION_CHOICE, .choices = "on|off", .help = "wait for the monitor before each frame; default: on",
     .offset = AT(vsync)},
    {"fullscreen", 0, OPTION_FLAG, .help = "open the window in full screen", .offset = AT(fullscreen)},
    {"json", 'j', OPTION_FLAG, .help = "print one JSON object per line on standard output", .offset = AT(json)},
    {"log-level", 0, OPTION_CHOICE, .choices = "silent|error|warn|info|debug",
     .help = "log level on standard error; default: warn", .offset = AT(log_level)},
    {0},
};

static const char *const examples[] = {
    "monocle latency  measure the first camera; point it at the window",
    "monocle latency camera:2 -s 640x480 -r 60  measure /dev/video2 in this mode",
    "monocle latency -f blur=5 -p cpu --vsync off  measure with a filter and without vertical sync",
    NULL,
};

static const char *const details[] = {
    "Point the camera at the window. First, the left half of the window turns dark and light three times. monocle "
    "learns from this which part of the camera's image shows the window. Then the right half of the window shows the "
    "camera's image, and the left half flashes at random times.",
    "A measurement starts at the buffer swap that shows the flash. It ends at the buffer swap that shows the first "
    "frame with more than half of the flash's brightness. The result contains the delay of the monitor once.",
    NULL,
};

static const char *const exits[] = {
    "0\tthe measurement is complete",
    "1\tthe camera lost the flash during the measurement, or the source ended",
    "2\twrong arguments",
    "3\tthere is no camera or no display, or the camera does not see the flash",
    "4\tthe device or the display was lost",
    "129, 130, 143\tended by SIGHUP, SIGINT or SIGTERM",
    NULL,
};

static const struct option_list list = {
    .command = "latency",
    .usage = "[SOURCE] [options]",
    .summary = "measure the glass-to-glass latency of a camera with a flash",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = options,
    .complete = "source",
};

static bool open_source(struct latency *l)
{
    const struct latency_options *o = &l->options;
    for (int i = 0; i < o->controls.count; i++)
        l->setting[i].text = o->controls.text[i];
    struct source_setup setup = {
        .text = l->source_text ? l->source_text : "camera",
        .width = o->size.width,
        .height = o->size.height,
        .rate = o->rate,
        .controls = l->setting,
        .control_count = o->controls.count,
    };
    if (!pixel_format_take(o->pixel_format, &setup)) {
        l->stream.code = EXIT_USAGE;
        return false;
    }
    l->stream.source = source_open(&setup);
    if (!l->stream.source)
        return false;
    l->stream.info = source_info(l->stream.source);
    return true;
}

static bool open_screen(struct latency *l)
{
    const struct image_shape *shape = &l->stream.info->shape;
    char why[256];
    struct window_setup setup = {.title = "monocle latency",
                                 .width = shape->width,
                                 .height = shape->height,
                                 .fullscreen = l->options.fullscreen,
                                 .vsync = l->options.vsync == 0};
    window_enlarge(&setup);
    device_drivers_start();
    l->stream.window = l->stream.devices.window = window_open(&setup, why);
    if (!l->stream.window) {
        log_error("cannot open a window for the flash: %s; run this command on a display", why);
        return false;
    }
    l->renderer = renderer_open();
    const struct image_shape rgba = {.width = shape->width, .height = shape->height};
    return l->renderer && image_alloc(&l->flash, &rgba);
}

static bool setup(struct latency *l)
{
    struct stream *s = &l->stream;
    const struct device_choice choice = {l->options.device, false};
    if (open_source(l) && open_screen(l) && devices_choose(&s->devices, &s->settings, &s->state, &choice) &&
        stream_open(s) && stream_build(s) && stream_start(s))
        return true;
    s->code = s->code != EXIT_OK ? s->code : EXIT_NOTHING;
    return false;
}

// False if something cannot be closed: the caller exits with EXIT_AT_ONCE.
static bool teardown(struct latency *l)
{
    if (!stream_close(&l->stream))
        return false;
    renderer_close(l->renderer);
    window_close(l->stream.window);
    image_free(&l->flash);
    return true;
}

static int run(struct latency *l)
{
    const struct latency_options *o = &l->options;
    char error[CHAIN_ERROR];
    if (o->log_level >= 0)
        log_set_level((enum log_level)o->log_level);
    settings_init(&l->stream.settings, NULL, o->path);
    if (o->filters && !chain_parse(&l->stream.settings.chain, o->filters, error)) {
        log_error("--filter: %s", error);
        return EXIT_USAGE;
    }
    l->stream.set = (struct stream_setup){.client = &latency_client, .context = l, .depth = 1};
    if (setup(l)) {
        process_hold_signals(CALLS_MAIN);
        latency_report_start(l);
        const bool measured = latency_measure(l);
        status_line_end(&l->status_line);
        if (measured)
            latency_report(l);
    }
    const int code = (int)l->stream.code;
    return teardown(l) ? code : code | EXIT_AT_ONCE;
}

static int latency_run(int argc, char **argv)
{
    struct latency *l = xalloc(sizeof(*l)); // too large for the stack
    struct command_operands operands;
    l->options = (struct latency_options){.path = -1, .flashes = FLASHES_DEFAULT, .log_level = -1};
    int code;
    if (command_parse(&list, argc, argv, &l->options, 1, &operands, &code)) {
        l->source_text = operands.count > 0 ? operands.word[0] : NULL;
        code = run(l);
    }
    if (!(code & EXIT_AT_ONCE)) // with EXIT_AT_ONCE the camera's thread may still run
        free(l);
    return code;
}

const struct command latency_command = {.list = &list, .run = latency_run};
