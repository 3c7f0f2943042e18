// atlas.h: letters and round corners as coverage in one GL texture, drawn on demand from the embedded font
#pragma once

#include <stdint.h>

struct atlas;

// Letters of one size. The font is stretched a little so that small letters are a whole number of pixels high and all
// letters a whole number wide: unhinted outlines are then sharp where the eye looks.
struct letters {
    int x_height;           // pixels; names the size
    int advance;            // from letter to letter
    int cap_height;         // of capitals and digits
    int line;               // from line to line
    float scale_x, scale_y; // font units to pixels
};

// A rectangle of the texture.
struct patch {
    int16_t x, y, width, height;
    int16_t left, top; // from the pen on the base line to the rectangle's top left corner
};

struct atlas *atlas_open(void);        // NULL on failure (logged)
void atlas_close(struct atlas *atlas); // takes NULL

unsigned atlas_texture(const struct atlas *atlas); // red is the coverage; the texel at 0,0 is 1
struct letters atlas_letters(const struct atlas *atlas, int x_height);

// Before the first patch of a frame: makes room when the frame before ran out of it.
void atlas_begin(struct atlas *atlas);
// Empty (width 0) for a space and where the atlas is full. `corner`: the top left quarter of a disc.
struct patch atlas_glyph(struct atlas *atlas, const struct letters *letters, uint32_t character);
struct patch atlas_corner(struct atlas *atlas, int radius);
