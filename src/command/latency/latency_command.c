// latency_command.c: the latency of a camera and the window: shows black, then white flashes, and waits for the
// camera's frame of each; the options and the report
#include "command/latency/latency.h"

#include "base/alloc.h"
#include "base/json_text.h"
#include "base/log.h"
#include "command/shared.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the report ----

enum { BINS_MAX = 16, BAR = 40 };

enum part { PART_ALL, PART_UNTIL_CAPTURE, PART_FROM_CAPTURE, PARTS };
static const char *const part_names[PARTS] = {"glass to glass", "flash to capture", "capture to screen"};
static const char *const part_keys[PARTS] = {"glass_to_glass", "until_capture", "from_capture"};

static double part_ms(const struct latency_sample *sample, enum part part)
{
    const int64_t ns[PARTS] = {sample->shown_ns, sample->captured_ns, sample->shown_ns - sample->captured_ns};
    return (double)ns[part] / 1e6;
}

static void collect(const struct latency *l, enum part part, struct stats *stats)
{
    stats->count = 0;
    for (int i = 0; i < l->samples; i++)
        stats_add(stats, part_ms(&l->sample[i], part));
}

static void print_line(json_t *object)
{
    print_json(object, JSON_COMPACT | JSON_REAL_PRECISION(9));
    process_flush();
}

static void latency_report_start(const struct latency *l)
{
    struct pane_facts facts;
    panes_describe(l->stream.panes, PANE_MAIN, &facts);
    if (l->options.json) {
        print_line(json_pack("{s:s,s:o,s:s,s:s,s:o}", "event", "start", "source",
                             text_json(l->stream.playback.info->name), "path", facts.kind, "sharing", facts.sharing,
                             "screen", text_json(window_gl_name(l->stream.window))));
        return;
    }
    log_print_line(stdout, "%s, path %s, sharing mode %s, %s", l->stream.playback.info->name, facts.kind, facts.sharing,
                   window_gl_name(l->stream.window));
    puts("Point the camera at the window. Press q to quit.");
    process_flush();
}

void latency_report_sample(const struct latency *l, int index)
{
    if (!l->options.json)
        return;
    json_t *object = json_object();
    json_object_set_new(object, "event", json_string("flash"));
    for (int part = 0; part < PARTS; part++) {
        char name[40];
        snprintf(name, sizeof(name), "%s_ms", part_keys[part]);
        json_object_set_new(object, name, json_thousandths(part_ms(&l->sample[index], (enum part)part)));
    }
    print_line(object);
}

static void print_summary(const struct latency *l)
{
    struct stats stats;
    json_t *object = json_pack("{s:s,s:i,s:i}", "event", "summary", "flashes", l->samples, "missed", l->missed);
    for (int part = 0; part < PARTS; part++) {
        collect(l, (enum part)part, &stats);
        json_object_set_new(object, part_keys[part],
                            json_pack("{s:o,s:o,s:o,s:o}", "min_ms", json_thousandths(stats_percentile(&stats, 0)),
                                      "median_ms", json_thousandths(stats_percentile(&stats, 50)), "p95_ms",
                                      json_thousandths(stats_percentile(&stats, 95)), "max_ms",
                                      json_thousandths(stats_percentile(&stats, 100))));
    }
    print_line(object);
}

// Returns the smallest of 1, 2, 5, 10, 20, ... ms that needs at most BINS_MAX bins.
static double bin_width(double low, double high)
{
    static const double steps[] = {1, 2, 5};
    for (double decade = 1;; decade *= 10)
        for (int i = 0; i < 3; i++) {
            const double width = steps[i] * decade;
            if (floor(high / width) - floor(low / width) < BINS_MAX)
                return width;
        }
}

static void print_histogram(const struct latency *l, const struct stats *stats)
{
    const double low = stats_percentile(stats, 0), high = stats_percentile(stats, 100), width = bin_width(low, high);
    const double first = floor(low / width);
    int count[BINS_MAX] = {0}, most = 1;
    for (int i = 0; i < l->samples; i++) {
        const int bin = (int)(floor(stats->value[i] / width) - first);
        count[bin]++;
        most = count[bin] > most ? count[bin] : most;
    }
    for (int bin = 0; bin <= (int)(floor(high / width) - first); bin++) {
        char bar[BAR + 1] = "";
        memset(bar, '#', (size_t)((count[bin] * BAR + most - 1) / most));
        printf("%5.0f to %5.0f ms %4d %s\n", (first + bin) * width, (first + bin + 1) * width, count[bin], bar);
    }
}

