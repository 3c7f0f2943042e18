// picture.h: image files as numbers of filters: a pixel is red + 2^8 green + 2^16 blue + 2^24 alpha
#pragma once

#include "filter/file_resource.h"
#include "filter/filter.h"

// Initializes a filter that lays a picture on the image. Its file must define `params`, `prepare`, `fit` and `fill`.
#define LAYS_PICTURE                                                                                                   \
    .kind = FILTER_POINT, .params = params, .placed = true, .reads = picture_file, .prepare = prepare, .fit = fit,     \
    .fill = fill

resource_maker picture_file; // the pixels, row by row; sets width and height

// Copies the numbers; free() frees them. False: out of memory.
bool picture_copy_of(const struct file_resource *from, struct file_resource *to);
// Scales pixels as the filter `scale` does. False: out of memory.
bool picture_scale(const struct file_resource *from, int width, int height, int32_t *to);
// Make pixels of an image of this size from a picture: scaled to cover it, and cut at the sides; or repeated from the
// top left. False: `why`, which says "out of memory", may get another line.
bool picture_cover(const struct file_resource *from, int width, int height, int32_t *to, char why[FILTER_WHY]);
bool picture_tile(const struct file_resource *from, int width, int height, int32_t *to, char why[FILTER_WHY]);
// Makes a mask for an image of this size: for each pixel from 0, where the file is black or transparent, to 255, where
// it is white. These are bytes, four to a number; rows have whole numbers, picture_mask_count in all. The first
// parameters of the filter are the file, the choice white|black, where black inverts the mask, and the choice
// cover|tile. Without a file, the mask is 255. `softness`: by how much white grows, and the width of its soft border,
// in % of the shorter side; NULL: neither. False: as picture_cover.
enum { MASK_FILE, MASK_COLOR, MASK_FIT };
int picture_mask_count(int width, int height);
bool picture_mask(const struct filter_values *values, int width, int height, const float softness[2], int32_t *to,
                  char why[FILTER_WHY]);

// The place of a smaller picture in the image.
#define PLACE_CHOICES "top-left|top|top-right|left|center|right|bottom-left|bottom|bottom-right"
enum { PLACE_LAST = 8, PLACE_MOST = 32768 };

// Returns the first column of a picture, `width` of the `all` columns: `x` columns from the edge that a word of
// PLACE_CHOICES names, or right of the middle.
int place_column(int word, int x, int width, int all);
int place_row(int word, int y, int height, int all); // likewise, down

// ---- the words of the filter `text` ----

enum { TEXT_FILTER_MOST = 512 }; // bytes of a text with its fields, with the NUL

// Returns NULL for a text that `text` can show; else one static line.
const char *text_filter_why(const char *text);
// Replaces the conversions of strftime and the fields {frame}, {time}, {source} and the like.
void text_filter_expand(const char *text, const struct frame_time *frame_time, char expanded[TEXT_FILTER_MOST]);
