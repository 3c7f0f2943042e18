// lane_report.c: the lines of a frame as JSON
#include "command/lane/lane_report.h"

#include "base/alloc.h"
#include "base/file.h"
#include "lane/lane_camera.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double degrees = 180 / 3.14159265358979323846; // per radian
static const double straight = 10000;                       // metres: a larger radius is reported as none

double lane_offset(const struct lane_result *result)
{
    if (result->left < 0 || result->right < 0)
        return (double)NAN;
    return -(result->shape.line[result->left].offset + result->shape.line[result->right].offset) / 2;
}

double lane_radius(const struct lane_result *result)
{
    const double bend = result->shape.term[LANE_BEND];
    return result->state != LANE_NONE && fabs(bend) > 1 / straight ? 1 / bend : (double)NAN;
}

static json_t *rounded(double value, double unit)
{
    return isfinite(value) ? json_real(round(value / unit) * unit) : json_null();
}

static json_t *line_json(const struct lane_frame *frame, const struct lane_map *map, const struct lane_shape *shape,
                         double offset, const int y[LANE_SAMPLES])
{
    double x[LANE_SAMPLES];
    json_t *line = json_array();
    lane_to_picture(map, shape, offset, frame->width, LANE_SAMPLES, y, x);
    for (int i = 0; i < LANE_SAMPLES; i++)
        json_array_append_new(line, json_integer(lround(x[i])));
    return line;
}

static json_t *lanes_json(const struct lane_frame *frame, const struct lane_map *map, const struct lane_result *result,
                          const int y[LANE_SAMPLES])
{
    json_t *lanes = json_array();
    for (int i = 0; i < result->shape.lines; i++)
        json_array_append_new(lanes, line_json(frame, map, &result->shape, result->shape.line[i].offset, y));
    return lanes;
}

// Adds the numbers of the road and of the own lane.
static void add_road(json_t *object, const struct lane_frame *frame, const struct lane_map *map,
                     const struct lane_result *result, const int y[LANE_SAMPLES])
{
    const struct lane_shape *shape = &result->shape;
    const bool lane = result->left >= 0 && result->right >= 0, any = result->state != LANE_NONE;
    const double width = lane ? shape->line[result->right].offset - shape->line[result->left].offset : (double)NAN;
    json_t *sure = json_array(), *own = json_array();
    for (int i = 0; i < shape->lines; i++)
        json_array_append_new(sure, rounded(result->line[i], 0.001));
    json_array_append_new(own, result->left >= 0 ? json_integer(result->left) : json_null());
    json_array_append_new(own, result->right >= 0 ? json_integer(result->right) : json_null());
    json_object_set_new(object, "confidences", sure);
    json_object_set_new(object, "own", own);
    json_object_set_new(object, "centre", lane ? line_json(frame, map, shape, -lane_offset(result), y) : json_null());
    json_object_set_new(object, "width_m", rounded(width, 0.01));
    json_object_set_new(object, "heading_deg",
                        rounded(any ? atan(shape->term[LANE_HEADING]) * degrees : (double)NAN, 0.01));
    json_object_set_new(object, "curvature_per_m", rounded(any ? shape->term[LANE_BEND] : (double)NAN, 1e-6));
}

json_t *lane_json(const struct lane_frame *frame, const struct lane_map *map, const struct lane_result *result)
{
    static const char *const states[] = {"none", "seen", "held"};
    int y[LANE_SAMPLES];
    lane_samples(frame->height, y);
    json_t *rows = json_array(), *object = json_object();
    for (int i = 0; i < LANE_SAMPLES; i++)
        json_array_append_new(rows, json_integer(y[i]));
    json_object_set_new(object, "raw_file", text_json(frame->file));
    json_object_set_new(object, "h_samples", rows);
    json_object_set_new(object, "lanes", lanes_json(frame, map, result, y));
    json_object_set_new(object, "run_time", rounded(frame->milliseconds, 0.001));
    json_object_set_new(object, "state", json_string(states[result->state]));
    json_object_set_new(object, "confidence", rounded(result->confidence, 0.001));
    json_object_set_new(object, "offset_m", rounded(lane_offset(result), 0.001));
    json_object_set_new(object, "radius_m", rounded(lane_radius(result), 1));
    add_road(object, frame, map, result, y);
    json_object_set_new(object, "time_s", rounded(frame->seconds, 0.001));
    json_object_set_new(object, "pitch_deg", rounded(frame->pitch, 0.01));
    json_object_set_new(object, "yaw_deg", rounded(frame->yaw, 0.01));
    json_object_set_new(object, "height_m", rounded(frame->above, 0.01));
    json_object_set_new(object, "pitch_from", json_string(frame->pitch_from));
    json_object_set_new(object, "height_from", json_string(frame->height_from));
    return object;
}

