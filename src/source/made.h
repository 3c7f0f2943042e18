// made.h: the shape and rate of a source that makes its frames
#pragma once

#include "source/kind.h"

// Sets the source's shape and rate: from `text`, "WxH@FPS,FORMAT" or a part of it (NULL: nothing), else from the setup,
// else 1280x720 at 30 frames per second in nv12. False if they are wrong or contradict each other (logged).
bool made_open(struct source *source, const struct source_setup *setup, const char *text);
