// live.c: the `live` command: runs a source's frames through a chain of filters, in a window or without one
#include "command/live/live.h"

#include "base/clock.h"
#include "base/log.h"
#include "image/imagefile.h"

#include <stdio.h>
#include <stdlib.h>

// Returns false if the last frame cannot be written (logged).
static bool save_last(struct live *live)
{
    const char *named = live->options.screenshot;
    if (!named && !live->saves_last)
        return true;
    const struct image *picture = lane_picture(live);
    if (!picture && (!named || command_interrupted()))
        return true; // a signal ended the run before the first picture
    if (!picture) {
        log_error("cannot write the screenshot %s: the run ended before the first frame", named);
        return false;
    }
    if (named)
        return imagefile_write_png(named, picture);
    char name[OUTPUT_NAME];
    if (!output_save_new(picture, name))
        return false;
    fprintf(stderr, "monocle: saved the last frame as %s\n", name);
    return true;
}

// Completes the recording and the screenshot after the loop; sets live->code if one fails.
static void finish(struct live *live)
{
    if (!recorder_close(&live->recorder) && live->code == EXIT_OK && !command_interrupted())
        live->code = EXIT_FAILED_SOME;
    if (live->meter.frames == 0 && live->ended && live->code == EXIT_OK) {
        log_error("the source %s has no frames", live->info->name);
        live->code = EXIT_NOTHING;
    }
    if (!save_last(live) && live->code == EXIT_OK)
        live->code = EXIT_FAILED_SOME;
}

// Returns the exit code.
static int run(struct live *live)
{
    live->meter.opened_ns = clock_now_ns();
    report_open(live);
    if (live_setup(live)) {
        live->hurried = live->window != NULL;
        command_hold_signals();
        report_start(live);
        live->reported_ns = clock_now_ns();
        if (live->window)
            live_loop_window(live);
        else
            live_loop_headless(live);
        finish(live);
        report_summary(live);
    }
    report_close(live);
    const int code = (int)live->code;
    return live_teardown(live) ? code : code | EXIT_AT_ONCE;
}

static int live_main(int argc, char **argv)
{
    struct live *live = calloc(1, sizeof(*live));
    if (!live) {
        log_error("cannot start: out of memory");
        return EXIT_NOTHING;
    }
    int code;
    if (live_parse(&live->options, argc, argv, &code))
        code = run(live);
    free(live);
    return code;
}

const struct command live_command = {.list = &live_list, .run = live_main};
