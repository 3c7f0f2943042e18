// finder.c: finds lane lines in the column sums of a bird's-eye picture: histogram peaks of the near strips, sliding
// windows, and a robust fit of all lines at once
#include "lane/finder.h"

#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWNS = LANE_TERMS + LANE_LINES, PASSES = 2, ROUNDS = 5, BESIDE = 3 };

static const double mark = 0.15;                           // width of a line in metres
static const double near_part = 26;                        // metres of the strips whose histogram is searched for peaks
static const double guard = 0.45, around = 1.6;            // metres: the noise of a column is measured between these
static const double faint = 0.7;                           // grey levels: the least noise
static const double full_mark = 8;                         // times the weakest mark
static const double peak_known = 0.06;                     // smallest mean of the histogram near a known line
static const double same_line = 0.6;                       // a peak this near a known line is this line
static const double lanes_narrow = 2.6, lanes_wide = 4.4;  // metres: widths of equal lanes that are searched
static const double lanes_usual = 3.4, lanes_other = 0.8;  // mean and standard deviation of this width
static const double lanes_reach = 0.15, lanes_most = 0.35; // metres beside a line; largest peak that counts
static const double lanes_outer = 0.7;                     // weight of the lines beside the own lane
static const double window = 0.7;                     // metres: width of the last windows; the first are twice as wide
static const double least_peak = 0.14;                // of a new line in the histogram; 1: an unbroken line
static const double gap = 1.2;                        // metres between lines on one side: cycle lanes are narrow
static const double window_mass = 0.2;                // a window with less shows no line
static const double window_grip = 0.2;                // metres: the line is this near the highest mass of a window
static const double beside[BESIDE] = {0.6, 0.9, 1.2}; // metres: a line's support is compared with that here
static const double agreeing = 20;                    // metres: the agreement is that of the windows up to here
static const double horizon = 250;                    // metres: nothing is measured beyond
static const double near_noise = 0.02, far_noise = 4e-3; // of a window's position in metres: near, and for each metre

const double lane_narrowest = 2.2;

// Standard deviations of the terms: without knowledge, and from frame to frame.
static const double term_range[LANE_TERMS] = {0.05, 3e-3, 3e-5, 6e-3};
static const double term_change[LANE_TERMS] = {0.01, 4e-4, 1e-5, 5e-3};

// The table as shares of a full mark, minus the mean of the strip. A column has the pixels around it, as far as a mark
// is wide.
struct strip_scene {
    const struct lane_table *table;
    struct lane_trace *trace; // NULL: none
    double metres;            // per column
    float mass[LANE_STRIPS][LANE_COLUMNS_MAX];
};

// Returns the distance on the road at the table's z, at most `horizon`.
static double distance_at(const struct lane_shape *shape, double z)
{
    const double scale = 1 + shape->term[LANE_SPREAD] * z;
    return z < horizon * scale ? z / scale : horizon;
}

double lane_x(const struct lane_shape *shape, double offset, double z)
{
    const double *term = shape->term, distance = distance_at(shape, z);
    return offset * (1 + term[LANE_SPREAD] * z) +
           z * (term[LANE_HEADING] + distance * (term[LANE_BEND] / 2 + distance * term[LANE_TWIST] / 6));
}

// Returns the table's z at the middle of a strip.
static double strip_z(const struct lane_table *table, int strip)
{
    return table->far - (strip + 0.5) * (table->far - table->near) / LANE_STRIPS;
}

static int column_of(const struct strip_scene *scene, double x)
{
    return (int)floor((x + scene->table->across / 2) / scene->metres);
}

static double x_of(const struct strip_scene *scene, int column)
{
    return (column + 0.5) * scene->metres - scene->table->across / 2;
}

// Adds the sums of a strip around each column, in grey levels. `until` gets the levels of all columns before each one.
static void fill_levels(const struct strip_scene *scene, int strip, float level[LANE_COLUMNS_MAX],
                        float until[LANE_COLUMNS_MAX + 1])
{
    const struct lane_table *table = scene->table;
    const uint32_t *sums = table->sums + (size_t)strip * (size_t)table->columns;
    const int reach = (int)(mark / scene->metres / 2 + 0.5);
    const double share = 255.0 / table->full * scene->metres / mark;
    until[0] = 0;
    for (int column = 0; column < table->columns; column++) {
        uint64_t sum = 0;
        for (int i = column - reach; i <= column + reach; i++)
            sum += i >= 0 && i < table->columns ? sums[i] : 0;
        level[column] = (float)((double)sum * share);
        until[column + 1] = until[column] + level[column];
    }
}

