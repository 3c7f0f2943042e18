// screenshot.c: a PNG file that a thread encodes and writes
#include "sink/screenshot.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/thread.h"
#include "image/imagefile.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct screenshot {
    struct claim claim;
    char name[PATH_MAX]; // when it began; the thread may change the claim's
    char like[PATH_MAX]; // "": none
    bool created;
    struct image picture;
    pthread_t thread;
    bool running;     // the thread was not joined yet
    atomic_bool done; // the thread is done; `ok` and `why` have its result
    bool ok;
    char why[SCREENSHOT_WHY]; // the error that it logged; "": none
};

static void *run(void *context)
{
    struct screenshot *screenshot = context;
    log_keep_error(screenshot->why, sizeof(screenshot->why));
    screenshot->ok = imagefile_write_claimed(&screenshot->claim, &screenshot->picture, screenshot->like);
    log_keep_error(NULL, 0);
    if (!screenshot->ok && screenshot->created)
        file_remove(screenshot->claim.path, screenshot->claim.own);
    screenshot->done = true;
    return NULL;
}

struct screenshot *screenshot_start(const struct claim *claim, bool created, const struct image *picture,
                                    const char *like)
{
    struct screenshot *screenshot = xalloc(sizeof(*screenshot));
    if (!image_alloc(&screenshot->picture, &picture->shape)) {
        log_error("cannot write %s: out of memory", claim->path);
        if (created)
            file_remove(claim->path, claim->own);
        free(screenshot);
        return NULL;
    }
    image_copy(&screenshot->picture, picture);
    screenshot->claim = *claim;
    screenshot->created = created;
    snprintf(screenshot->name, sizeof(screenshot->name), "%s", claim->path);
    snprintf(screenshot->like, sizeof(screenshot->like), "%s", like);
    screenshot->running = thread_start(&screenshot->thread, run, screenshot, "screenshot");
    if (!screenshot->running)
        run(screenshot);
    return screenshot;
}

const char *screenshot_name(const struct screenshot *screenshot)
{
    return screenshot->name;
}

bool screenshot_done(const struct screenshot *screenshot)
{
    return screenshot->done;
}

bool screenshot_close(struct screenshot *screenshot, char name[PATH_MAX], char why[SCREENSHOT_WHY])
{
    if (screenshot->running)
        pthread_join(screenshot->thread, NULL);
    const bool ok = screenshot->ok;
    snprintf(name, PATH_MAX, "%s", screenshot->claim.path);
    if (why)
        snprintf(why, SCREENSHOT_WHY, "%s", screenshot->why);
    image_free(&screenshot->picture);
    free(screenshot);
    return ok;
}
