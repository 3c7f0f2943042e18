// watch.h: tells when a kernel in the override directory was saved
#pragma once

#include <stdbool.h>

struct watch;

struct watch *watch_open(const char *directory); // NULL on failure (logged)
void watch_close(struct watch *watch);           // takes NULL
// Whether any .cl file was written, renamed or removed since the last call. Never waits; takes NULL.
bool watch_changed(struct watch *watch);
