// played_camera.c: see played_camera.h
#include "played_camera.h"

#include "driver.h"

bool camera_passes(struct check *check, struct source *source, const char *after)
{
    enum { PATIENCE_MS = 60000 * DRIVER_HASTE };
    struct frame frame;
    const bool came = source_next(source, &frame, PATIENCE_MS) == SOURCE_FRAME;
    if (came)
        source_return(source, &frame);
    return check_that(check, came, "a frame arrives after %s", after);
}

void camera_close_played(struct source *source)
{
    source_close(source);
    driver_finish();
}
