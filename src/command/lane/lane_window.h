// lane_window.h: the window of the `lane` command: the lines in the camera's picture, or a stage of the pipeline
#pragma once

#include "lane/aim.h"
#include "lane/pipeline.h"
#include "lane/tracker.h"
#include "screen/sketch.h"
#include "stream/stream.h"

// A picture to show, and how to draw into it.
struct lane_board {
    struct image image; // RGBA
    struct sketch sketch;
    int *y;                // its rows: 0, 1, ...
    double *x[LANE_LINES]; // of each line at each row
};
bool lane_board_init(struct lane_board *board, int width, int height); // false: out of memory
void lane_board_finish(struct lane_board *board);                      // also after a failure, and if zeroed
// Draws the frame, which has the board's size, and the lines.
void lane_board_draw(struct lane_board *board, const struct lane_pipeline *pipeline, const struct image *frame,
                     const struct lane_result *result);

struct lane_window;

// Opens the window for frames of this size. Returns NULL if it cannot be opened, with one line in `why`.
struct lane_window *lane_window_open(int width, int height, char why[256]);
void lane_window_close(struct lane_window *window); // accepts NULL
// Handles the keys; Tab switches the stream's split view, and the mouse moves its divider. Returns false if the user
// quits or the display is lost.
bool lane_window_read_keys(struct lane_window *window, struct stream *stream);
// Shows the frame as it is drawn, beside the stream's original in a split view, or a stage of the pipeline with the
// search of `trace`. Returns false if the pipeline fails.
bool lane_window_show(struct lane_window *window, struct lane_pipeline *pipeline, const struct image *frame,
                      const struct lane_board *drawn, const struct lane_result *result, const struct lane_trace *trace,
                      const struct lane_aim *aim, const struct stream *stream);
// Returns the window, whose GL context paths may use that this thread closes before.
struct window *lane_window_window(const struct lane_window *window);
bool lane_window_lost(const struct lane_window *window); // the display was lost (logged)
