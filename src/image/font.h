// font.h: the letters of the program's font, as coverage in memory
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct font {
    int advance, line; // from letter to letter and from line to line, in pixels
    int base;          // from the top of a line to the base line
    struct {           // in font units: from letter to letter, and heights above the base line
        float advance, x_height, cap_height;
    } units;
    struct font_data *data;
};

// A letter's rectangle, from the pen on the base line to its top left corner, and its coverage, 0 to 255.
struct font_letter {
    int left, top, width, height; // width 0: nothing is drawn
    const uint8_t *coverage;      // borrowed until the next letter
};

// `line`: pixels from line to line, at least 8. False on failure (logged).
bool font_open(struct font *font, int line);
void font_close(struct font *font);                         // accepts a zeroed one
bool font_has(const struct font *font, uint32_t character); // returns true if the font has the letter
struct font_letter font_letter(const struct font *font, uint32_t character);
// The same in another size: pixels per font unit in each direction.
struct font_letter font_letter_scaled(const struct font *font, uint32_t character, float scale_x, float scale_y);
