// sketch.c: rectangles and letters, drawn into an RGBA image in memory, without GL
#include "screen/sketch.h"

#include "base/log.h"
#include "base/resource.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#include <stb_truetype.h>

enum { LETTER_SIDE = 256 }; // no letter is larger

struct font {
    stbtt_fontinfo info;
    float scale;
    int base; // from the top of a line to the base line
    uint8_t coverage[LETTER_SIDE * LETTER_SIDE];
};

bool sketch_init(struct sketch *sketch, struct image *image, int height)
{
    static const char name[] = "assets/DejaVuSansMono.ttf";
    const struct resource *file = resource_find(name);
    int ascent, descent, gap, advance, bearing;
    *sketch = (struct sketch){.image = image, .font = calloc(1, sizeof(*sketch->font))};
    struct font *font = sketch->font;
    if (!font || !file || !stbtt_InitFont(&font->info, file->data, stbtt_GetFontOffsetForIndex(file->data, 0))) {
        log_error("cannot draw an image: %s", font ? "the font is not in the program" : "out of memory");
        return false;
    }
    stbtt_GetFontVMetrics(&font->info, &ascent, &descent, &gap);
    stbtt_GetCodepointHMetrics(&font->info, 'x', &advance, &bearing);
    font->scale = stbtt_ScaleForPixelHeight(&font->info, (float)height);
    font->base = (int)lroundf((float)ascent * font->scale);
    sketch->advance = (int)lroundf((float)advance * font->scale);
    sketch->line = height;
    return true;
}

void sketch_finish(struct sketch *sketch)
{
    free(sketch->font);
    *sketch = (struct sketch){0};
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
    struct font *font = sketch->font;
    const int index = stbtt_FindGlyphIndex(&font->info, (int)character);
    int x0, y0, x1, y1;
    stbtt_GetGlyphBitmapBox(&font->info, index, font->scale, font->scale, &x0, &y0, &x1, &y1);
    const int width = x1 - x0, height = y1 - y0;
    if (width <= 0 || height <= 0 || width > LETTER_SIDE || height > LETTER_SIDE)
        return;
    memset(font->coverage, 0, (size_t)(width * height));
    stbtt_MakeGlyphBitmap(&font->info, font->coverage, width, height, width, font->scale, font->scale, index);
    for (int row = 0; row < height; row++) {
        for (int column = 0; column < width; column++)
            blend(sketch, x + x0 + column, base + y0 + row, paint, font->coverage[row * width + column]);
    }
}

void sketch_text(const struct sketch *sketch, int x, int y, const char *text, struct paint paint)
{
    struct span span = span_of(text);
    for (uint32_t character = span_next(&span); character; character = span_next(&span)) {
        draw_letter(sketch, x, y + sketch->font->base, character, paint);
        x += sketch->advance;
    }
}
