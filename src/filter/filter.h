// filter.h: a filter: name, parameters and the arguments of its kernel, kernels/NAME.cl (docs/pixels.md section 3)
#pragma once

#include "filter/file_resource.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FILTER_PARAMS = 8,      // parameters a filter may have
    FILTER_MATRIX = 81,     // numbers in the largest matrix, 9x9
    FILTER_LEVELS = 256,    // values of a channel
    FILTER_ARGUMENTS = 272, // arguments of a filter's function without a resource: one for each level, and 16 more
    FILTER_RADIUS_MAX = 15, // of a square stencil
    FILTER_REACH_MAX = 60,  // of a stencil of one row, and of a separable one
    FILTER_STEPS = 8,       // of a FILTER_SEVERAL; a separable filter counts as two
    FILTER_FILE = 256,      // bytes of a file's name, with the NUL
};

// The first arguments of a user's filter (kernels/user.cl), and of a filter with a second picture. The plan sets width
// and height, those of its picture; the path sets the facts of the frame (struct frame_time).
enum { FACT_PREVIOUS, FACT_FRAME, FACT_TIME, FACT_WIDTH, FACT_HEIGHT, FACTS };

enum filter_kind {
    FILTER_POINT,    // a pixel depends only on itself
    FILTER_STENCIL,  // a pixel depends on its neighbours within a radius
    FILTER_GEOMETRY, // pixels move, values stay
    FILTER_WARP,     // a pixel is interpolated at a place that a map gives; the output may have another size
    FILTER_SEVERAL,  // other filters, one after the other: its steps
};

// A point filter's effect on grey: pixels whose three colours are equal. Stencils treat each colour alike, and so do
// geometry and warps without `placed`: these keep grey.
enum filter_color {
    FILTER_COLORS,     // grey may become coloured
    FILTER_KEEPS_GREY, // grey stays grey
    FILTER_MAKES_GREY, // of any kind: every pixel becomes grey
};

// The second picture of a point filter.
enum filter_second {
    SECOND_NONE,     // it has none
    SECOND_PREVIOUS, // its previous output
    SECOND_INPUT,    // its previous input
    SECOND_KEPT,     // of masks: the input of an earlier filter of the chain, the kept picture (chain_kept)
    SECOND_PICTURE,  // of users' filters: an image file, which a parameter names, as numbers after the parameters
};

enum param_type {
    PARAM_INT,
    PARAM_REAL,
    PARAM_CHOICE, // one word of `choices`; the value is its index
    PARAM_MATRIX, // 1, 9, 25, 49 or 81 numbers, or a word of `choices`, a preset
    PARAM_MAP,    // 8 or 9 numbers, or a word of `choices`, a preset
    PARAM_POINTS, // at least two pairs x/y, or a word of `choices`, a preset
    PARAM_COLOR,  // a colour, 0xrrggbb (chain.h)
    PARAM_TEXT,   // a text; 0: the default one
    PARAM_FILE,   // the name of a file, or `none`; of users' filters: an image file
};

enum { COLOR_MAX = 0xffffff, COLOR_STEP = 0x111111 }; // of PARAM_COLOR: white, and from grey to grey

struct param {
    const char *name; // NULL ends the list
    enum param_type type;
    float min, max, preset; // with numbers: the default preset's index
    float step;             // change per key press in the live view
    const char *choices;    // "luma|average"; PARAM_TEXT: the default text
    const char *help;
};

// The values of a filter's parameters. At most one parameter has numbers, and at most one a file or a text, so these
// have places of their own.
struct filter_values {
    // With numbers: index of the preset; -1: numbers. PARAM_FILE, PARAM_TEXT: 1: `file`; 0: none, or not now.
    float value[FILTER_PARAMS];
    int matrix_count; // the count of numbers; 0: none
    float matrix[FILTER_MATRIX];
    char file[FILTER_FILE]; // the file's absolute name, or the text; "": none
    // What filter.reads made of the file, while the stage is held (chain_hold); without `numbers`: it is refused.
    const struct file_resource *resource; // NULL: no file, or not held
};