// A mark stands out from the road on both sides of it. The same ridge is a mark on smooth asphalt, and none in gravel.
// The square root keeps a weak mark beside a strong one.
static void fill_masses(struct strip_scene *scene, int strip)
{
    const int columns = scene->table->columns;
    const int inner = (int)(guard / scene->metres), outer = (int)(around / scene->metres);
    const double least = sqrt(scene->table->settings->contrast), most = least * (sqrt(full_mark) - 1);
    float *mass = scene->mass[strip], level[LANE_COLUMNS_MAX], until[LANE_COLUMNS_MAX + 1];
    double mean = 0;
    fill_levels(scene, strip, level, until);
    for (int column = 0; column < columns; column++) {
        const int a = clamp_int(column - outer, 0, columns), b = clamp_int(column - inner, 0, columns);
        const int c = clamp_int(column + inner + 1, 0, columns), d = clamp_int(column + outer + 1, 0, columns);
        const float noise = (until[b] - until[a] + until[d] - until[c]) / (float)(b - a + d - c);
        const double times = sqrt((double)level[column] / ((double)noise + faint));
        mass[column] = (float)fmin(fmax((times - least) / most, 0), 1);
        mean += (double)mass[column] / columns;
    }
    for (int column = 0; column < columns; column++) {
        if (scene->trace)
            scene->trace->mark[strip][column] = mass[column];
        mass[column] -= (float)mean;
    }
}

static void scene_fill(struct strip_scene *scene, const struct lane_table *table)
{
    scene->table = table;
    scene->metres = table->across / table->columns;
    for (int strip = 0; strip < LANE_STRIPS; strip++)
        fill_masses(scene, strip);
}

// ---- histogram ----

// The mean of the near strips, moved by the shape, for each offset.
static void fill_histogram(const struct strip_scene *scene, const struct lane_shape *shape,
                           float histogram[LANE_COLUMNS_MAX])
{
    const struct lane_table *table = scene->table;
    int strips = 0;
    memset(histogram, 0, LANE_COLUMNS_MAX * sizeof(*histogram));
    for (int strip = LANE_STRIPS - 1; strip >= 0; strip--) {
        const double z = strip_z(table, strip);
        if (z > table->near + near_part || distance_at(shape, z) >= horizon)
            break;
        const float zoom = (float)(1 + shape->term[LANE_SPREAD] * z), middle = (float)table->columns / 2;
        const float start = middle * (1 - zoom) + zoom / 2 + (float)(lane_x(shape, 0, z) / scene->metres);
        for (int column = 0; column < table->columns; column++) {
            const int from = (int)(start + zoom * (float)column + LANE_COLUMNS_MAX) - LANE_COLUMNS_MAX;
            histogram[column] += from >= 0 && from < table->columns ? scene->mass[strip][from] : 0;
        }
        strips++;
    }
    for (int column = 0; column < table->columns && strips > 0; column++)
        histogram[column] /= (float)strips;
}

// Sharp peaks give a large sum of squares.
static double sharpness(const float histogram[LANE_COLUMNS_MAX], int columns)
{
    float sum = 0;
    for (int column = 0; column < columns; column++)
        sum += histogram[column] * histogram[column];
    return (double)sum;
}

// A search of one or two terms around the shape, in steps to both sides.
struct term_search {
    enum lane_term a, b;
    int steps_a, steps_b;
};
static const double term_step[LANE_TERMS] = {[LANE_HEADING] = 0.012, [LANE_BEND] = 5e-4, [LANE_SPREAD] = 1.5e-3};

static void align(const struct strip_scene *scene, struct lane_shape *shape, struct term_search search)
{
    const struct lane_shape start = *shape;
    float histogram[LANE_COLUMNS_MAX];
    double best = -1;
    for (int a = -search.steps_a; a <= search.steps_a; a++)
        for (int b = -search.steps_b; b <= search.steps_b; b++) {
            struct lane_shape trial = start;
            trial.term[search.a] += a * term_step[search.a];
            trial.term[search.b] += b * term_step[search.b];
            fill_histogram(scene, &trial, histogram);
            const double sharp = sharpness(histogram, scene->table->columns) * (1 - 1e-3 * (a * a + b * b));
            if (sharp <= best)
                continue;
            best = sharp;
            *shape = trial;
        }
}

