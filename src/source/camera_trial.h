// camera_trial.h: finds out if a camera gives a picture
#pragma once

#include "source/cameras.h"

// Starts the camera and waits at most 3 s for a frame. Returns false if none arrives; `why` has the reason. Returns
// true also for a camera that another program uses, that needs permission, or that lacks bandwidth or memory: opening
// it later reports the reason. On any thread.
bool camera_gives_picture(const char *path, char why[CAMERA_WHY]);
