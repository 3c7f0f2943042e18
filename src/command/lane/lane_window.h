// lane_window.h: the window of the `lane` command: the lines in the camera's picture, or a stage of the pipeline
#pragma once

#include "lane/pipeline.h"
#include "lane/tracker.h"
#include "screen/window.h"

struct lane_window;

// Opens the window for frames of this size. Returns NULL if it cannot be opened, with one line in `why`.
struct lane_window *lane_window_open(int width, int height, char why[256]);
void lane_window_close(struct lane_window *window); // accepts NULL
// Shows the frame, or a stage of the pipeline with the search of `trace`. Returns false if the user quits, the display
// is lost, or the pipeline fails.
bool lane_window_show(struct lane_window *window, struct lane_pipeline *pipeline, const struct image *frame,
                      const struct lane_result *result, const struct lane_trace *trace);
// Returns the window, whose GL context paths may use that this thread closes before.
struct window *lane_window_window(const struct lane_window *window);
bool lane_window_lost(const struct lane_window *window); // the display was lost (logged)