// Returns the offset's value in the histogram, or near it: 0 to `most`.
static double near_value(const struct strip_scene *scene, const float histogram[LANE_COLUMNS_MAX], double offset)
{
    const int reach = (int)(lanes_reach / scene->metres), middle = column_of(scene, offset);
    double best = 0;
    for (int column = middle - reach; column <= middle + reach; column++) {
        if (column >= 0 && column < scene->table->columns)
            best = fmax(best, (double)histogram[column]);
    }
    return fmin(best, lanes_most);
}

// Returns the evidence of three equal lanes, the own one in the middle: the largest sum of the histogram at their four
// lines. Unlikely widths and the other lanes' lines weigh less.
static double lanes_sum(const struct strip_scene *scene, const struct lane_shape *shape)
{
    const double step = 2 * scene->metres;
    float histogram[LANE_COLUMNS_MAX];
    double best = 0;
    fill_histogram(scene, shape, histogram);
    for (double width = lanes_narrow; width <= lanes_wide; width += step) {
        const double unlikely = (width - lanes_usual) / lanes_other;
        for (double left = -width; left <= 0; left += step) {
            const double own = near_value(scene, histogram, left) + near_value(scene, histogram, left + width);
            const double outer =
                near_value(scene, histogram, left - width) + near_value(scene, histogram, left + 2 * width);
            best = fmax(best, (own + lanes_outer * outer) * exp(-unlikely * unlikely / 2));
        }
    }
    return best;
}

static double smallest_peak(const struct lane_shape *prior, bool known, double offset)
{
    for (int i = 0; known && i < prior->lines; i++) {
        if (fabs(prior->line[i].offset - offset) < same_line)
            return peak_known;
    }
    return least_peak;
}

// Clears the histogram between two places.
static void clear_between(const struct strip_scene *scene, float histogram[LANE_COLUMNS_MAX], double from, double to)
{
    for (int column = 0; column < scene->table->columns; column++) {
        if (x_of(scene, column) > from && x_of(scene, column) < to)
            histogram[column] = 0;
    }
}

// Takes the highest peak, relative to its smallest height, until none is left; a peak excludes others near it.
static void find_peaks(const struct strip_scene *scene, struct lane_shape *shape, const struct lane_shape *prior,
                       bool known)
{
    float histogram[LANE_COLUMNS_MAX];
    fill_histogram(scene, shape, histogram);
    if (scene->trace)
        memcpy(scene->trace->histogram, histogram, sizeof(histogram));
    shape->lines = 0;
    while (shape->lines < LANE_LINES) {
        int best = -1;
        double best_share = 1;
        for (int column = 0; column < scene->table->columns; column++) {
            const double least = smallest_peak(prior, known, x_of(scene, column));
            const double share = (double)histogram[column] / least;
            if (share > best_share) {
                best_share = share;
                best = column;
            }
        }
        if (best < 0)
            return;
        const double offset = x_of(scene, best);
        shape->line[shape->lines++] = (struct lane_line){.offset = offset};
        clear_between(scene, histogram, offset - gap, offset + gap);
        if (offset < 0)
            clear_between(scene, histogram, 0, offset + lane_narrowest);
        else
            clear_between(scene, histogram, offset - lane_narrowest, 0);
    }
}

// ---- windows and fit ----

// The position of a line in a strip.
struct strip_window {
    double x, mass; // mass 0: the strip does not show the line
};

static struct strip_window look(const struct strip_scene *scene, int strip, double x, double half)
{
    const float *mass = scene->mass[strip];
    const int first = column_of(scene, x - half), last = column_of(scene, x + half);
    const int grip = (int)(window_grip / scene->metres + 0.5);
    struct strip_window found = {0, 0};
    if (first < 0 || last >= scene->table->columns)
        return found;
    int top = first;
    for (int column = first; column <= last; column++)
        top = mass[column] > mass[top] ? column : top;
    if ((double)mass[top] < window_mass)
        return found;
    double sum = 0, moment = 0;
    for (int column = top - grip > first ? top - grip : first; column <= last && column <= top + grip; column++) {
        sum += fmax((double)mass[column], 0);
        moment += fmax((double)mass[column], 0) * x_of(scene, column);
    }
    return (struct strip_window){moment / sum, (double)mass[top]};
}