void latency_report(const struct latency *l)
{
    if (l->options.json) {
        print_summary(l);
        return;
    }
    struct stats stats;
    collect(l, PART_ALL, &stats);
    printf("\n");
    print_histogram(l, &stats);
    printf("\n%d flashes, %d missed\n%-25s %8s %8s %8s %8s\n", l->samples, l->missed, "ms", "min", "median", "p95",
           "max");
    for (int part = 0; part < PARTS; part++) {
        collect(l, (enum part)part, &stats);
        printf("%-25s %8.1f %8.1f %8.1f %8.1f\n", part_names[part], stats_percentile(&stats, 0),
               stats_percentile(&stats, 50), stats_percentile(&stats, 95), stats_percentile(&stats, 100));
    }
}

// ---- the command ----

enum { FLASHES_DEFAULT = 50 };

#define AT(member) offsetof(struct latency_options, member)

static const struct option options[] = {
    FILTER_OPTION(AT(filters), "; default: none"),
    PATH_OPTION(AT(path), "filters"),
    DEVICE_OPTION(AT(device), "", ""),
    MODE_OPTIONS(AT(mode)),
    CONTROL_OPTION(AT(controls)),
    {"flashes", 'n', OPTION_INT, "N", .help = "number of flashes; default: 50", .offset = AT(flashes), .min = 1,
     .max = LATENCY_FLASHES_MAX},
    VSYNC_OPTION(AT(vsync)),
    FULLSCREEN_OPTION(AT(fullscreen)),
    JSON_OPTION(AT(json), "print one JSON object per line on standard output"),
    LOG_LEVEL_OPTION(AT(log_level)),
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

static bool open_source(struct latency *l)
{
    const struct latency_options *o = &l->options;
    for (int i = 0; i < o->controls.count; i++)
        l->setting[i].text = o->controls.text[i];
    struct source_setup setup = {
        .text = l->source_text ? l->source_text : "camera",
        .controls = l->setting,
        .control_count = o->controls.count,
    };
    if (!mode_options_take(&o->mode, &setup)) {
        l->stream.code = EXIT_USAGE;
        return false;
    }
    l->stream.playback.source = source_open(&setup);
    if (!l->stream.playback.source)
        return false;
    l->stream.playback.info = source_info(l->stream.playback.source);
    return true;
}

static bool open_screen(struct latency *l)
{
    const struct image_shape *shape = &l->stream.playback.info->shape;
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
    if (open_source(l) && open_screen(l) &&
        devices_choose(&s->devices, &s->settings, &s->state, l->options.device, false) && stream_open(s) &&
        stream_build(s) && stream_start(s))
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
    log_set_level((enum log_level)o->log_level);
    settings_init(&l->stream.settings, NULL, o->path);
    if (o->filters && !chain_parse(&l->stream.settings.chain, o->filters, error)) {
        log_error("--filter: %s", error);
        return EXIT_USAGE;
    }
    stream_init(&l->stream, &(struct stream_setup){.client = &latency_client, .context = l, .depth = 1});
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
    l->options = (struct latency_options){.path = -1, .flashes = FLASHES_DEFAULT, .log_level = LOG_WARN};
    if (command_parse(&latency_command, argc, argv, &l->options, 1, &operands)) {
        l->source_text = operands.count > 0 ? operands.word[0] : NULL;
        operands.code = run(l);
    }
    if (!(operands.code & EXIT_AT_ONCE)) // with EXIT_AT_ONCE the camera's thread may still run
        free(l);
    return operands.code;
}

const struct command latency_command = {
    .name = "latency",
    .usage = "[SOURCE] [options]",
    .summary = "measure the glass-to-glass latency of a camera with a flash",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = options,
    .complete = "source",
    .run = latency_run,
};
