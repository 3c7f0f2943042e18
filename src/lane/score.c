// score.c: reads files of lane lines, and compares the lines with the truth
#include "lane/score.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/options.h"
#include "road/road.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_WIDTH = 1280, DEFAULT_HEIGHT = 720 };
enum { TRUTH_LANES = 4 }; // TuSimple forgives the worst line if the truth has more

// ---- the files ----

// The state of reading one file.
struct score_reader {
    struct lines *lines;
    size_t line; // number of the current line
    char problem[256];
};

static bool refuse(struct score_reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Writes the problem. Always returns false.
static bool refuse(struct score_reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->problem, sizeof(reader->problem), format, arguments);
    va_end(arguments);
    return false;
}

static bool read_rows(struct score_reader *reader, const json_t *rows, struct lines_frame *frame)
{
    const size_t count = json_array_size(rows);
    if (!rows)
        return true;
    if (count < 1 || count > LINES_ROWS)
        return refuse(reader, "'h_samples' is not an array of 1 to %d rows", LINES_ROWS);
    frame->y = xcalloc(count, sizeof(*frame->y));
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
static bool read_lane(struct score_reader *reader, const json_t *lane, int rows, double *x, bool *any)
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

static bool read_lanes(struct score_reader *reader, const json_t *lanes, struct lines_frame *frame)
{
    const size_t count = json_array_size(lanes);
    if (!json_is_array(lanes) || count > LINES_LANES)
        return refuse(reader, "'lanes' is not an array of at most %d lanes", LINES_LANES);
    const size_t rows = json_array_size(json_array_get(lanes, 0));
    if (frame->rows == 0 && rows <= LINES_ROWS)
        frame->rows = (int)rows;
    frame->x = xcalloc(count * (size_t)frame->rows, sizeof(*frame->x));
    for (size_t i = 0; i < count; i++) {
        bool any;
        double *x = frame->x + (size_t)frame->lanes * (size_t)frame->rows;
        if (!read_lane(reader, json_array_get(lanes, i), frame->rows, x, &any))
            return false;
        frame->lanes += any;
    }
    return true;
}

// Returns a new frame at the end of the lines; NULL: there are too many.
static struct lines_frame *add_frame(struct score_reader *reader)
{
    struct lines *lines = reader->lines;
    if (lines->count == LINES_FRAMES) {
        refuse(reader, "the file has more than %d frames", LINES_FRAMES);
        return NULL;
    }
    lines->frame = xgrow(lines->frame, lines->count, sizeof(*lines->frame));
    struct lines_frame *frame = &lines->frame[lines->count++];
    *frame = (struct lines_frame){.line = reader->line};
    return frame;
}

static bool read_frame(struct score_reader *reader, const json_t *json)
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
    if (name)
        frame->name = xstrdup(json_string_value(name));
    return read_rows(reader, json_object_get(json, "h_samples"), frame) &&
           read_lanes(reader, json_object_get(json, "lanes"), frame);
}

static bool read_line(struct score_reader *reader, const char *line, size_t size)
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
    struct score_reader reader = {.lines = lines};
    char *line = xmalloc(LINES_BYTES + 1);
    bool ok = true;
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
        log_error("there are no frames in %s; give TuSimple's format, one JSON object per line", spoken);
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

// ---- CULane: lines that match by area ----

enum { WIDTH = 1640, HEIGHT = 590, LINE_WIDTH = 30, UNIT = 16 }; // UNIT: of a pixel, in the coordinates of points
enum { WORDS = (WIDTH + 63) / 64 };

struct point {
    int64_t x, y;
};

// The pixels of one line.
struct mask {
    int64_t area;
    uint64_t bits[HEIGHT][WORDS];
};

static int64_t limit(int64_t value, int64_t low, int64_t high)
{
    if (value < low)
        return low;
    return value > high ? high : value;
}

