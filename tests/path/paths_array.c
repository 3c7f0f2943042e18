// paths_array.c: covering arrays: each pair of a format, a filter, a size, a result and so on, in few cases
//
// The arrays have classes of formats, whose members take turns. A device compiles a program for each format, filter and
// arrangement of point filters, which takes most of the time. So its array has classes of filters, too, and each
// program runs several sizes. The cpu path has an array of all filters.
#include "pairs.h"
#include "path/variants.h"
#include "paths_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof(*(array))))

enum factor { FORMAT, BEFORE, MAIN, AFTER, SIZE, RESULT, COLOR, DEPTH, THREADS, VARIANT, FACTORS };
enum { COLORS = 6, THREADS_MOST = 5, SIZES = 5, SIZES_EACH = 2, MEMBERS = 16 };

// Filters before and after the main one: none, without and with arguments, grey, mirrors, a pass of its own.
static const char *const befores[] = {"", "gray", "mirror", "otsu", "flip,gamma=2"};
static const char *const afters[] = {"", "gray,threshold=90", "flip,sepia", "mirror,contrast=0.8,sobel"};

// Sizes of frames through one program: smaller than a stencil, odd, and more than a work-group or a band of rows.
static const int sizes[SIZES][SIZES_EACH][2] = {
    {{1, 1}, {130, 67}}, {{2, 1}, {514, 5}}, {{34, 17}, {3, 200}}, {{2, 2}, {94, 61}}, {{8, 5}, {256, 64}},
};

// Formats of pixels, of luma, of packed groups and of several planes.
static const struct {
    int count;
    enum pixfmt members[MEMBERS];
} loaders[] = {
    {1, {PIXFMT_RGBA}},
    {1, {CASE_OPAQUE}},
    {1, {PIXFMT_GREY}},
    {4, {PIXFMT_RGB24, PIXFMT_YUYV, PIXFMT_BGR24, PIXFMT_UYVY}},
    {8, {PIXFMT_NV12, PIXFMT_YU12, PIXFMT_NV21, PIXFMT_YV12, PIXFMT_NV16, PIXFMT_422P, PIXFMT_NV61, PIXFMT_444P}},
};

// Filters that the same template computes in the same way.
static const char *const mains[][MEMBERS] = {
    {""},
    {"emboss", "sobel", "sharpen", "median", "emboss=s"},
    {"blur=1", "blur=2", "blur=3", "blur=4"},
    {"convolve=gaussian", "convolve=edge:bias=90", "convolve=1 2 0 0 0 0 0 0 300",
     "convolve=1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3 -99"},
    {"ridge=3", "ridge=9", "ridge=1",
     "convolve=1 1 1 1 1 1 1 1 1 2 1 1 1 1 1 1 1 1 3 1 1 1 1 1 1 1 1 4 1 1 1 1 1 1 1 1 5 1 1 1 1 1 1 1 1 6 1 1 1 1 1 1 "
     "1 "
     "1 7 1 1 1 1 1 1 1 1 8 1 1 1 1 1 1 1 1 9 1 1 1 1 1 1 1 1"},
    {"blur=5", "blur=9", "blur=15", "blur=6"},
    {"crop=40:30:1:2", "scale=factor=1.5", "rotate=90", "rotate=30", "warp=road", "undistort"},
};

static const char *const usual_variants[] = {NULL, "generic", "inside:ROWS=3:GROUP_WIDTH=32"};
static const char *const window_variants[] = {"window", "window:TILE=2:ROWS=1", "window:TILE=3:CONSTANT=2"};

static void join(char *text, size_t size, const char *before, const char *main, const char *after)
{
    const char *const parts[] = {before, main, after};
    text[0] = '\0';
    for (int i = 0; i < COUNT(parts); i++) {
        const size_t at = strlen(text);
        snprintf(text + at, size - at, "%s%s", at > 0 && parts[i][0] ? "," : "", parts[i]);
    }
    if (!text[0])
        snprintf(text, size, "none");
}

// Runs a row with one size.
static void run(struct path_test *test, const int *row, enum pixfmt format, const char *main, const int size[2])
{
    char chain[2048];
    join(chain, sizeof(chain), befores[row[BEFORE]], main, afters[row[AFTER]]);
    struct path_case one = {.format = format, .width = size[0], .height = size[1], .chain = chain};
    one.color = (struct color){COLOR_MATRIX_601 + row[COLOR] % 3, COLOR_RANGE_LIMITED + row[COLOR] / 3};
    one.depth = 1 + row[DEPTH];
    one.frames = test->kind != PATH_CPU || test->cases % 4 == 0 ? one.depth + 1 : 1; // references take most of the time
    one.threads = 1 + row[THREADS];
    test->result = RESULT_TURN + 1 + row[RESULT];
    path_case_run(test, &one);
    test->result = RESULT_TURN;
}

static struct pairs make(struct path_test *test, const int values[FACTORS])
{
    struct pairs pairs = {.factors = FACTORS};
    struct random random = {1};
    memcpy(pairs.values, values, sizeof(pairs.values[0]) * FACTORS);
    pairs_make(&pairs, &random);
    const long missing = pairs_missing(&pairs, pairs.count), without_last = pairs_missing(&pairs, pairs.count - 1);
    check_that(&test->check, missing == 0, "%ld pairs of values are in no case", missing);
    check_that(&test->check, without_last > 0, "a case without a new pair");
    return pairs;
}

