// camera.c: writes the filtered frames to a virtual camera
#include "command/live/live.h"

#include "base/clock.h"

bool live_camera_open(struct live *live)
{
    const char *node = live->options.virtual_camera;
    const struct image_shape *shape = &live->info->shape;
    if (!node)
        return true;
    live->camera = camera_output_open(node, shape->width, shape->height, live->info->rate);
    return live->camera != NULL;
}

// Closes the virtual camera. A window stays open; a run without a window ends.
static void give_up(struct live *live, const char *why)
{
    live_note(live, true, 0, "virtual camera %s stopped: %s", camera_output_name(live->camera), why);
    camera_output_close(live->camera);
    live->camera = NULL;
    live->code = EXIT_FAILED_SOME;
    live->quit = !live->window;
}

void live_camera_feed(struct live *live, uint64_t number)
{
    if (!live->camera)
        return;
    const int64_t start = clock_now_ns();
    const struct lane *lane = &live->lane[LANE_MAIN];
    if (!lane->has_result || !lane->result.encoded.plane[0])
        return;
    image_copy(camera_output_picture(live->camera), &lane->result.encoded);
    if (!camera_output_send(live->camera))
        give_up(live, "the device accepts no more frames");
    meter_host(&live->meter, "main", "virtual camera", start, clock_now_ns(), number);
}
