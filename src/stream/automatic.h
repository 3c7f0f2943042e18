// automatic.h: -p auto of a stream: times its frames on each kind of path, and continues on the fastest. Main thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct stream;

// Requests the kind of path for the next frames. No frame may be in flight.
void automatic_follow(struct stream *stream);
// Adds a frame that was shown, from its submission until its result was collected.
void automatic_add(struct stream *stream, int64_t submitted_ns, int64_t collected_ns);
// Returns true while frames are timed or the kind changes: frames must then run one after the other.
bool automatic_busy(const struct stream *stream);
