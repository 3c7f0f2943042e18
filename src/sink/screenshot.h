// screenshot.h: a PNG file that a thread encodes and writes. Main thread.
#pragma once

#include "base/file.h"
#include "image/image.h"

#include <stdbool.h>

struct screenshot;

// Starts to write RGBA pixels as imagefile_write_claimed does. Copies the picture and `like`. `created`: the caller has
// created the claim's file, which is removed if this function or the thread fails. NULL: out of memory (logged).
struct screenshot *screenshot_start(const struct claim *claim, bool created, const struct image *picture,
                                    const char *like);
const char *screenshot_name(const struct screenshot *screenshot); // the claim's
bool screenshot_done(const struct screenshot *screenshot);        // true: screenshot_close does not wait
// Waits for the thread and frees the screenshot. Returns true if the file is complete; `name` is its name. Otherwise
// `why` is the error that the thread has logged; NULL: the caller does not need it.
enum { SCREENSHOT_WHY = 512 };
bool screenshot_close(struct screenshot *screenshot, char name[PATH_MAX], char why[SCREENSHOT_WHY]);
