// trace.h: spans of time on named tracks, written as a Chrome/Perfetto trace (JSON array format)
#pragma once

#include <stdint.h>

struct trace;

// The trace file is complete JSON after every span, so an interrupted run leaves a readable file. NULL on failure
// (logged).
struct trace *trace_open(const char *path);
void trace_close(struct trace *trace); // takes NULL; logs if anything could not be written

// Times are those of clock_now_ns. `track` names the thread or device queue. Safe on any thread; no-op when trace is
// NULL.
void trace_span(struct trace *trace, const char *track, const char *name, int64_t start_ns, int64_t end_ns,
                uint64_t frame);
