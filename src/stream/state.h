// state.h: the state: what runs. Only the stream and its parts write it; settings.h has what the user wants. Main
// thread.
#pragma once

#include "stream/settings.h"

struct stream_state {
    enum path_kind kind; // of the main pane's path, or of the one that is being built
    bool automatic;      // the stream chooses the kind: the settings say so, and no path has failed
    const char *why;     // why monocle chose the kind; NULL: the user named it, or it is the first one
    bool timed;          // frames are timed to choose the kind: an upload to a texture waits for the GPU
    int device;          // index in struct devices; -1: none
    bool gl;             // there is a GL context
    bool split_failed;   // the second pane failed; see panes_split_again
};

// The state before the devices are known.
static inline struct stream_state stream_state_first(const struct settings *settings)
{
    const bool automatic = settings->path == PATH_AUTO;
    return (struct stream_state){
        .kind = automatic ? PATH_DEFAULT : (enum path_kind)settings->path, .automatic = automatic, .device = -1};
}