struct image; // image.h
struct plan;  // plan.h
struct filter;

// A filter with these values of its parameters.
struct filter_step {
    const struct filter *filter;
    float value[FILTER_PARAMS];
};

// Where a mask finds its kept picture.
enum kept {
    KEPT_PIXEL,   // it is the input of an earlier point filter of the pass
    KEPT_CENTRE,  // it is the input of the pass's stencil
    KEPT_PICTURE, // the pass gets it as its second picture (struct plan_picture)
};

// A separable filter runs twice: along rows, then along columns. The plan makes both parts.
enum filter_part { FILTER_WHOLE, FILTER_ALONG_ROWS, FILTER_ALONG_COLUMNS };

// How `scale` weighs the pixels of a row or column.
enum filter_taps { TAPS_NONE, TAPS_AREA, TAPS_LANCZOS, TAPS_NEAREST };

// The distortion of a lens, in OpenCV's models (docs/pixels.md section 3).
enum lens_model { LENS_NONE, LENS_RADIAL, LENS_FISHEYE };
enum { LENS_TERMS = 5 };

struct lens {
    enum lens_model model;
    double focal_x, focal_y, centre_x, centre_y; // pixels
    double term[LENS_TERMS];                     // radial: k1 k2 p1 p2 k3; fisheye: k1 k2 k3 k4
};

// The output of a FILTER_WARP for an input of one size. The matrix maps the centre of an output pixel, (x, y, 1), to
// the input: (u w, v w, w), row by row. Centres of pixels have whole numbers. A lens then distorts the point (u, v).
struct filter_map {
    int width, height;
    double matrix[9];
    struct lens lens;
    enum filter_taps taps; // weighted pixels of columns, then of rows, replace the matrix; TAPS_NONE: the matrix
    enum filter_part part; // of the taps, set by the plan
    int shift;             // of the matrix, set by the plan: the grid has nodes at every 2^shift pixels
};

// Arguments of the kernel. The host computes these integers once, so that every path uses the same ones.
struct filter_arguments {
    int radius; // stencils: pixels on each side; otherwise 0
    int rows;   // stencils: rows above and below, the radius or 0
    enum filter_part part;
    bool whole; // of a separable filter: it runs once, as a square stencil, not along rows and then columns
    bool loops; // stencils: the function has long loops, which devices cannot unroll
    int tiles;  // of a filter with `measured`: the tiles of its input in each row and column (histogram_parts); 0: none
    bool weighed; // the plan that the stage is from has added premultiply and unpremultiply if needed
    bool alpha;   // stencils: they make alpha like a colour; false: alpha is that of the centre pixel
    int spans;    // SECOND_KEPT: the mask limits the last filters, this many; 0: those of its group (chain_kept)
    // SECOND_KEPT, set by the plan. `back`: with KEPT_PIXEL, the kept picture is the input of the filter this many
    // before in the pass's list.
    enum kept kept;
    int back;
    int count;
    int32_t value[FILTER_ARGUMENTS];
    int32_t *resource; // numbers that the plan owns (plan_fill), in place of `value`; NULL: `value` has the numbers
    int followed;      // number of arguments, from the first on, that `follow` set for the last frame
};

static inline const int32_t *filter_numbers(const struct filter_arguments *arguments)
{
    return arguments->resource ? arguments->resource : arguments->value;
}

static inline int32_t *filter_own_numbers(struct filter_arguments *arguments)
{
    return arguments->resource ? arguments->resource : arguments->value;
}

// The sizes of a stage's input and output.
struct stage_size {
    int from_width, from_height, width, height;
};