// Returns true if the point is at most half a line's width from the segment.
static bool is_near(struct point p, struct point a, struct point b)
{
    const int64_t most = (int64_t)(LINE_WIDTH * UNIT / 2) * (LINE_WIDTH * UNIT / 2);
    const struct point along = {b.x - a.x, b.y - a.y}, from = {p.x - a.x, p.y - a.y};
    const int64_t length = along.x * along.x + along.y * along.y;
    const int64_t at = from.x * along.x + from.y * along.y, off = from.x * along.y - from.y * along.x;
    if (at <= 0)
        return from.x * from.x + from.y * from.y <= most;
    if (at >= length)
        return (p.x - b.x) * (p.x - b.x) + (p.y - b.y) * (p.y - b.y) <= most;
    return off * off <= most * length;
}

static void draw_segment(struct mask *mask, struct point a, struct point b)
{
    const int64_t reach = LINE_WIDTH * UNIT / 2;
    const int64_t x0 = limit(((a.x < b.x ? a.x : b.x) - reach) / UNIT, 0, WIDTH - 1);
    const int64_t x1 = limit(((a.x > b.x ? a.x : b.x) + reach) / UNIT, 0, WIDTH - 1);
    const int64_t y0 = limit(((a.y < b.y ? a.y : b.y) - reach) / UNIT, 0, HEIGHT - 1);
    const int64_t y1 = limit(((a.y > b.y ? a.y : b.y) + reach) / UNIT, 0, HEIGHT - 1);
    for (int64_t y = y0; y <= y1; y++) {
        for (int64_t x = x0; x <= x1; x++) {
            if (is_near((struct point){x * UNIT, y * UNIT}, a, b))
                mask->bits[y][x / 64] |= (uint64_t)1 << (x % 64);
        }
    }
}

static void draw_lane(struct mask *mask, const struct lines_frame *frame, const int *rows, int lane, int width,
                      int height)
{
    const double *x = frame->x + (size_t)lane * (size_t)frame->rows;
    struct point last = {0, 0};
    bool any = false;
    memset(mask, 0, sizeof(*mask));
    for (int i = 0; i < frame->rows; i++) {
        if (x[i] < 0)
            continue;
        // The limits keep the products of is_near below 2^63. Points so far outside draw nothing in the picture.
        const struct point point = {limit((int64_t)(x[i] * WIDTH * UNIT / width + 0.5), 0, 2 * WIDTH * UNIT),
                                    limit((int64_t)rows[i] * HEIGHT * UNIT / height, 0, 2 * HEIGHT * UNIT)};
        draw_segment(mask, any ? last : point, point);
        last = point;
        any = true;
    }
    for (int y = 0; y < HEIGHT; y++) {
        for (int i = 0; i < WORDS; i++)
            mask->area += __builtin_popcountll(mask->bits[y][i]);
    }
}

static bool masks_match(const struct mask *a, const struct mask *b)
{
    int64_t shared = 0;
    for (int y = 0; y < HEIGHT; y++) {
        for (int i = 0; i < WORDS; i++)
            shared += __builtin_popcountll(a->bits[y][i] & b->bits[y][i]);
    }
    return shared > 0 && 2 * shared >= a->area + b->area - shared;
}

// The pairs of lines that match, and the chosen pairs.
struct pairs {
    bool match[LINES_LANES][LINES_LANES]; // truth line, found line
    int chosen[LINES_LANES];              // truth line of a found line; -1: none
    bool tried[LINES_LANES];              // found lines
    int found;
};

// Finds a found line for a truth line. Moves other truth lines to other found lines if that helps.
static bool choose(struct pairs *pairs, int truth)
{
    for (int i = 0; i < pairs->found; i++) {
        if (!pairs->match[truth][i] || pairs->tried[i])
            continue;
        pairs->tried[i] = true;
        if (pairs->chosen[i] < 0 || choose(pairs, pairs->chosen[i])) {
            pairs->chosen[i] = truth;
            return true;
        }
    }
    return false;
}

