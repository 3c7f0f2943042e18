// sketch.c: rectangles and letters, drawn into an RGBA image in memory, without GL
#include "screen/sketch.h"

bool sketch_init(struct sketch *sketch, struct image *image, int height)
{
    *sketch = (struct sketch){.image = image};
    return font_open(&sketch->font, height);
}

void sketch_finish(struct sketch *sketch)
{
    font_close(&sketch->font);
}

static void blend(const struct sketch *sketch, int x, int y, struct paint paint, int coverage)
{
    const struct image_shape *shape = &sketch->image->shape;
    if (x < 0 || y < 0 || x >= shape->width || y >= shape->height)
        return;
    uint8_t *pixel = image_row(sketch->image, 0, y) + 4 * (size_t)x;
    const uint8_t colour[3] = {paint.red, paint.green, paint.blue};
    const int alpha = paint.alpha * coverage / 255;
    for (int c = 0; c < 3; c++)
        pixel[c] = (uint8_t)((pixel[c] * (255 - alpha) + colour[c] * alpha + 127) / 255);
}

void sketch_fill(const struct sketch *sketch, struct rect rect, struct paint paint)
{
    for (int y = rect.y; y < rect.y + rect.height; y++) {
        for (int x = rect.x; x < rect.x + rect.width; x++)
            blend(sketch, x, y, paint, 255);
    }
}

static void draw_letter(const struct sketch *sketch, int x, int base, uint32_t character, struct paint paint)
{
    const struct font_letter letter = font_letter(&sketch->font, character);
    for (int row = 0; row < letter.height; row++) {
        for (int column = 0; column < letter.width; column++)
            blend(sketch, x + letter.left + column, base + letter.top + row, paint,
                  letter.coverage[row * letter.width + column]);
    }
}

void sketch_text(const struct sketch *sketch, int x, int y, const char *text, struct paint paint)
{
    struct span span = span_of(text);
    for (uint32_t character = span_next(&span); character; character = span_next(&span)) {
        draw_letter(sketch, x, y + sketch->font.base, character, paint);
        x += sketch->font.advance;
    }
}
