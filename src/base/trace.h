// trace.h: spans of time on named tracks, written as a Chrome/Perfetto trace (JSON array format)
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct trace;

// Creates the file, or (`file` not -1) writes to this open file of that name. The trace then owns `file`, also on
// failure. The file is complete JSON after every span, so an interrupted run leaves a readable file. NULL on failure
// (logged).
struct trace *trace_open(const char *path, int file);
bool trace_close(struct trace *trace); // accepts NULL; false if events were lost (logged)

// Adds a span, with times of clock_now_ns. `track` names the thread or device queue. On any thread. A NULL trace does
// nothing.
void trace_span(struct trace *trace, const char *track, const char *name, int64_t start_ns, int64_t end_ns,
                uint64_t frame);
