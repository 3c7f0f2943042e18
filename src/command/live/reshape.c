// reshape.c: changes the view to a camera's new frame size or format
#include "command/live/live.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>

enum { NOTE_S = 6 };

// A video has one frame size: closes the recording and continues in a new file beside it.
static void continue_recording(struct live *live)
{
    struct recorder *recorder = &live->recorder;
    if (!recorder->writer)
        return;
    const uint64_t frames = recorder->frames;
    char before[OUTPUT_NAME];
    snprintf(before, sizeof(before), "%s", recorder->name);
    const bool ok = recorder_continue(recorder, live->info);
    if (ok) {
        log_warn("the frame size changed: %s ends after %llu frames, and the recording continues in %s", before,
                 (unsigned long long)frames, recorder->name);
        return;
    }
    live_note(live, true, 0, "the frame size changed: recording to %s stopped after %llu frames", before,
              (unsigned long long)frames);
    log_error("%s", live->note.text);
    live->code = EXIT_FAILED_SOME;
    live->quit = !live->window;
}

// Opens the virtual camera again with the new size. A program that keeps the device open keeps the old size.
static void reopen_camera(struct live *live)
{
    if (!live->camera)
        return;
    camera_output_close(live->camera);
    live->camera = NULL;
    if (live_camera_open(live))
        return;
    live_note(live, true, 0, "the frame size changed: the virtual camera %s stopped", live->options.virtual_camera);
    live->code = EXIT_FAILED_SOME;
    live->quit = !live->window;
}

void live_reshape(struct live *live)
{
    live->reshaped = false;
    lanes_close(live);
    image_free(&live->readback);
    if (live->has_current)
        source_return(live->source, &live->current);
    live->has_current = false;
    const struct image_shape old = live->info->shape;
    if (!source_reshape(live->source)) {
        live->code = EXIT_NOTHING;
        return;
    }
    const struct image_shape *shape = &live->info->shape;
    live_note(live, false, NOTE_S, "the camera now delivers %dx%d %s", shape->width, shape->height,
              pixfmt_info(shape->format)->name);
    if (shape->width != old.width || shape->height != old.height) { // outputs depend on the size only
        continue_recording(live);
        reopen_camera(live);
    }
    if (!live->quit && !live_open_path(live)) {
        live->code = live->quit ? live->code : EXIT_DEVICE;
        return;
    }
    lanes_changed(live, false); // for the second pane of the split view
    report_reshaped(live);
    capture_resume(live->capture);
}
