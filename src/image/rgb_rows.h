// rgb_rows.h: rows of RGB and RGBA to RGBA
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Each makes `width` RGBA pixels. `past`: as convert_row_to_rgba has it.

// From 3 bytes a pixel, red first or last.
void rgb24_row(const uint8_t *from, bool red_first, uint8_t *rgba, int width, bool past);
// From RGBA to another row. `next` is the row that will be read next; NULL where it follows in memory, or there is
// none.
void rgba_row_copy(const uint8_t *from, const uint8_t *next, uint8_t *to, int width, bool past);
// The same with left and right exchanged; or in place.
void rgba_row_turn(const uint8_t *from, const uint8_t *next, uint8_t *to, int width, bool past);
