// score.c: see score.h
#include "lane/score.h"

#include "base/log.h"
#include "base/options.h"
#include "lane/overlap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_WIDTH = 1280, DEFAULT_HEIGHT = 720 };
enum { TRUTH_LANES = 4 }; // TuSimple forgives the worst line if the truth has more

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

bool score_frame(const struct lines_frame *truth, const struct lines_frame *found, int width, int height,
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
    const double lanes = forgiven ? TRUTH_LANES : truth->lanes;
    *score = (struct score_frame){
        .accuracy = divide(sum - (forgiven ? worst : 0), lanes, found->lanes == 0),
        .false_positives = divide(wrong > 0 ? wrong : 0, found->lanes, 0),
        .false_negatives = divide(missed - (forgiven && missed > 0), lanes, 0),
        .truth = truth->lanes,
        .found = found->lanes,
        .matches = overlap_matches(truth, found, width, height),
    };
    return score->matches >= 0;
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
    struct lines_frame **sorted = malloc(p->truth.count * sizeof(*sorted));
    size_t twice = 0;
    for (size_t i = 0; sorted && i < p->truth.count; i++) {
        sorted[i] = &p->truth.frame[i];
        if (!sorted[i]->name) {
            log_error("cannot use %s: line %zu: there is no 'raw_file', but other lines have it", p->setup->truth,
                      sorted[i]->line);
            free(sorted);
            return NULL;
        }
    }
    if (!sorted) {
        log_error("cannot score: out of memory");
        return NULL;
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
        const size_t number = !named ? i : at ? (size_t)(*at - p->truth.frame) : p->truth.count;
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

// Sums the scores of all frames. False: out of memory (logged).
static bool add_up(const struct pairing *p, struct score *score)
{
    const struct score_setup *setup = p->setup;
    struct option_size size = {setup->width, setup->height};
    if (size.width == 0)
        size = size_of(p->truth.frame[0].name);
    *score = (struct score){.frames = p->truth.count};
    for (size_t i = 0; i < p->truth.count; i++) {
        struct score_frame frame;
        if (!score_frame(&p->truth.frame[i], p->pair[i], size.width, size.height, &frame)) {
            log_error("cannot score: out of memory");
            return false;
        }
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
    return true;
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
        p.pair = calloc(p.truth.count, sizeof(struct lines_frame *));
        if (!p.pair)
            log_error("cannot score: out of memory");
        ok = p.pair && pair_frames(&p) && check_pairs(&p) && add_up(&p, score);
    }
    free(p.pair);
    lines_free(&p.truth);
    lines_free(&p.found);
    return ok;
}
