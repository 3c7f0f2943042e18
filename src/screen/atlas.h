// atlas.h: letters and round corners as coverage in one GL texture, drawn on demand from the embedded font
#pragma once

#include <stdint.h>

struct atlas;

// Letters of one size. The font is stretched a little, so that small letters have a whole number of pixels in height
// and all letters have one in width. Unhinted outlines then look sharp.
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
void atlas_close(struct atlas *atlas); // accepts NULL

unsigned atlas_texture(const struct atlas *atlas); // red is the coverage; the texel at 0,0 is 1
struct letters atlas_letters(const struct atlas *atlas, int x_height);

// Call before the first patch of a frame. Empties the texture if the last frame filled it.
void atlas_begin(struct atlas *atlas);
// Both return an empty patch (width 0) if the texture is full, and for a space. A corner is the top left quarter of a
// disc.
struct patch atlas_glyph(struct atlas *atlas, const struct letters *letters, uint32_t character);
struct patch atlas_corner(struct atlas *atlas, int radius);