struct fit {
    int unknowns;
    double matrix[UNKNOWNS][UNKNOWNS], right[UNKNOWNS];
};

// Adds the equation row * solution = value.
static void fit_add(struct fit *fit, const double row[UNKNOWNS], double value, double weight)
{
    for (int i = 0; i < fit->unknowns; i++) {
        for (int k = 0; k < fit->unknowns; k++)
            fit->matrix[i][k] += weight * row[i] * row[k];
        fit->right[i] += weight * row[i] * value;
    }
}

// Solves the normal equations, which are positive definite because of the prior.
static void fit_solve(struct fit *fit)
{
    const int n = fit->unknowns;
    for (int i = 0; i < n; i++)
        for (int row = i + 1; row < n; row++) {
            const double factor = fit->matrix[row][i] / fit->matrix[i][i];
            for (int k = i; k < n; k++)
                fit->matrix[row][k] -= factor * fit->matrix[i][k];
            fit->right[row] -= factor * fit->right[i];
        }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            fit->right[i] -= fit->matrix[i][k] * fit->right[k];
        fit->right[i] /= fit->matrix[i][i];
    }
}

static void add_prior(struct fit *fit, const struct lane_shape *shape, const struct lane_shape *prior, bool known)
{
    for (int i = 0; i < fit->unknowns; i++) {
        double row[UNKNOWNS] = {0};
        row[i] = 1;
        double value = 0, deviation = same_line;
        if (i >= LANE_TERMS) {
            value = shape->line[i - LANE_TERMS].offset;
        } else if (known) {
            value = prior->term[i];
            deviation = term_change[i];
        } else {
            deviation = term_range[i];
        }
        fit_add(fit, row, value, 1 / (deviation * deviation));
    }
}

// Adds that line `i` is `error` to the right of the shape, at z: a step of Gauss and Newton.
static void add_window(struct fit *fit, const struct lane_shape *shape, int i, double z, double error, double weight)
{
    const double d = distance_at(shape, z), offset = shape->line[i].offset, *term = shape->term;
    double row[UNKNOWNS] = {
        [LANE_HEADING] = z,
        [LANE_BEND] = z * d / 2,
        [LANE_TWIST] = z * d * d / 6,
        [LANE_SPREAD] = z * (offset - d * d * (term[LANE_BEND] / 2 + d * term[LANE_TWIST] / 3)),
    };
    row[LANE_TERMS + i] = 1;
    double value = error + offset;
    for (int k = 0; k < LANE_TERMS; k++)
        value += row[k] * term[k];
    fit_add(fit, row, value, weight);
}

// The standard deviation of a window's position in metres.
static double window_noise(double z)
{
    return near_noise + far_noise * z;
}

// Fits all lines to the windows as far as `far`. A window far from its line weighs little (Cauchy's weights). `boxes`
// gets the windows; NULL: it does not.
static void fit_lines(const struct strip_scene *scene, struct lane_shape *shape, const struct lane_shape *prior,
                      bool known, double far, double half, struct lane_box (*boxes)[LANE_STRIPS])
{
    const struct lane_table *table = scene->table;
    struct fit fit = {.unknowns = LANE_TERMS + shape->lines};
    add_prior(&fit, shape, prior, known);
    for (int i = 0; i < shape->lines; i++) {
        const double offset = shape->line[i].offset;
        for (int strip = LANE_STRIPS - 1; strip >= 0; strip--) {
            const double z = strip_z(table, strip), x = lane_x(shape, offset, z);
            if (z > far || distance_at(shape, z) >= horizon)
                break;
            const struct strip_window at = look(scene, strip, x, half);
            if (boxes)
                boxes[i][strip] = (struct lane_box){x, half, at.x, at.mass > 0};
            if (at.mass <= 0)
                continue;
            const double error = (at.x - x) / (half / 3), noise = window_noise(z);
            add_window(&fit, shape, i, z, at.x - x, at.mass / (1 + error * error) / (noise * noise));
        }
    }
    fit_solve(&fit);
    memcpy(shape->term, fit.right, sizeof(shape->term));
    for (int i = 0; i < shape->lines; i++)
        shape->line[i].offset = fit.right[LANE_TERMS + i];
}