// Draws each line 30 pixels wide in a picture of 1640x590 pixels. Two lines match if the area that they share is at
// least half of the area that they cover together. Returns the largest possible number of pairs of a truth line and a
// found line that match; each line is in at most one pair. Both frames have the same rows. `width` and `height` are the
// size of the picture that the points are in.
static int overlap_matches(const struct lines_frame *truth, const struct lines_frame *found, int width, int height)
{
    struct mask *masks = xcalloc((size_t)found->lanes + 1, sizeof(*masks)), *mask = &masks[found->lanes];
    struct pairs pairs = {.found = found->lanes};
    int matches = 0;
    for (int f = 0; f < found->lanes; f++) {
        draw_lane(&masks[f], found, truth->y, f, width, height);
        pairs.chosen[f] = -1;
    }
    for (int t = 0; t < truth->lanes; t++) {
        draw_lane(mask, truth, truth->y, t, width, height);
        for (int f = 0; f < found->lanes; f++)
            pairs.match[t][f] = masks_match(mask, &masks[f]);
    }
    for (int t = 0; t < truth->lanes; t++) {
        memset(pairs.tried, 0, sizeof(pairs.tried));
        matches += choose(&pairs, t);
    }
    free(masks);
    return matches;
}

// ---- one frame ----

// Returns the largest distance of a right point from a truth line: 20 pixels, measured across the line.
static double threshold_of(const struct lines_frame *truth, const double *x)
{
    enum { PIXELS = 20 };
    double points = 0, mean_x = 0, mean_y = 0, xy = 0, yy = 0;
    for (int i = 0; i < truth->rows; i++) {
        if (x[i] >= 0) {
            points++;
            mean_x += x[i];
            mean_y += truth->y[i];
        }
    }
    mean_x /= points;
    mean_y /= points;
    for (int i = 0; i < truth->rows; i++) {
        if (x[i] >= 0) {
            xy += (truth->y[i] - mean_y) * (x[i] - mean_x);
            yy += (truth->y[i] - mean_y) * (truth->y[i] - mean_y);
        }
    }
    return PIXELS / cos(atan(yy > 0 ? xy / yy : 0));
}

// Returns the share of right points among the rows in which one of the lines has a point.
static double compare_lines(const double *truth, const double *found, int rows, double threshold)
{
    int right = 0, counted = 0;
    for (int i = 0; i < rows; i++) {
        const bool both = truth[i] >= 0 && found[i] >= 0;
        counted += truth[i] >= 0 || found[i] >= 0;
        right += both && fabs(truth[i] - found[i]) < threshold;
    }
    return counted > 0 ? (double)right / counted : 0;
}

static const double *lane_of(const struct lines_frame *frame, int lane)
{
    return frame->x + (size_t)lane * (size_t)frame->rows;
}

static double divide(double a, double b, double otherwise)
{
    return b > 0 ? a / b : otherwise;
}

void score_frame(const struct lines_frame *truth, const struct lines_frame *found, int width, int height,
                 struct score_frame *score)
{
    static const double enough = 0.85;
    double sum = 0, worst = 1;
    int missed = 0;
    for (int t = 0; t < truth->lanes; t++) {
        const double *line = lane_of(truth, t), threshold = threshold_of(truth, line);
        double best = 0;
        for (int f = 0; f < found->lanes; f++)
            best = fmax(best, compare_lines(line, lane_of(found, f), truth->rows, threshold));
        sum += best;
        worst = fmin(worst, best);
        missed += best < enough;
    }
    const int wrong = found->lanes - (truth->lanes - missed);
    const bool forgiven = truth->lanes > TRUTH_LANES;
    const double lanes = fmin(truth->lanes, TRUTH_LANES);
    if (forgiven)
        sum -= worst;
    *score = (struct score_frame){
        .accuracy = divide(sum, lanes, found->lanes == 0),
        .false_positives = divide(fmax(wrong, 0), found->lanes, 0),
        .false_negatives = divide(missed - (forgiven && missed > 0), lanes, 0),
        .truth = truth->lanes,
        .found = found->lanes,
        .matches = overlap_matches(truth, found, width, height),
    };
}

// ---- pairs of frames ----

static int compare_names(const void *a, const void *b)
{
    const struct lines_frame *one = *(struct lines_frame *const *)a, *other = *(struct lines_frame *const *)b;
    return strcmp(one->name, other->name);
}

// The frames of both files, in pairs.
struct pairing {
    const struct score_setup *setup;
    struct lines truth, found;
    const struct lines_frame **pair; // for each frame of the truth, the frame found
};