// The number and time of a frame in its source. Zeroed for a picture that belongs to no source.
struct frame_time {
    uint64_t number;    // of the frame in its source, from 0 on
    int64_t time_ns;    // its time there
    const char *source; // its name, valid while the frame is submitted; NULL: unknown
    bool previous;      // it continues the frame before: no seek and no other chain came between; false: filters get
                        // their input as the previous picture
    int wait_ms;        // for another program's result for this frame; -1: as long as it takes
    int64_t clock_s;    // seconds since 1970; the path sets it
    const struct image
        *picture;            // the frame, while it is submitted; NULL: none, or it arrives by rows; the path sets it
    const struct plan *plan; // of the stage whose arguments follow the frame; the plan sets it
};
// For arguments, which have 32 bits: the value begins at 0 again after 2^31 - 1.
static inline int32_t frame_time_argument(uint64_t value)
{
    return (int32_t)(value & INT32_MAX);
}

// The histograms that a filter gets before it runs (filter.measured): one for each part of its input.
enum {
    HISTOGRAM_TILES = 16,
    HISTOGRAM_CHANNELS = 3
}; // maximum number of tiles in a row or column; parts with `colors`

struct histogram_parts {
    bool colors;       // the parts are red, green and blue of the whole input; else the luma of its tiles, row by row
    int parts;         // the number of histograms
    int tiles;         // in each row and column
    int width, height; // of a tile; histogram_mirrored (histogram.h) gives its pixels beyond the input
};

struct user_filter; // user_filter.h
struct stage;       // chain.h

// FILTER_WARP: how pixels move.
struct filter_warping {
    // Sets the zeroed map for an input of this size. The output may be larger than CHAIN_SIDE_MAX.
    void (*map)(const struct filter_values *values, int width, int height, struct filter_map *map);
    // Sets the places of all pixels, in 1/256 pixel, instead of the map. The grid has a shift of 0 (warp.h); its nodes
    // have the map's places before this call. NULL: the map gives the places.
    void (*places)(const struct filter_values *values, const struct filter_map *map, int32_t *nodes);
    bool returns; // another warp, to the nearest pixels, returns to the size of the input
};

struct filter_measured {
    // Replaces arguments by those for an input with these histograms, one after the other. The kernel with the filter's
    // name in histogram.cl does the same on a device.
    void (*measure)(const uint32_t *counts, int32_t *arguments);
    bool colors; // the histograms are of red, green and blue; else of luma
};

enum filter_alpha {
    ALPHA_STAYS,
    ALPHA_CHANGES, // FILTER_POINT: its function changes alpha, or alpha is needed later
    ALPHA_WEIGHS,  // FILTER_STENCIL: alpha weighs the colours and is a mean itself, unless the filter is a step
};

struct filter {
    const char *name;
    const char *summary; // one line
    const char *example; // chain text
    const char *usage;   // the example for help and documentation, if it names a file of the user; NULL: `example`
    enum filter_kind kind;
    enum filter_color color;
    const struct param *params; // a row without a name ends the list; NULL: none
    enum filter_second second;  // FILTER_POINT: the second picture; only a user's filter has SECOND_PICTURE
    bool mirror, flip;          // FILTER_GEOMETRY: exchanges left and right, or top and bottom
    int radius;                 // FILTER_STENCIL: its radius, unless `prepare` sets another
    bool one_row;               // FILTER_STENCIL: it reads no row above or below
    // FILTER_STENCIL: it runs along rows with the first argument 0, then along columns with 1. If `prepare` sets
    // `whole`, it runs once.
    bool separable;
    enum filter_alpha alpha;
    // FILTER_POINT: its arguments are those of tables.h, and its function is `looked_up`.
    bool table;
    // FILTER_POINT: its function also gets the pixel's place. FILTER_WARP: its function changes the pixels of the
    // result, and also gets their places.
    bool placed;