static enum pixfmt next_format(int loader, int used[COUNT(loaders)])
{
    return loaders[loader].members[used[loader]++ % loaders[loader].count];
}

// Returns the number of filters of a class.
static int members(const char *const *class)
{
    int count = 0;
    while (count < MEMBERS && class[count])
        count++;
    return count;
}

static void device_array(struct path_test *test)
{
    const char *const wanted = test->variant;
    const bool window = wanted && strcmp(wanted, "window") == 0;
    const char *const *chosen = window ? window_variants : usual_variants;
    const int values[FACTORS] = {
        [FORMAT] = COUNT(loaders),
        [BEFORE] = COUNT(befores),
        [MAIN] = COUNT(mains),
        [AFTER] = COUNT(afters),
        [SIZE] = SIZES,
        [RESULT] = RESULT_COUNT - 1,
        [COLOR] = COLORS,
        [DEPTH] = PATH_DEPTH_MAX,
        [THREADS] = 1,
        [VARIANT] = window || (!wanted && test->kind != PATH_GL) ? COUNT(usual_variants) : 1,
    };
    struct pairs pairs = make(test, values);
    int used[COUNT(mains)] = {0}, used_loader[COUNT(loaders)] = {0};
    for (int i = 0; i < pairs.count; i++) {
        const int *row = pairs.rows[i], class = row[MAIN], loader = row[FORMAT];
        const char *main = mains[class][used[class]++ % members(mains[class])];
        const enum pixfmt format = next_format(loader, used_loader);
        test->variant = values[VARIANT] > 1 ? chosen[row[VARIANT]] : wanted;
        for (int k = 0; k < SIZES_EACH; k++)
            run(test, row, format, main, sizes[row[SIZE]][k]);
    }
    test->variant = wanted;
    for (int i = 0; i < COUNT(mains); i++)
        check_that(&test->check, used[i] >= members(mains[i]), "filters of class %d: %d of %d run", i, used[i],
                   members(mains[i]));
    for (int i = 0; i < COUNT(loaders); i++)
        check_that(&test->check, used_loader[i] >= loaders[i].count, "a format of class %d does not run", i);
    pairs_free(&pairs);
}

static int count_texts(const char *const *texts)
{
    int count = 0;
    while (texts[count])
        count++;
    return count;
}

static void cpu_array(struct path_test *test)
{
    const int values[FACTORS] = {
        [FORMAT] = COUNT(loaders),
        [BEFORE] = COUNT(befores),
        [MAIN] = count_texts(path_filters),
        [AFTER] = COUNT(afters),
        [SIZE] = SIZES * SIZES_EACH,
        [RESULT] = RESULT_COUNT - 1,
        [COLOR] = COLORS,
        [DEPTH] = PATH_DEPTH_MAX,
        [THREADS] = THREADS_MOST,
        [VARIANT] = 1,
    };
    struct pairs pairs = make(test, values);
    int used[COUNT(loaders)] = {0};
    for (int i = 0; i < pairs.count; i++) {
        const int *row = pairs.rows[i];
        run(test, row, next_format(row[FORMAT], used), path_filters[row[MAIN]],
            sizes[row[SIZE] / SIZES_EACH][row[SIZE] % SIZES_EACH]);
    }
    pairs_free(&pairs);
}

void paths_array(struct path_test *test)
{
    if (test->kind == PATH_CPU)
        cpu_array(test);
    else
        device_array(test);
}

void paths_chains(struct path_test *test)
{
    for (int i = 0; path_chains[i]; i++)
        for (int k = 0; k < SIZES * SIZES_EACH; k++)
            path_case(test, (7 * i + 3 * k) % CASE_FORMATS, sizes[k / SIZES_EACH][k % SIZES_EACH], path_chains[i]);
}

void paths_streaming_stores(struct path_test *test)
{
    static const char *const chains[] = {"none",
                                         "gray",
                                         "gray=average",
                                         "maxrgb",
                                         "invert,maxrgb",
                                         "mirror",
                                         "flip,mirror,gray",
                                         "flip",
                                         "gray,sepia,maxrgb",
                                         "invert",
                                         "threshold",
                                         "sepia",
                                         "gamma",
                                         "contrast",
                                         "blur=1",
                                         "blur=2",
                                         "blur=9",
                                         "blur=3,gray",
                                         "blur=2,mirror",
                                         "blur=2,otsu",
                                         "blur=3,flip",
                                         "blur=2,emboss",
                                         "gray,emboss",
                                         "flip,gray,sobel"};
    static const int pictures[][2] = {{8, 3}, {16, 16}, {34, 17}, {40, 20}, {72, 50}, {256, 64}};
    struct pairs pairs = {.factors = 3, .values = {COUNT(chains), CASE_FORMATS, COUNT(pictures)}};
    struct random random = {1};
    pairs_make(&pairs, &random);
    check_that(&test->check, pairs_missing(&pairs, pairs.count) == 0, "pairs of values are in no case");
    test->streams = true;
    for (int i = 0; i < pairs.count; i++) {
        const int *row = pairs.rows[i];
        path_case(test, row[1], pictures[row[2]], chains[row[0]]);
    }
    test->streams = false;
    pairs_free(&pairs);
}
