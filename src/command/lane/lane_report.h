// lane_report.h: the lines of a frame as JSON
#pragma once

#include "lane/lane_camera.h"
#include "lane/tracker.h"

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
