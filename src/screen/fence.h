// fence.h: a mark in GL's work, to be waited for
#pragma once

#include <stdbool.h>

// Behind all that GL was told so far; pass it to fence_wait. NULL on failure.
void *fence_put(void);
// Waits until GL has come that far; frees the fence, and takes NULL. False when it does not come within a second.
bool fence_wait(void *fence);
