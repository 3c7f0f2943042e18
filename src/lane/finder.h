// finder.h: finds the lane lines of a frame in its table of column sums, and follows them over frames
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { LANE_STRIPS = 40, LANE_COLUMNS_MAX = 512, LANE_LINES = 6 };

// The numbers of the search that users can change (docs/lane.md)
struct lane_settings {
    double contrast;  // times the noise around it: the weakest mark
    double smoothing; // share of the old offset in the new one
};

extern const struct lane_settings lane_settings_default;
extern const double lane_narrowest; // metres: a lane is at least this wide

// For each of LANE_STRIPS horizontal strips of the bird's-eye picture, the sum of the pixels of each column. Strip 0 is
// the farthest.
struct lane_table {
    const uint32_t *sums; // LANE_STRIPS * columns; borrowed
    int columns;
    uint32_t full;                        // sum of a column of ridges of 255 in a whole strip
    bool turned;                          // the camera may look aside: more headings are searched
    double across, near, far;             // metres: x is -across/2 to across/2, z is near to far
    const struct lane_settings *settings; // of the search; borrowed
};

// The lines of a road are parallel curves: x(z) = offset + heading * z + bend * z^2 / 2 + twist * z^3 / 6. If the
// camera's pitch differs from the calibration, for example on a bump, a point at (x, z) of the road is in the table at
// (x, z) / (1 - spread * z).
enum lane_term { LANE_HEADING, LANE_BEND, LANE_TWIST, LANE_SPREAD, LANE_TERMS };

struct lane_line {
    double offset;    // first; metres to the right of the camera, at z = 0
    double support;   // share of the strips that show the line, minus the share by chance: 0 to 1
    double longest;   // metres: the longest part without a gap that the strips show
    double agreement; // of the near windows with the line: 1: exact; 0: none of them shows it
};

struct lane_shape {
    double term[LANE_TERMS];
    struct lane_line line[LANE_LINES]; // from left to right
    int lines;
    double lanes; // evidence of three equal lanes, 0 to 1.2; 0 also if the last frame's lines were known
};

// Returns a line's x in the table at the table's z.
double lane_x(const struct lane_shape *shape, double offset, double z);

// A window: the part of a strip in which a line was searched.
struct lane_box {
    double x, half; // metres: its middle and half of its width; half 0: there is no window
    double found;   // metres: where the strip shows the line
    bool seen;      // `found` is valid
};

// The data that gave the lines, for a picture of the search. All are of the last pass. Line i of `shape` is peak i of
// the histogram, sorted by height relative to the smallest accepted height there. The boxes have the same order.
struct lane_trace {
    struct lane_shape shape;                   // the search moved the strips by its terms
    float mark[LANE_STRIPS][LANE_COLUMNS_MAX]; // how much each column of a strip looks like a mark: 0 to 1
    float histogram[LANE_COLUMNS_MAX];         // mean of the moved strips for each column: -1 to 1, full lines are 1
    double reach;                              // metres: the histogram has the strips up to here
    bool known;                                // the lines of an earlier frame guided the search
    struct lane_box band[LANE_LINES][LANE_STRIPS]; // windows of the first fit
    struct lane_box box[LANE_LINES][LANE_STRIPS];  // windows of the last fit
};

// Finds the road's shape and lines. `prior` is the expected shape: its lines are searched first, and its terms guide
// the fit; with `known` false, it is ignored. Fills `trace`; NULL: none. Returns the number of lines.
int lane_find(struct lane_shape *shape, const struct lane_table *table, const struct lane_shape *prior, bool known,
              struct lane_trace *trace);

// ---- tracking: smooths the lines over frames, rejects jumps, drops lines that stay out of sight ----

enum lane_state { LANE_NONE, LANE_SEEN, LANE_HELD }; // no line; seen in this frame; predicted from earlier frames

struct lane_track {
    struct lane_line line; // first; smoothed; its support is the latest
    double strength;       // how surely the line is there, 0 to 1
    double confidence;     // how well the line fits its marks, 0 to 1, smoothed: that which is reported
};

// The reported lines of a frame: at most two on each side of the camera, with a lane between them.
struct lane_result {
    enum lane_state state;
    struct lane_shape shape;
    double confidence;       // mean of the lines; 0: none
    int left, right;         // indices of the lines beside the camera; -1: none
    double line[LANE_LINES]; // confidence of each line
};

struct lane_tracker {
    struct lane_shape shape; // expected in the next frame
    bool known;              // `shape` is valid
    int rejected;            // frames in a row
    struct lane_track track[LANE_LINES];
    int tracks;
};

// Finds the lines of the next frame. A zeroed tracker is new. Fills `trace`; NULL: none.
void lane_track(struct lane_tracker *tracker, const struct lane_table *table, struct lane_result *result,
                struct lane_trace *trace);