// Measures where the strips show a line at this offset.
static struct lane_line seen_at(const struct strip_scene *scene, const struct lane_shape *shape, double offset)
{
    const struct lane_table *table = scene->table;
    const double half = window / 2, metres = (table->far - table->near) / LANE_STRIPS;
    int visible = 0, seen = 0, run = 0, longest = 0, near = 0;
    double error = 0; // sum for the near windows, in multiples of their noise
    for (int strip = LANE_STRIPS - 1; strip >= 0; strip--) {
        const double z = strip_z(table, strip), x = lane_x(shape, offset, z);
        if (!(fabs(x) + half < table->across / 2) || distance_at(shape, z) >= horizon)
            continue;
        visible++;
        const struct strip_window at = look(scene, strip, x, half);
        run = at.mass > 0 && fabs(at.x - x) <= half / 2 ? run + 1 : 0;
        seen += run > 0;
        if (run > 0 && z < agreeing) {
            error += fabs(at.x - x) / window_noise(z);
            near++;
        }
        longest = run > longest ? run : longest;
    }
    return (struct lane_line){.offset = offset,
                              .support = seen / fmax(visible, 1),
                              .longest = fmax(longest - 1, 0) * metres, // from the middle of a strip to the middle
                              .agreement = near > 0 ? 1 / (1 + error * error / (near * near)) : 0};
}

static bool beside_others(const struct lane_shape *shape, int line, double offset)
{
    for (int i = 0; i < shape->lines; i++) {
        if (i != line && fabs(shape->line[i].offset - offset) < beside[0])
            return false;
    }
    return true;
}

// A line is seen where it is, and not beside it. The road beside it shows how much of its support is chance: all of it
// in noise and in gravel.
static void measure_support(const struct strip_scene *scene, struct lane_shape *shape)
{
    for (int i = 0; i < shape->lines; i++) {
        struct lane_line line = seen_at(scene, shape, shape->line[i].offset);
        double chance = 0;
        int places = 0;
        for (int k = 0; k < 2 * BESIDE; k++) {
            const double offset = line.offset + (k % 2 ? -1 : 1) * beside[k / 2];
            if (!beside_others(shape, i, offset))
                continue;
            chance += seen_at(scene, shape, offset).support;
            places++;
        }
        chance /= places > 0 ? places : 1;
        line.support = fmax(line.support - chance, 0);
        shape->line[i] = line;
    }
}

