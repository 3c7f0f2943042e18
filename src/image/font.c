// font.c: draws the letters of the program's font
#include "image/font.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/resource.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#include <stb_truetype.h>

struct font_data {
    stbtt_fontinfo info;
    float scale;
    size_t room;       // bytes of `coverage`
    uint8_t *coverage; // of the latest letter
};

// Returns the height of a letter's outline above the base line, in font units.
static float outline_height(const struct font_data *data, int letter)
{
    int x0, y0, x1, y1;
    return stbtt_GetCodepointBox(&data->info, letter, &x0, &y0, &x1, &y1) ? (float)y1 : 0;
}

bool font_open(struct font *font, int line)
{
    static const char name[] = "assets/DejaVuSansMono.ttf";
    const struct resource *file = resource_find(name);
    int ascent, descent, gap, advance, bearing;
    *font = (struct font){.line = line, .data = xalloc(sizeof(*font->data))};
    struct font_data *data = font->data;
    if (!file || !stbtt_InitFont(&data->info, file->data, stbtt_GetFontOffsetForIndex(file->data, 0))) {
        log_error("cannot draw letters: the font is not in the program");
        return false;
    }
    stbtt_GetFontVMetrics(&data->info, &ascent, &descent, &gap);
    stbtt_GetCodepointHMetrics(&data->info, 'x', &advance, &bearing);
    data->scale = stbtt_ScaleForPixelHeight(&data->info, (float)line);
    font->base = (int)lroundf((float)ascent * data->scale);
    font->advance = (int)lroundf((float)advance * data->scale);
    font->units.advance = (float)advance;
    font->units.x_height = outline_height(data, 'x');
    font->units.cap_height = outline_height(data, 'H');
    return true;
}

void font_close(struct font *font)
{
    if (font->data)
        free(font->data->coverage);
    free(font->data);
    *font = (struct font){0};
}

bool font_has(const struct font *font, uint32_t character)
{
    return stbtt_FindGlyphIndex(&font->data->info, (int)character) != 0;
}

struct font_letter font_letter(const struct font *font, uint32_t character)
{
    return font_letter_scaled(font, character, font->data->scale, font->data->scale);
}

struct font_letter font_letter_scaled(const struct font *font, uint32_t character, float scale_x, float scale_y)
{
    struct font_data *data = font->data;
    const int index = stbtt_FindGlyphIndex(&data->info, (int)character);
    int x0, y0, x1, y1;
    stbtt_GetGlyphBitmapBox(&data->info, index, scale_x, scale_y, &x0, &y0, &x1, &y1);
    const int width = x1 - x0, height = y1 - y0;
    if (width <= 0 || height <= 0)
        return (struct font_letter){0};
    const size_t bytes = (size_t)width * (size_t)height;
    if (bytes > data->room) {
        uint8_t *more = realloc(data->coverage, bytes);
        if (!more)
            return (struct font_letter){0};
        data->coverage = more;
        data->room = bytes;
    }
    memset(data->coverage, 0, bytes);
    stbtt_MakeGlyphBitmap(&data->info, data->coverage, width, height, width, scale_x, scale_y, index);
    return (struct font_letter){x0, y0, width, height, data->coverage};
}
