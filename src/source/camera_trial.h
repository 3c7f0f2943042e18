// camera_trial.h: finds out if a camera gives a picture
#pragma once

#include "source/cameras.h"

// Starts the camera and waits at most 3 s for a frame. Returns false if none arrives; `why` has the reason. A camera
// that another program uses, or that lacks bandwidth or memory, counts as one that does: opening it reports the reason.
// On any thread.
bool camera_gives_picture(const char *path, char why[CAMERA_WHY]);
