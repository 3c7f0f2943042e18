// lines.c: see lines.h
#include "lane/lines.h"

#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// The state of reading one file.
struct reader {
    struct lines *lines;
    size_t room; // of lines->frame
    size_t line; // number of the current line
    char problem[256];
};

static bool refuse(struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Writes the problem. Always returns false.
static bool refuse(struct reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->problem, sizeof(reader->problem), format, arguments);
    va_end(arguments);
    return false;
}

static bool read_rows(struct reader *reader, const json_t *rows, struct lines_frame *frame)
{
    const size_t count = json_array_size(rows);
    if (!rows)
        return true;
    if (count < 1 || count > LINES_ROWS)
        return refuse(reader, "'h_samples' is not an array of 1 to %d rows", LINES_ROWS);
    frame->y = calloc(count, sizeof(*frame->y));
    if (!frame->y)
        return refuse(reader, "out of memory");
    for (size_t i = 0; i < count; i++) {
        const json_t *row = json_array_get(rows, i);
        const json_int_t y = json_is_integer(row) ? json_integer_value(row) : -1;
        if (y < 0 || y > LINES_X || (i > 0 && y <= frame->y[i - 1]))
            return refuse(reader, "'h_samples' are not rising integers from 0 to %d", LINES_X);
        frame->y[i] = (int)y;
    }
    frame->rows = (int)count;
    return true;
}

// Reads a lane's points to `x`. *any: it has at least one point.
static bool read_lane(struct reader *reader, const json_t *lane, int rows, double *x, bool *any)
{
    *any = false;
    if (!json_is_array(lane) || json_array_size(lane) != (size_t)rows)
        return refuse(reader, "a lane is not an array of %d numbers, one for each row", rows);
    for (int i = 0; i < rows; i++) {
        const json_t *value = json_array_get(lane, (size_t)i);
        x[i] = json_number_value(value);
        if (!json_is_number(value) || x[i] > LINES_X)
            return refuse(reader, "a lane has a value that is not a number up to %d", LINES_X);
        *any = *any || x[i] >= 0;
    }
    return true;
}

static bool read_lanes(struct reader *reader, const json_t *lanes, struct lines_frame *frame)
{
    const size_t count = json_array_size(lanes);
    if (!json_is_array(lanes) || count > LINES_LANES)
        return refuse(reader, "'lanes' is not an array of at most %d lanes", LINES_LANES);
    const size_t rows = json_array_size(json_array_get(lanes, 0));
    if (frame->rows == 0 && rows <= LINES_ROWS)
        frame->rows = (int)rows;
    frame->x = calloc(count * (size_t)frame->rows + 1, sizeof(*frame->x));
    if (!frame->x)
        return refuse(reader, "out of memory");
    for (size_t i = 0; i < count; i++) {
        bool any;
        double *x = frame->x + (size_t)frame->lanes * (size_t)frame->rows;
        if (!read_lane(reader, json_array_get(lanes, i), frame->rows, x, &any))
            return false;
        frame->lanes += any;
    }
    return true;
}

// Returns a new frame at the end of the lines; NULL: there are too many, or no memory.
static struct lines_frame *add_frame(struct reader *reader)
{
    struct lines *lines = reader->lines;
    if (lines->count == LINES_FRAMES) {
        refuse(reader, "the file has more than %d frames", LINES_FRAMES);
        return NULL;
    }
    if (lines->count == reader->room) {
        reader->room = reader->room ? 2 * reader->room : 256;
        void *larger = realloc(lines->frame, reader->room * sizeof(*lines->frame));
        if (!larger) {
            refuse(reader, "out of memory");
            return NULL;
        }
        lines->frame = larger;
    }
    struct lines_frame *frame = &lines->frame[lines->count++];
    *frame = (struct lines_frame){.line = reader->line};
    return frame;
}

static bool read_frame(struct reader *reader, const json_t *json)
{
    const json_t *name = json_object_get(json, "raw_file");
    if (!json_is_object(json))
        return refuse(reader, "it is not a JSON object");
    if (json_object_get(json, "event"))
        return true;
    if (name && !json_is_string(name))
        return refuse(reader, "'raw_file' is not a text");
    struct lines_frame *frame = add_frame(reader);
    if (!frame)
        return false;
    if (name && !(frame->name = strdup(json_string_value(name))))
        return refuse(reader, "out of memory");
    return read_rows(reader, json_object_get(json, "h_samples"), frame) &&
           read_lanes(reader, json_object_get(json, "lanes"), frame);
}

static bool read_line(struct reader *reader, const char *line, size_t size)
{
    json_error_t error;
    if (size == strspn(line, " \t\r"))
        return true;
    json_t *json = json_loadb(line, size, JSON_REJECT_DUPLICATES, &error);
    const bool ok = json ? read_frame(reader, json) : refuse(reader, "column %d: %s", error.column, error.text);
    json_decref(json);
    return ok;
}

bool lines_read(struct lines *lines, FILE *file, const char *spoken)
{
    struct reader reader = {.lines = lines};
    char *line = malloc(LINES_BYTES + 1);
    bool ok = line || refuse(&reader, "out of memory");
    int got = 0;
    size_t size;
    *lines = (struct lines){0};
    while (ok && (got = file_read_line(file, line, LINES_BYTES, &size)) != 0) {
        reader.line++;
        ok = got > 0 ? read_line(&reader, line, size) : refuse(&reader, "it has more than %d bytes", LINES_BYTES);
    }
    free(line);
    if (!ok)
        log_error("cannot use %s: line %zu: %s; give TuSimple's format, one JSON object per line", spoken, reader.line,
                  reader.problem);
    else if (ferror(file))
        log_error("cannot read %s: %s", spoken, strerror(errno));
    else if (lines->count == 0)
        log_error("%s has no frames; give TuSimple's format, one JSON object per line", spoken);
    return ok && !ferror(file) && lines->count > 0;
}

void lines_free(struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        free(lines->frame[i].name);
        free(lines->frame[i].y);
        free(lines->frame[i].x);
    }
    free(lines->frame);
    *lines = (struct lines){0};
}