// Sorts the frames of the truth by name. NULL on failure (logged).
static struct lines_frame **sort_truth(const struct pairing *p)
{
    struct lines_frame **sorted = xcalloc(p->truth.count, sizeof(*sorted));
    size_t twice = 0;
    for (size_t i = 0; i < p->truth.count; i++) {
        sorted[i] = &p->truth.frame[i];
        if (!sorted[i]->name) {
            log_error("cannot use %s: line %zu: there is no 'raw_file', but other lines have it", p->setup->truth,
                      sorted[i]->line);
            free(sorted);
            return NULL;
        }
    }
    qsort(sorted, p->truth.count, sizeof(*sorted), compare_names);
    for (size_t i = 1; i < p->truth.count && !twice; i++)
        twice = compare_names(&sorted[i - 1], &sorted[i]) == 0 ? i : 0;
    if (!twice)
        return sorted;
    log_error("cannot use %s: lines %zu and %zu have the same 'raw_file', %s", p->setup->truth, sorted[twice - 1]->line,
              sorted[twice]->line, sorted[twice]->name);
    free(sorted);
    return NULL;
}

static struct lines_frame **find_truth(const struct pairing *p, struct lines_frame **sorted,
                                       const struct lines_frame *found)
{
    return bsearch(&found, sorted, p->truth.count, sizeof(*sorted), compare_names);
}

// Finds the frame of the truth for each result: by name, or in order if the truth does not have the first name. Returns
// false on failure (logged).
static bool pair_frames(struct pairing *p)
{
    const char *first = p->found.frame[0].name;
    const bool comparable = first && p->truth.frame[0].name;
    struct lines_frame **sorted = comparable ? sort_truth(p) : NULL;
    bool ok = !comparable || sorted;
    const bool named = sorted && find_truth(p, sorted, &p->found.frame[0]);
    if (ok && first && !named)
        log_warn("%s has no frame %s; the frames are compared in order", p->setup->truth, first);
    for (size_t i = 0; ok && i < p->found.count; i++) {
        const struct lines_frame *found = &p->found.frame[i];
        struct lines_frame **at = NULL;
        const char *problem = NULL;
        if ((first != NULL) != (found->name != NULL))
            problem = "either all frames have 'raw_file' or none";
        else if (named)
            at = find_truth(p, sorted, found);
        size_t number = named ? p->truth.count : i;
        if (at)
            number = (size_t)(*at - p->truth.frame);
        if (!problem && number >= p->truth.count)
            problem = "the truth has no such frame";
        else if (!problem && p->pair[number])
            problem = "an earlier line has the same 'raw_file'";
        if (problem)
            log_error("cannot use the results: line %zu: %s; score the results with the truth of the same run",
                      found->line, problem);
        else
            p->pair[number] = found;
        ok = !problem;
    }
    free(sorted);
    return ok;
}

// Returns false if a frame has no result, or other rows than its result (logged).
static bool check_pairs(const struct pairing *p)
{
    for (size_t i = 0; i < p->truth.count; i++) {
        const struct lines_frame *truth = &p->truth.frame[i], *found = p->pair[i];
        if (!truth->y) {
            log_error("cannot use %s: line %zu: there is no 'h_samples'", p->setup->truth, truth->line);
            return false;
        }
        if (!found) {
            log_error("the results lack the frame of line %zu of %s; complete them", truth->line, p->setup->truth);
            return false;
        }
        const bool counts = found->rows == truth->rows || (!found->y && found->lanes == 0 && found->rows == 0);
        if (!counts || (found->y && memcmp(found->y, truth->y, (size_t)truth->rows * sizeof(*truth->y)) != 0)) {
            log_error("cannot use the results: line %zu: its rows are not those of line %zu of %s", found->line,
                      truth->line, p->setup->truth);
            return false;
        }
    }
    return true;
}

// ---- both files ----

// Returns the size in the name of a frame, such as "road:seed=7,size=640x360@30#0"; else the default.
static struct option_size size_of(const char *name)
{
    const char *text = name ? strstr(name, "size=") : NULL;
    struct option_size size;
    if (text && sscanf(text, "size=%5dx%5d", &size.width, &size.height) == 2 && size.width > 0 && size.height > 0)
        return size;
    return (struct option_size){DEFAULT_WIDTH, DEFAULT_HEIGHT};
}

