// pattern_draw.c: draws the test pattern for a frame number
#include "source/generated.h"

enum { GLYPH_WIDTH = 5, GLYPH_HEIGHT = 7, GLYPH_PITCH = 6 };

// Digits of 5x7 dots; bit 4 is the leftmost dot.
static const uint8_t glyphs[10][GLYPH_HEIGHT] = {
    {0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e}, {0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e},
    {0x0e, 0x11, 0x01, 0x06, 0x08, 0x10, 0x1f}, {0x0e, 0x11, 0x01, 0x06, 0x01, 0x11, 0x0e},
    {0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02}, {0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e},
    {0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e}, {0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08},
    {0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e}, {0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c},
};

static const uint8_t bar_colors[8][3] = {{255, 255, 255}, {255, 255, 0}, {0, 255, 255}, {0, 255, 0},
                                         {255, 0, 255},   {255, 0, 0},   {0, 0, 255},   {0, 0, 0}};

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

struct pattern_layout pattern_layout(int width, int height)
{
    struct pattern_layout layout = {
        .width = width,
        .height = height,
        .bars = height / 2,
        .ramp = height * 6 / 10,
        .hues = height * 7 / 10,
        .stripes = height * 8 / 10,
        .radius = min_int(width, height) / 12,
    };
    layout.range_x = width - 1 - 2 * layout.radius;
    layout.range_y = height - 1 - 2 * layout.radius;
    const int room = height - layout.stripes;
    layout.scale = min_int(width / ((PATTERN_DIGITS + 1) * GLYPH_PITCH), room / (GLYPH_HEIGHT + 2));
    layout.digits_x = layout.scale;
    layout.digits_y = layout.stripes + (room - layout.scale * GLYPH_HEIGHT) / 2;
    return layout;
}

static void put(uint8_t *rgba, int r, int g, int b)
{
    rgba[0] = (uint8_t)r;
    rgba[1] = (uint8_t)g;
    rgba[2] = (uint8_t)b;
    rgba[3] = 255;
}

// Writes a colour of the colour wheel; `hue` 0 to 1535 is one turn.
static void put_hue(uint8_t *rgba, int hue)
{
    const int rise = hue % 256, fall = 255 - rise;
    switch (hue / 256) {
    case 0:
        put(rgba, 255, rise, 0);
        break;
    case 1:
        put(rgba, fall, 255, 0);
        break;
    case 2:
        put(rgba, 0, 255, rise);
        break;
    case 3:
        put(rgba, 0, fall, 255);
        break;
    case 4:
        put(rgba, rise, 0, 255);
        break;
    default:
        put(rgba, 255, 0, fall);
        break;
    }
}

// Draws the static part: bars, a grey ramp, the colour wheel, stripes 16 to 1 pixels wide, a dark floor.
static void still_row(const struct pattern_layout *layout, int y, int x0, int x1, uint8_t *rgba)
{
    const int width = layout->width, last = width > 1 ? width - 1 : 1;
    for (int x = x0; x < x1; x++, rgba += 4) {
        if (y < layout->bars) {
            const uint8_t *color = bar_colors[(int64_t)x * 8 / width];
            put(rgba, color[0], color[1], color[2]);
        } else if (y < layout->ramp) {
            const int grey = (int)((int64_t)x * 255 / last);
            put(rgba, grey, grey, grey);
        } else if (y < layout->hues) {
            put_hue(rgba, (int)((int64_t)x * 1535 / last));
        } else if (y < layout->stripes) {
            const int shift = 4 - (int)((int64_t)x * 5 / width), value = (x >> shift) % 2 * 255;
            put(rgba, value, value, value);
        } else {
            put(rgba, 32, 32, 40);
        }
    }
}

// Returns a position that moves back and forth over 0 to `range` by `speed` per frame.
static int bounce(uint64_t number, int speed, int range)
{
    if (range <= 0)
        return 0;
    const uint64_t cycle = 2 * (uint64_t)range;
    const int at = (int)(number % cycle * (uint64_t)speed % cycle);
    return at <= range ? at : 2 * range - at;
}

