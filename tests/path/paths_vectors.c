// paths_vectors.c: cases of the cpu path that depend on the vector instructions
#include "paths_test.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof(*(array))))

static void run_formats(struct path_test *test)
{
    static const int sizes[][2] = {{1, 1}, {2, 1}, {1, 2}, {3, 3}, {7, 5}, {33, 17}, {130, 67}, {642, 3}, {256, 6}};
    for (int format = 0; format < PIXFMT_COUNT; format++) {
        for (int i = 0; i < COUNT(sizes); i++)
            path_case(test, format, sizes[i], "none");
        for (int color = 0; color < 6; color++) {
            struct path_case one = {.format = format, .width = 64, .height = 20, .chain = "none", .frames = 2};
            one.color = (struct color){COLOR_MATRIX_601 + color % 3, COLOR_RANGE_LIMITED + color / 3};
            path_case_run(test, &one);
        }
    }
}

// Filters with vector code.
static const char *const vector_chains[] = {
    "gray",
    "maxrgb",
    "invert",
    "threshold",
    "gamma",
    "contrast",
    "curves=contrast",
    "sepia",
    "mirror",
    "flip",
    "blur=1",
    "blur=2",
    "blur=4",
    "blur=7",
    "blur=8",
    "blur=15",
    "convolve",
    "convolve=gaussian",
    "emboss",
    "sharpen",
    "sobel",
    "prewitt",
    "gray,scharr",
    "roberts",
    "laplacian",
    "deinterlace",
    "gray,deinterlace",
    "median",
    "median=2",
    "gray,median=4",
    "unsharp",
    "gray,unsharp=3:2:9",
    "gaussian",
    "gaussian=5.5",
    "gaussian=4",
    "erode=3",
    "bilateral=2",
    "canny=10:40",
    "gray,nlmeans",
    "nlmeans=8:5:5",
    "dilate=2:disc",
    "erode=4:disc",
    "gray,open=2",
    "scale=factor=0.7",
    "scale=0:2:method=area",
    "gray,dilate=9",
    "gray,sobel",
    "gray,median",
    "ridge=6",
    "gray,ridge=21",
    "blur=2,gray,emboss",
    ("convolve=1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 "
     "1 2 3 4 5 6 7 8 9 1 2 3 -99")};

// Rows of every width modulo the vector size, through the filters with vector code. A few widths of each filter: from
// no whole vector to several, with each number of pixels left over for another filter.
static void run_widths(struct path_test *test, bool all)
{
    enum { EACH = 96, WIDTHS = 300 }; // wider rows: every remainder by a power of two
    const int step = all ? 1 : 5, wide_step = 7 * step;
    for (int i = 0; i < COUNT(vector_chains); i++)
        for (int width = 1 + i % step; width <= WIDTHS; width += width < EACH ? step : wide_step)
            path_case(test, i % 3 ? PIXFMT_RGBA : PIXFMT_NV12, (const int[]){width, 3 + i % 2}, vector_chains[i]);
}

// The largest radii.
static void run_wide(struct path_test *test)
{
    static const char *const chains[] = {"erode=60", "dilate=60:disc", "erode=33:disc", "gaussian=20", "gaussian=5.3"};
    for (int i = 0; i < COUNT(chains); i++)
        path_case(test, PIXFMT_RGBA, (const int[]){83, 9}, chains[i]);
}

// Colours and grey run different code.
static void run_filters(struct path_test *test)
{
    static const enum pixfmt formats[] = {PIXFMT_RGBA, PIXFMT_GREY, PIXFMT_444P};
    for (int i = 0; path_filters[i]; i++)
        for (int k = 0; k < COUNT(formats); k++)
            path_case(test, formats[k], (const int[]){130, 19}, path_filters[i]);
    for (int i = 0; filters[i]; i++)
        path_case(test, PIXFMT_RGBA, (const int[]){130, 19}, filters[i]->example);
}

void paths_vectors(struct path_test *test, bool all)
{
    run_formats(test);
    run_widths(test, all);
    run_wide(test);
    run_filters(test);
    paths_exact(test, false);
}
