// watch.h: reports changed kernels in the override directory. One thread.
#pragma once

#include <stdbool.h>

struct watch;

struct watch *watch_open(const char *directory); // NULL on failure (logged)
void watch_close(struct watch *watch);           // takes NULL
// Returns true if a .cl file was written, moved in or deleted since the last call. Never waits; takes NULL.
bool watch_changed(struct watch *watch);
