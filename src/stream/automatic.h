// automatic.h: -p auto of a stream: times its frames on each kind of path, and continues on the fastest. Main thread.
#pragma once

#include "path/choice.h"

#include <stdbool.h>
#include <stdint.h>

struct panes;

// Zeroed: nothing is timed yet.
struct automatic {
    struct path_choice choice;
    bool tries;           // the kind of path that it wants is being built
    bool rebuilt;         // the panes have changed since it looked at them
    int64_t submitted_ns; // when the newest frame was submitted
};

// Requests the kind of path for the next frames of these panes. No frame may be in flight. Returns true if it has
// chosen a kind for good, because the last candidate cannot be built.
bool automatic_follow(struct automatic *automatic, struct panes *panes);
// Adds a frame that was shown, from `submitted_ns` until its result was collected. Returns true if this was the last
// one, and a kind is chosen.
bool automatic_add(struct automatic *automatic, struct panes *panes, int64_t collected_ns);
// Returns true while frames are timed or the kind changes: frames must then run one after the other.
bool automatic_busy(const struct automatic *automatic);