    // Makes the numbers of the file, for filter_values.resource, from one reading. All other functions use these
    // numbers, never the file. NULL: no parameter is a PARAM_FILE.
    resource_maker *reads;
    // Computes the arguments. Returns false if each value is in its range but the combination is impossible; *why is
    // then a static text. NULL: no arguments.
    bool (*prepare)(const struct filter_values *values, struct filter_arguments *arguments, const char **why);
    const struct filter_measured *measured; // FILTER_POINT: arguments follow from histograms of the input; NULL: none
    // Sets the arguments that depend on the sizes, and their count if that does. NULL: none do.
    void (*fit)(const struct filter_values *values, const struct stage_size *size, struct filter_arguments *arguments);
    // Makes a resource: as many numbers as arguments. They begin with those of `prepare` and `fit`; the others are 0.
    // Not called if the file is refused. False: `why` gets one line. NULL: the filter has no resource.
    bool (*fill)(const struct stage *stage, const struct stage_size *size, int32_t *numbers, char why[FILTER_WHY]);
    // Sets the first arguments for a frame, and returns their count. NULL: no argument depends on the frame.
    int (*follow)(const struct stage *stage, const struct stage_size *size, const struct frame_time *frame_time,
                  int32_t *arguments);

    // FILTER_SEVERAL: writes its zeroed steps, which are no FILTER_WARP and at most one FILTER_POINT. Returns their
    // number.
    int (*steps)(const struct filter_values *values, struct filter_step steps[FILTER_STEPS]);

    const struct filter_warping *warp; // FILTER_WARP
    // A filter from a user's file, which has the kernel and computes the arguments. NULL: a filter of monocle.
    struct user_filter *user;
};

// All filters of monocle, in the order of the help; NULL ends the list.
extern const struct filter *const filters[];

// Returns filter `index` of monocle's filters and then the user's; NULL after the last one.
const struct filter *filter_at(int index);
const char *filter_group(const struct filter *filter); // "tones and colours"; "" for `none`
// Returns filter `index` of all groups, one group after another, and sets *group to its group. NULL after the last one.
const struct filter *filter_in_group(int index, const char **group);
// Ignores case. NULL: there is none.
const struct filter *filter_find(const char *name);
// Return static chain text for an unknown name; NULL: no suggestion. filter_elsewhere knows only names
// from other programs ("edges": "sobel"); filter_advice also finds the nearest name.
const char *filter_elsewhere(const char *word);
const char *filter_advice(const char *word);
const char *filter_usage(const struct filter *filter); // its `usage` or its `example`
void filter_split_color(float color, int32_t rgb[3]);  // of a PARAM_COLOR
int filter_param_count(const struct filter *filter);
bool param_has_numbers(const struct param *param); // PARAM_MATRIX, PARAM_MAP, PARAM_POINTS
bool filter_file_wanted(const struct filter *filter, const struct filter_values *values); // PARAM_FILE is a file
bool filter_file_varies(const struct filter_values *values); // the file's name has {stem}: each image has its own file
bool filter_is_mask(const struct filter *filter);            // it has SECOND_KEPT
bool filter_moves(const struct filter *filter);              // it moves pixels, and does not move them back
bool filter_gets_previous(const struct filter *filter);      // its second picture is of the previous frame
bool filter_has_second(const struct filter *filter);         // it has a second picture that comes from no file
// The result depends on a pixel's place: `placed`, with such a second picture, or a user's filter.
bool filter_is_placed(const struct filter *filter);
bool filter_returns(const struct filter *filter); // filter_warping.returns
// A mask that follows frames makes its arguments from frame_time.picture, so filters before it may turn the picture
// (stage_turns), but not move its pixels otherwise.
static inline bool filter_sees_frame(const struct filter *filter)
{
    return filter->second == SECOND_KEPT && filter->follow;
}
// A filter's `follow`: the first argument says whether there is a previous frame.
int filter_follow_previous(const struct stage *stage, const struct stage_size *size,
                           const struct frame_time *frame_time, int32_t *arguments);
// Returns true if the filter's output is grey, given whether its input is grey.
bool filter_leaves_grey(const struct filter *filter, bool grey);
