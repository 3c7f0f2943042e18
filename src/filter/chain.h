// chain.h: a chain of filters, as text and as stages (docs/pixels.md section 4)
#pragma once

#include "filter/filter.h"

enum { CHAIN_MAX = 16, CHAIN_TEXT = 4096, CHAIN_ERROR = 256 };
enum { CHAIN_SIDE_MAX = 32768, CHAIN_PIXELS_MAX = 1 << 28 }; // of the result of a FILTER_WARP

// The parts of a chain, in their order. A look replaces only its part, and a mask limits only filters of its own part.
enum chain_part { PART_CAMERA = -1, PART_LOOK, PART_TITLES };
enum { CHAIN_PARTS = 3 };
const char *chain_part_name(enum chain_part part); // "camera", "chain", "titles": of its option, property, ...

struct stage {
    const struct filter *filter;
    enum chain_part part;
    struct filter_values values;
    struct filter_arguments arguments; // always computed from the values
};

struct chain {
    struct stage stage[CHAIN_MAX];
    int count; // 0: the chain changes nothing
};

// The last parameter of a mask (SECOND_KEPT); its value is arguments.spans.
#define MASK_FILTERS                                                                                                   \
    {                                                                                                                  \
        "filters", PARAM_INT,                                                                                          \
            .max = CHAIN_MAX, .step = 1,                                                                               \
            .help = "number of filters that the mask limits; 0: all since `keep`; without `keep`: the last one"        \
    }

// The parameters of `inside` that the pointer changes in the window.
enum { INSIDE_X, INSIDE_Y, INSIDE_WIDTH, INSIDE_HEIGHT, INSIDE_FEATHER = 6 };
extern const struct filter filter_inside;

bool stage_init(struct stage *stage, const struct filter *filter); // default values
// Computes the arguments from the values. False: the combination is impossible; *why is valid until the thread's
// next call.
bool stage_prepare(struct stage *stage, const char **why);

// Files of filters may change at any time. chain_hold reads them, so that sizes, plan and numbers are of one reading. A
// stage that is held already (the copy of a held chain) keeps its reading once more. chain_release ends this.
void chain_hold(struct chain *chain);
void chain_release(struct chain *chain);

// Parses chain text. False on failure; `error` then gets one line with the place and a suggestion.
bool chain_parse(struct chain *chain, const char *text, char error[CHAIN_ERROR]);
// The same; names of files are relative to this directory. NULL: to the working directory.
bool chain_parse_from(struct chain *chain, const char *text, const char *directory, char error[CHAIN_ERROR]);
// Writes text that parses to the same chain, without default values and without stages `none`. It has a parameter's
// name only if the position is not enough: "contrast=brightness=10". An empty chain is "none". False: the text does not
// fit; that of a parsed chain always fits.
bool chain_print(const struct chain *chain, char text[CHAIN_TEXT]);

// As chain_parse_from; `error` names the part, unless it is the look.
bool chain_parse_part(struct chain *part, enum chain_part which, const char *text, const char *directory,
                      char error[CHAIN_ERROR]);
bool chain_print_part(const struct chain *chain, enum chain_part which, char text[CHAIN_TEXT]); // as chain_print
void chain_get_part(const struct chain *chain, enum chain_part which, struct chain *part);
// Replaces a part. False: the chain has no room for it, or a mask of another part forbids it; `error` then gets one
// line, and the chain stays as it was.
bool chain_put_part(struct chain *chain, enum chain_part which, const struct chain *part, char error[CHAIN_ERROR]);

// Returns the stage whose input is the kept picture of the mask `stage` (docs/pixels.md section 2); `stage`: no filter
// is before the mask. No stage from there to the mask moves pixels.
int chain_kept(const struct chain *chain, int stage);
// Returns false if a mask limits a filter that moves pixels; `error` then gets one line with advice.
bool chain_check_masks(const struct chain *chain, char error[CHAIN_ERROR]);

// Returns true if a stage has no effect: `keep` without a mask, a mask without a filter, or one that limits more
// filters than there are; or if it is probably a mistake: "text=12:30". `why` then gets one line.
bool chain_is_useless(const struct chain *chain, int stage, char why[CHAIN_ERROR]);
void chain_warn_useless(const struct chain *chain); // logs a warning for each such stage

// Returns the name of the file that a stage reads. NULL: none.
const char *chain_file(const struct chain *chain, int stage);

// Returns true if a stage reads this file, under whatever name.
bool chain_reads(const struct chain *chain, const char *path);

// Writes a value as chain text: in quotes if it has separators. False: it does not fit.
bool chain_quote(const char *value, char *text, size_t size);

// Returns true if the chain's output is grey, given whether its input is grey.
bool chain_is_grey(const struct chain *chain, bool grey);

bool chain_changes_alpha(const struct chain *chain);
bool chain_sees_frame(const struct chain *chain); // a filter needs the whole frame (filter_sees_frame)

// Returns true if the stage only turns its input: mirror, flip, or rotate by a multiple of 90 degrees. Sets the angle
// of such a rotation, clockwise, 0 to 270; of others, 0.
bool stage_turns(const struct stage *stage, int *angle);

// Returns true if the chain exchanges rows and columns: an odd number of rotations by 90 degrees or -90 degrees.
bool chain_turns(const struct chain *chain);

bool chain_size_possible(int width, int height); // of a result
// Replaces the size of the chain's input by the size of its output. False: a result is too large; `error` then gets one
// line.
bool chain_output_size(const struct chain *chain, int *width, int *height, char error[CHAIN_ERROR]);

// Puts another filter, or another version of it, in a stage's place. A parameter of the same name and type keeps its
// value, clamped to its range.
void chain_replace(struct chain *chain, int stage, const struct filter *filter);
void chain_renew(struct chain *chain); // replaces users' filters that user_filters_reload has replaced
bool chain_append(struct chain *chain, const struct filter *filter); // with default values; false: the chain is full
void chain_remove(struct chain *chain, int stage);
// Returns true if the parameter is a size of a warp: with 0, monocle computes the size.
bool param_is_size(const struct filter *filter, int param);
// Returns the parameter's value; instead of a size of 0, the computed size for a chain's input of width x height.
float chain_value(const struct chain *chain, int stage, int param, int width, int height);
// Sets one parameter, clamped to its range; for a matrix, the index of a preset. False: the combination is impossible,
// nothing changes, and `why` is the reason.
bool chain_set(struct chain *chain, int stage, int param, float value, const char **why);
// Writes the value as text: "2", "nw", "gaussian", "3x3", "beach.jpg".
void chain_value_text(const struct stage *stage, int param, char text[64]);

// Reads a colour (PARAM_COLOR): a name of HTML's basic colours, orange, or #rrggbb. False: it is neither.
bool color_parse(const char *text, float *value);