static void add_measures(json_t *object, const struct lane_measures *measures)
{
    const struct lane_table *table = &measures->table;
    const struct lane_shape *shape = &measures->trace->shape;
    json_t *strips = json_array(), *histogram = json_array(), *peaks = json_array();
    for (int strip = 0; strip < LANE_STRIPS; strip++) {
        json_t *sums = json_array();
        for (int column = 0; column < table->columns; column++)
            json_array_append_new(sums, json_integer(table->sums[strip * table->columns + column]));
        json_array_append_new(strips, sums);
    }
    for (int column = 0; column < table->columns; column++)
        json_array_append_new(histogram, rounded((double)measures->trace->histogram[column], 0.001));
    for (int i = 0; i < shape->lines; i++)
        json_array_append_new(peaks, rounded(shape->line[i].offset, 0.001));
    json_object_set_new(object, "sums", strips);
    json_object_set_new(object, "histogram", histogram);
    json_object_set_new(object, "peaks_m", peaks);
}

bool lane_report(const struct lane_frame *frame, const struct lane_map *map, const struct lane_result *result,
                 const struct lane_measures *measures)
{
    json_t *object = lane_json(frame, map, result);
    if (measures)
        add_measures(object, measures);
    return print_json(object, JSON_COMPACT | JSON_REAL_PRECISION(9));
}

// ---- CULane ----

// Appends the directories of a name, without "." and "..": ".." could leave `path`. Returns the name's last part.
static const char *add_directories(const char *name, const char *end, char path[PATH_MAX])
{
    for (const char *slash; (slash = memchr(name, '/', (size_t)(end - name))); name = slash + 1) {
        const int length = (int)(slash - name);
        const size_t used = strlen(path);
        if (length > 0 && (strspn(name, ".") != (size_t)length || length > 2))
            snprintf(path + used, PATH_MAX - used, "/%.*s", length, name);
    }
    return name;
}

// Writes the path of a frame's file. Returns false if it is too long.
static bool culane_path(const struct lane_frame *frame, const char *directory, char path[PATH_MAX])
{
    const char *end = frame->file + frame->stem, *number = *end ? end + 1 : "";
    char ignored[PATH_MAX] = "";
    snprintf(path, PATH_MAX, "%s", directory);
    const char *name = add_directories(frame->file, end, frame->listed ? path : ignored), *dot = end;
    while (dot > name && *dot != '.')
        dot--;
    const int length = (int)((dot > name ? dot : end) - name);
    const size_t used = strlen(path);
    const int size =
        snprintf(path + used, PATH_MAX - used, "/%.*s%s%s.lines.txt", length, name, *end ? "-" : "", number);
    return size > 0 && used + (size_t)size < PATH_MAX;
}

// Writes the file of a frame, and its directories. Returns false with errno set.
static bool write_culane(const struct lane_frame *frame, const char *directory, bool overwrite, const char *text,
                         size_t size)
{
    char path[PATH_MAX];
    if (!culane_path(frame, directory, path)) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (!overwrite && access(path, F_OK) == 0) {
        errno = EEXIST;
        return false;
    }
    return (!frame->listed || file_make_directories(path)) && file_write_atomic(path, text, size);
}

// A line of text for each lane line: x and y of its points, each 10 rows from the bottom of the picture up.
bool lane_report_culane(const struct lane_frame *frame, const struct lane_map *map, const struct lane_result *result,
                        const char *directory, bool overwrite)
{
    enum { STEP = 10 };
    const int rows = (frame->height + STEP - 1) / STEP;
    int *y = xcalloc((size_t)rows, sizeof(*y));
    double *x = xcalloc((size_t)rows, sizeof(*x));
    char *text;
    size_t size;
    FILE *lines = xmemstream(&text, &size);
    for (int i = 0; i < rows; i++)
        y[i] = frame->height - 1 - (rows - 1 - i) * STEP;
    for (int line = 0; line < result->shape.lines; line++) {
        lane_to_picture(map, &result->shape, result->shape.line[line].offset, frame->width, rows, y, x);
        const char *between = "";
        for (int i = rows - 1; i >= 0; i--) {
            if (x[i] < 0)
                continue;
            fprintf(lines, "%s%.2f %d", between, x[i], y[i]);
            between = " ";
        }
        fputc('\n', lines);
    }
    free(x);
    free(y);
    xmemclose(lines);
    const bool ok = write_culane(frame, directory, overwrite, text, size);
    free(text);
    return ok;
}