// Compares two structs that begin with the offset of a line.
static int compare_offsets(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

// From round to round, the windows reach farther and become narrower.
static void fit_rounds(const struct strip_scene *scene, struct lane_shape *shape, const struct lane_shape *prior,
                       bool known)
{
    const struct lane_table *table = scene->table;
    const double last = window / 2, first = window;
    const double start = known ? table->far : table->near + near_part;
    struct lane_trace *trace = scene->trace;
    for (int round = 0; round < ROUNDS && shape->lines > 0; round++) {
        const double part = (double)round / (ROUNDS - 1);
        struct lane_box(*boxes)[LANE_STRIPS] = NULL;
        if (trace && round == 0)
            boxes = trace->band;
        else if (trace && round == ROUNDS - 1)
            boxes = trace->box;
        fit_lines(scene, shape, prior, known, start + (table->far - start) * fmin(1, part * 1.5),
                  first + (last - first) * part, boxes);
    }
}

int lane_find(struct lane_shape *shape, const struct lane_table *table, const struct lane_shape *prior, bool known,
              struct lane_trace *trace)
{
    struct strip_scene scene;
    scene.trace = trace;
    scene_fill(&scene, table);
    *shape = (struct lane_shape){.lines = 0};
    if (known)
        memcpy(shape->term, prior->term, sizeof(shape->term));
    const int steps = known ? 1 : 8;
    const int turns = table->turned && !known ? 20 : steps;
    align(&scene, shape, (struct term_search){LANE_HEADING, LANE_BEND, turns, steps});
    align(&scene, shape, (struct term_search){LANE_SPREAD, LANE_HEADING, 5, known ? 1 : 3});
    if (!known)
        align(&scene, shape, (struct term_search){LANE_HEADING, LANE_BEND, 2, 3});
    // The second pass finds the peaks that the first fit has made sharp.
    for (int pass = 0; pass < PASSES; pass++) {
        find_peaks(&scene, shape, prior, known);
        if (trace) {
            memset(trace->band, 0, sizeof(trace->band));
            memset(trace->box, 0, sizeof(trace->box));
            trace->shape = *shape;
            trace->known = known;
            trace->reach = table->near + near_part;
        }
        fit_rounds(&scene, shape, prior, known);
    }
    shape->lanes = known ? 0 : lanes_sum(&scene, shape);
    qsort(shape->line, (size_t)shape->lines, sizeof(*shape->line), compare_offsets);
    measure_support(&scene, shape);
    return shape->lines;
}

// ---- tracking: smooths the lines over frames, rejects jumps, drops lines that stay out of sight ----

enum { REJECTED_MAX = 3, SIDE_LINES = 2 };

static const double follows_line = 0.6;   // metres between a line and its track
static const double trust = 0.3;          // of a new support in the strength
static const double dropped = 0.12;       // a track with less ends
static const double enough_support = 0.4; // counts as full support, because dashes have gaps
static const double confirming = 0.4;     // quality of a line that confirms another one
static const double reported = 0.3;       // smallest strength of a reported line
static const double sure_line = 0.8;      // strength of a line that separates others
static const double clear_quality = 0.9;  // of a line that needs no other one
static const double ahead = 0.06;         // largest heading of a line that needs no other one
static const double long_line = 15;       // metres: a shorter one may be the edge of a patch or of the road

static double quality(const struct lane_line *line)
{
    return fmin(line->support / enough_support, 1);
}

static int nearest_line(const struct lane_shape *shape, double offset)
{
    int best = -1;
    double distance = follows_line;
    for (int i = 0; i < shape->lines; i++) {
        if (fabs(shape->line[i].offset - offset) > distance)
            continue;
        distance = fabs(shape->line[i].offset - offset);
        best = i;
    }
    return best;
}

// Returns true if the found shape continues the tracks: most of the confirmed ones are found again.
static bool continues(const struct lane_tracker *tracker, const struct lane_shape *found)
{
    double again = 0, all = 0;
    for (int i = 0; i < tracker->tracks; i++) {
        all += tracker->track[i].strength;
        if (nearest_line(found, tracker->track[i].line.offset) >= 0)
            again += tracker->track[i].strength;
    }
    return again >= all / 2;
}

// Moves the tracks to the found lines, and removes those lines from `found`.
static void move_tracks(struct lane_tracker *tracker, struct lane_shape *found, double smoothing)
{
    for (int i = 0; i < tracker->tracks; i++) {
        struct lane_track *track = &tracker->track[i];
        const int index = nearest_line(found, track->line.offset);
        if (index < 0) {
            track->line.support = 0;
            track->strength -= trust / 2 * track->strength;
            track->confidence -= trust / 2 * track->confidence;
            continue;
        }
        const double offset = track->line.offset;
        track->line = found->line[index];
        if (track->line.agreement > 0)
            track->confidence += trust * (track->line.agreement - track->confidence);
        track->strength += trust * (quality(&track->line) - track->strength);
        track->line.offset = offset + (1 - smoothing) * (track->line.offset - offset);
        found->line[index] = found->line[--found->lines];
    }
}

static void end_tracks(struct lane_tracker *tracker)
{
    int kept = 0;
    for (int i = 0; i < tracker->tracks; i++) {
        if (tracker->track[i].strength >= dropped)
            tracker->track[kept++] = tracker->track[i];
    }
    tracker->tracks = kept;
}

// A line alone may be any edge, with any bend, unless it is clear and long, and leads ahead.
static bool is_clear(const struct lane_shape *found, int line)
{
    return quality(&found->line[line]) >= clear_quality && found->line[line].longest >= long_line &&
           fabs(found->term[LANE_HEADING]) < ahead;
}

// A weak line must be seen twice before it is reported, except in the first frame of a road: two lines there confirm
// each other, because they are parallel. A single clear line is also reported there.
static void start_tracks(struct lane_tracker *tracker, const struct lane_shape *found)
{
    int sure = 0;
    for (int i = 0; i < found->lines; i++)
        sure += quality(&found->line[i]) >= confirming;
    const bool first = tracker->tracks == 0;
    for (int i = 0; i < found->lines && tracker->tracks < LANE_LINES; i++) {
        double trusted = !first || is_clear(found, i) ? 0.5 : 0.25;
        if (first && sure >= 2)
            trusted = 1;
        const double strength = trusted * quality(&found->line[i]);
        if (strength >= dropped)
            tracker->track[tracker->tracks++] = (struct lane_track){
                .line = found->line[i], .strength = strength, .confidence = found->line[i].agreement};
    }
}

// Returns the next confirmed track from `from` on, in steps of 1 or -1, at least `away` metres from `offset` and from
// each sure track in between (one that is not sure may be an arrow on the road); -1: none.
static int next_track(const struct lane_tracker *tracker, int from, int step, double offset, double away)
{
    for (int i = from; i >= 0 && i < tracker->tracks; i += step) {
        const struct lane_track *track = &tracker->track[i];
        if (track->strength < reported)
            continue;
        if (fabs(track->line.offset - offset) >= away)
            return i;
        if (track->strength >= sure_line)
            offset = track->line.offset;
    }
    return -1;
}

static void add_line(const struct lane_track *track, struct lane_result *result)
{
    struct lane_shape *shape = &result->shape;
    result->state = track->line.support > 0 || result->state == LANE_SEEN ? LANE_SEEN : LANE_HELD;
    result->confidence += track->confidence;
    result->line[shape->lines] = track->confidence;
    shape->line[shape->lines++] = track->line;
}

// Reports the lines beside the camera, and the next one on each side that is a lane away: a nearer one is a kerb, or
// the border of a cycle lane.
static void report(const struct lane_tracker *tracker, struct lane_result *result)
{
    int middle = 0, line[2 * SIDE_LINES]; // from left to right
    while (middle < tracker->tracks && tracker->track[middle].line.offset < 0)
        middle++;
    for (int side = 0; side < 2; side++) {
        const int step = 2 * side - 1, inner = 1 + side, own = next_track(tracker, middle - !side, step, 0, 0);
        line[inner] = line[inner + step] = own;
        if (own >= 0)
            line[inner + step] = next_track(tracker, own, step, tracker->track[own].line.offset, lane_narrowest);
    }
    *result = (struct lane_result){.shape = tracker->shape, .left = -1, .right = -1};
    result->shape.lines = 0;
    for (int i = 0; i < 2 * SIDE_LINES; i++) {
        if (line[i] < 0)
            continue;
        result->left = i == 1 ? result->shape.lines : result->left;
        result->right = i == 2 ? result->shape.lines : result->right;
        add_line(&tracker->track[line[i]], result);
    }
    result->confidence /= result->shape.lines > 0 ? result->shape.lines : 1;
}

void lane_track(struct lane_tracker *tracker, const struct lane_table *table, struct lane_result *result,
                struct lane_trace *trace)
{
    struct lane_shape found;
    lane_find(&found, table, &tracker->shape, tracker->known, trace);
    if (tracker->known && !continues(tracker, &found)) {
        found.lines = 0;
        if (++tracker->rejected > REJECTED_MAX)
            *tracker = (struct lane_tracker){.known = false};
    } else if (found.lines > 0) {
        tracker->rejected = 0;
        memcpy(tracker->shape.term, found.term, sizeof(found.term));
    }
    move_tracks(tracker, &found, table->settings->smoothing);
    end_tracks(tracker);
    if (tracker->tracks == 0 && (found.lines == 0 || (found.lines == 1 && !is_clear(&found, 0))))
        *tracker = (struct lane_tracker){.known = false};
    start_tracks(tracker, &found);
    qsort(tracker->track, (size_t)tracker->tracks, sizeof(*tracker->track), compare_offsets);
    tracker->known = tracker->tracks > 0;
    tracker->shape.lines = tracker->tracks;
    for (int i = 0; i < tracker->tracks; i++)
        tracker->shape.line[i] = tracker->track[i].line;
    report(tracker, result);
}