// Sums the scores of all frames.
static void add_up(const struct pairing *p, struct score *score)
{
    const struct score_setup *setup = p->setup;
    struct option_size size = {setup->width, setup->height};
    if (size.width == 0)
        size = size_of(p->truth.frame[0].name);
    *score = (struct score){.frames = p->truth.count};
    for (size_t i = 0; i < p->truth.count; i++) {
        struct score_frame frame;
        score_frame(&p->truth.frame[i], p->pair[i], size.width, size.height, &frame);
        score->accuracy += frame.accuracy / (double)score->frames;
        score->false_positives += frame.false_positives / (double)score->frames;
        score->false_negatives += frame.false_negatives / (double)score->frames;
        score->truth += (size_t)frame.truth;
        score->found += (size_t)frame.found;
        score->matches += (size_t)frame.matches;
    }
    score->precision = divide((double)score->matches, (double)score->found, score->truth == 0);
    score->recall = divide((double)score->matches, (double)score->truth, score->found == 0);
    score->f1 = divide(2 * (double)score->matches, (double)(score->truth + score->found), 1);
}

// Reads both files. False on failure (logged).
static bool read_both(struct pairing *p, FILE *found)
{
    FILE *file = fopen(p->setup->truth, "re");
    if (!file) {
        log_error("cannot read %s: %s; give the file that --truth has written", p->setup->truth, strerror(errno));
        return false;
    }
    const bool ok = lines_read(&p->truth, file, p->setup->truth);
    fclose(file);
    return ok && lines_read(&p->found, found, "the results on standard input");
}

bool score_read(const struct score_setup *setup, FILE *found, struct score *score)
{
    struct pairing p = {.setup = setup};
    bool ok = read_both(&p, found);
    if (ok) {
        p.pair = xcalloc(p.truth.count, sizeof(struct lines_frame *));
        ok = pair_frames(&p) && check_pairs(&p);
    }
    if (ok)
        add_up(&p, score);
    free(p.pair);
    lines_free(&p.truth);
    lines_free(&p.found);
    return ok;
}

// ---- the file of --truth: where the lane lines of a road are ----

bool truth_open(struct truth *truth, const char *path, const struct source_info *info)
{
    *truth = (struct truth){.road = info->road};
    if (!path)
        return true;
    if (!info->road) {
        log_error("--truth needs a source whose lane lines are known, such as road:seed=7; %s is none", info->name);
        return false;
    }
    if (!claim_take(&truth->claim, path)) {
        log_error("cannot write %s (--truth): %s; name another file", path, strerror(errno));
        return false;
    }
    truth->lines = xmemstream(&truth->text, &truth->size);
    return true;
}

static json_t *frame_json(const struct road_spec *road, uint64_t frame)
{
    char name[ROAD_NAME];
    struct road_truth lines;
    json_t *rows = json_array(), *lanes = json_array();
    road_frame_name(road, frame, name);
    road_truth(road, frame, &lines);
    for (int i = 0; i < ROAD_TRUTH_ROWS; i++)
        json_array_append_new(rows, json_integer(lines.y[i]));
    for (int line = 0; line < lines.lines; line++) {
        json_t *lane = json_array();
        for (int i = 0; i < ROAD_TRUTH_ROWS; i++) {
            const double x = lines.x[line][i];
            json_array_append_new(lane, x < 0 ? json_integer(-2) : json_real(round(x * 100) / 100));
        }
        json_array_append_new(lanes, lane);
    }
    return json_pack("{s:s,s:o,s:o}", "raw_file", name, "h_samples", rows, "lanes", lanes);
}

void truth_add(struct truth *truth, uint64_t frame)
{
    if (!truth->lines)
        return;
    json_t *json = frame_json(truth->road, frame);
    json_dumpf(json, truth->lines, JSON_COMPACT | JSON_REAL_PRECISION(8));
    fputc('\n', truth->lines);
    json_decref(json);
}

bool truth_close(struct truth *truth)
{
    if (!truth->lines)
        return true;
    xmemclose(truth->lines);
    const bool ok = truth->size == 0 || claim_write(&truth->claim, truth->text, truth->size);
    if (!ok)
        log_error("cannot write %s (--truth): %s", truth->claim.path, strerror(errno));
    free(truth->text);
    *truth = (struct truth){.lines = NULL};
    return ok;
}
