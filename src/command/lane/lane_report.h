// lane_report.h: shows the lines of a frame: as JSON, in a picture, and in the window
#pragma once

#include "base/options.h"
#include "command/shared.h"
#include "lane/finder.h"
#include "lane/lane_camera.h"
#include "lane/pipeline.h"
#include "screen/canvas.h"
#include "stream/stream.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum { LANE_FILE_NAME = PATH_MAX + 32 };

struct lane_frame {
    const char *file; // "raw_file" of TuSimple's data
    int stem;         // length of the source's name in `file`; "#NUMBER" may follow
    bool listed;      // the source is a list of pictures, whose names may have directories
    int width, height;
    double milliseconds;                  // sum of the stages' times
    double pitch, yaw;                    // degrees: of the camera, as estimated
    double above;                         // metres: height of the camera
    const char *pitch_from, *height_from; // "lines", "user" or "assumed"
    double seconds;                       // since the first frame
};

// Metres from the centre between the lines beside the camera to the camera, to the right. NAN: there are not two.
double lane_offset(const struct lane_result *result);
// Metres; negative for a curve to the left. NAN: straight, or no line.
double lane_radius(const struct lane_result *result);

// Returns the object that lane_report prints. NULL: out of memory.
struct json_t *lane_json(const struct lane_frame *frame, const struct lane_map *map, const struct lane_result *result);
// Writes the lines in CULane's format to DIRECTORY/NAME.lines.txt; NAME is the file's without its suffix, `#N` becomes
// `-N`. The directories of a listed picture are made below DIRECTORY; those of other files are dropped. Without
// `overwrite`, an existing file is not replaced (EEXIST). Returns false with errno set.
bool lane_report_culane(const struct lane_frame *frame, const struct lane_map *map, const struct lane_result *result,
                        const char *directory, bool overwrite);
// The data from which the lines of a frame were computed.
struct lane_measures {
    struct lane_table table;
    const struct lane_trace *trace;
};

// Prints a line of JSON on standard output, with the measures; NULL: none. Returns false if it cannot be
// written (not logged).
bool lane_report(const struct lane_frame *frame, const struct lane_map *map, const struct lane_result *result,
                 const struct lane_measures *measures);

// ---- the window ----

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

// ---- the options of the command ----

struct lane_options {
    const char *camera, *points, *config, *score;
    struct output_options outputs;
    struct mode_options mode;
    const char *device, *socket, *culane, *marks;
    int path, threads; // path -1: the user named none
    double lane_width;
    int frames;
    bool loop, fast, headless, json, measures, calibrate, independent;
    int log_level;
};

// `--calibrate`: the user moves the four points of the calibration in a window.
// Shows the frames of the stream's source until the user quits; the caller closes the stream. The points start at the
// camera's, or on the lane of the first frame. Enter writes them to the file of --config. Returns an exit code.
enum exit_code lane_calibrate(struct stream *stream, const struct lane_camera *camera, const struct lane_options *o);