struct point {
    int x, y;
};

// The disc crosses the width in about 160 frames and the height in about 240.
static struct point disc_centre(const struct pattern_layout *layout, uint64_t number)
{
    const int speed_x = layout->width / 160 + 1, speed_y = layout->height / 240 + 1;
    return (struct point){bounce(number, speed_x, layout->range_x) + layout->radius,
                          bounce(number, speed_y, layout->range_y) + layout->radius};
}

static void disc_row(const struct pattern_layout *layout, uint64_t number, int y, int x0, int x1, uint8_t *rgba)
{
    const struct point centre = disc_centre(layout, number);
    const int radius = layout->radius, dy = y - centre.y;
    if (dy < -radius || dy > radius)
        return;
    const int begin = centre.x - radius > x0 ? centre.x - radius : x0;
    const int end = min_int(centre.x + radius + 1, x1);
    for (int x = begin; x < end; x++) {
        const int dx = x - centre.x, distance = dx * dx + dy * dy; // a radius is at most 2730
        if (distance * 2 <= radius * radius)
            put(rgba + 4 * (x - x0), 255, 128, 0);
        else if (distance <= radius * radius)
            put(rgba + 4 * (x - x0), 64, 0, 96);
    }
}

static int digit_of(uint64_t number, int position)
{
    for (int i = position; i < PATTERN_DIGITS - 1; i++)
        number /= 10;
    return (int)(number % 10);
}

static void number_row(const struct pattern_layout *layout, uint64_t number, int y, int x0, int x1, uint8_t *rgba)
{
    const int scale = layout->scale;
    if (scale == 0 || y < layout->digits_y || y >= layout->digits_y + scale * GLYPH_HEIGHT)
        return;
    const int dot_row = (y - layout->digits_y) / scale;
    for (int position = 0; position < PATTERN_DIGITS; position++) {
        const int left = layout->digits_x + position * GLYPH_PITCH * scale, right = left + GLYPH_WIDTH * scale;
        if (right <= x0 || left >= x1)
            continue;
        const uint8_t dots = glyphs[digit_of(number, position)][dot_row];
        for (int x = left > x0 ? left : x0; x < right && x < x1; x++)
            if (dots >> (GLYPH_WIDTH - 1 - (x - left) / scale) & 1)
                put(rgba + 4 * (x - x0), 255, 255, 255);
    }
}

void pattern_row(const struct pattern_layout *layout, uint64_t number, int y, int x0, int x1, uint8_t *rgba)
{
    still_row(layout, y, x0, x1, rgba);
    disc_row(layout, number, y, x0, x1, rgba);
    number_row(layout, number, y, x0, x1, rgba);
}

static struct generated_rect even_rect(const struct pattern_layout *layout, int x0, int y0, int x1, int y1)
{
    return (struct generated_rect){x0 & ~1, y0 & ~1, min_int((x1 + 1) & ~1, layout->width),
                                   min_int((y1 + 1) & ~1, layout->height)};
}

int pattern_changes(const struct pattern_layout *layout, uint64_t from, uint64_t to,
                    struct generated_rect rects[PATTERN_CHANGES])
{
    int count = 0;
    const uint64_t numbers[] = {from, to};
    for (int i = 0; i < 2; i++) {
        const struct point centre = disc_centre(layout, numbers[i]);
        const int radius = layout->radius;
        rects[count++] =
            even_rect(layout, centre.x - radius, centre.y - radius, centre.x + radius + 1, centre.y + radius + 1);
    }
    for (int position = 0; layout->scale > 0 && position < PATTERN_DIGITS; position++) {
        if (digit_of(from, position) == digit_of(to, position))
            continue;
        const int left = layout->digits_x + position * GLYPH_PITCH * layout->scale;
        rects[count++] = even_rect(layout, left, layout->digits_y, left + GLYPH_WIDTH * layout->scale,
                                   layout->digits_y + GLYPH_HEIGHT * layout->scale);
    }
    return count;
}
