// made.h: the shape and rate of a source that generates its frames
#pragma once

#include "source/kind.h"

// Sets the source's shape and rate from `text`: "WxH@FPS,FORMAT" or a part of it (NULL: no part). Missing parts come
// from the setup; the defaults are 1280x720, 30 frames per second and nv12. Returns false if the text is wrong or
// contradicts the setup (logged).
bool made_open(struct source *source, const struct source_setup *setup, const char *text);
