// atlas.c: letters and round corners as coverage in one GL texture
#include "screen/atlas.h"

#include "base/log.h"
#include "base/resource.h"

#include <epoxy/gl.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#include <stb_truetype.h>

enum {
    SIDE = 1024, // room for every letter of the overlay at the largest size
    GLYPHS = 2048,
    CORNER = 0x110000, // the "character" of a corner, above all Unicode characters
    PATCH_SIDE = 256,  // no letter or corner is larger
};

struct glyph {
    uint32_t character;
    int size; // x-height, or radius; 0 in an unused entry
    struct patch patch;
};

struct atlas {
    stbtt_fontinfo font;
    float x_height, cap_height, advance; // font units
    unsigned texture;
    int x, y, row_height; // place of the next patch
    bool full;
    int count;
    struct glyph glyph[GLYPHS]; // open addressing
    uint8_t pixels[PATCH_SIDE * PATCH_SIDE];
};

static void upload(const struct patch *patch, const uint8_t *pixels)
{
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glTexSubImage2D(GL_TEXTURE_2D, 0, patch->x, patch->y, patch->width, patch->height, GL_RED, GL_UNSIGNED_BYTE,
                    pixels);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
}

static void clear(struct atlas *atlas)
{
    static const uint8_t covered = 255;
    memset(atlas->glyph, 0, sizeof(atlas->glyph));
    atlas->count = 0;
    atlas->full = false;
    atlas->x = 1;
    atlas->y = 0;
    atlas->row_height = 1;
    glBindTexture(GL_TEXTURE_2D, atlas->texture);
    upload(&(struct patch){.width = 1, .height = 1}, &covered);
}

// Returns the height of a letter's outline above the base line, in font units.
static float outline_height(const stbtt_fontinfo *font, int letter)
{
    int x0, y0, x1, y1;
    return stbtt_GetCodepointBox(font, letter, &x0, &y0, &x1, &y1) ? (float)y1 : 0;
}

static bool load_font(struct atlas *atlas)
{
    static const char name[] = "assets/DejaVuSansMono.ttf";
    const struct resource *file = resource_find(name);
    if (!file || !stbtt_InitFont(&atlas->font, file->data, stbtt_GetFontOffsetForIndex(file->data, 0))) {
        log_error("cannot draw the overlay: the font %s is not in the program", name);
        return false;
    }
    int advance, bearing;
    stbtt_GetCodepointHMetrics(&atlas->font, 'x', &advance, &bearing);
    atlas->advance = (float)advance;
    atlas->x_height = outline_height(&atlas->font, 'x');
    atlas->cap_height = outline_height(&atlas->font, 'H');
    return true;
}

struct atlas *atlas_open(void)
{
    struct atlas *atlas = calloc(1, sizeof(*atlas));
    if (!atlas) {
        log_error("cannot draw the overlay: out of memory");
        return NULL;
    }
    if (!load_font(atlas)) {
        atlas_close(atlas);
        return NULL;
    }
    glGenTextures(1, &atlas->texture);
    glBindTexture(GL_TEXTURE_2D, atlas->texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, SIDE, SIDE, 0, GL_RED, GL_UNSIGNED_BYTE, NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    clear(atlas);
    glBindTexture(GL_TEXTURE_2D, 0);
    return atlas;
}

void atlas_close(struct atlas *atlas)
{
    if (!atlas)
        return;
    if (atlas->texture)
        glDeleteTextures(1, &atlas->texture);
    free(atlas);
}

unsigned atlas_texture(const struct atlas *atlas)
{
    return atlas->texture;
}

struct letters atlas_letters(const struct atlas *atlas, int x_height)
{
    struct letters letters = {.x_height = x_height};
    letters.scale_y = (float)x_height / atlas->x_height;
    letters.advance = (int)lroundf(atlas->advance * letters.scale_y);
    letters.scale_x = (float)letters.advance / atlas->advance;
    letters.cap_height = (int)lroundf(atlas->cap_height * letters.scale_y);
    letters.line = (int)lroundf((float)x_height * 2.5f); // 1.37 em, enough space for tables
    return letters;
}

void atlas_begin(struct atlas *atlas)
{
    if (atlas->full)
        clear(atlas);
}

// Finds a place for a patch, in rows from the top. False: the texture is full.
static bool place(struct atlas *atlas, struct patch *patch)
{
    if (atlas->x + patch->width > SIDE) {
        atlas->x = 0;
        atlas->y += atlas->row_height;
        atlas->row_height = 0;
    }
    if (patch->width > PATCH_SIDE || patch->height > PATCH_SIDE || atlas->y + patch->height > SIDE)
        return false;
    patch->x = (int16_t)atlas->x;
    patch->y = (int16_t)atlas->y;
    atlas->x += patch->width;
    if (patch->height > atlas->row_height)
        atlas->row_height = patch->height;
    return true;
}

// Returns the entry of this character, or the unused entry for it.
static struct glyph *find(struct atlas *atlas, uint32_t character, int size)
{
    uint32_t at = (character * 0x9e3779b1u + (uint32_t)size * 0x85ebca6bu) >> 21; // 32 - log2(GLYPHS)
    while (atlas->glyph[at].size && (atlas->glyph[at].character != character || atlas->glyph[at].size != size))
        at = (at + 1) % GLYPHS;
    return &atlas->glyph[at];
}

// Copies atlas->pixels to the texture and adds the patch to the table.
static struct patch keep(struct atlas *atlas, struct glyph *entry, uint32_t character, int size, struct patch patch)
{
    if (atlas->count >= GLYPHS / 2 || !place(atlas, &patch)) {
        atlas->full = true;
        return (struct patch){0};
    }
    if (patch.width > 0 && patch.height > 0) {
        glBindTexture(GL_TEXTURE_2D, atlas->texture);
        upload(&patch, atlas->pixels);
    }
    *entry = (struct glyph){character, size, patch};
    atlas->count++;
    return patch;
}

struct patch atlas_glyph(struct atlas *atlas, const struct letters *letters, uint32_t character)
{
    struct glyph *entry = find(atlas, character, letters->x_height);
    if (entry->size)
        return entry->patch;
    const int index = stbtt_FindGlyphIndex(&atlas->font, (int)character);
    int x0, y0, x1, y1;
    stbtt_GetGlyphBitmapBox(&atlas->font, index, letters->scale_x, letters->scale_y, &x0, &y0, &x1, &y1);
    const int width = x1 - x0, height = y1 - y0;
    if (width > PATCH_SIDE || height > PATCH_SIDE)
        return (struct patch){0};
    memset(atlas->pixels, 0, (size_t)(width * height));
    stbtt_MakeGlyphBitmap(&atlas->font, atlas->pixels, width, height, width, letters->scale_x, letters->scale_y, index);
    const struct patch patch = {
        .width = (int16_t)width, .height = (int16_t)height, .left = (int16_t)x0, .top = (int16_t)y0};
    return keep(atlas, entry, character, letters->x_height, patch);
}

struct patch atlas_corner(struct atlas *atlas, int radius)
{
    enum { SAMPLES = 4 }; // per pixel and direction
    if (radius > PATCH_SIDE)
        radius = PATCH_SIDE;
    struct glyph *entry = find(atlas, CORNER, radius);
    if (entry->size || radius < 1)
        return entry->patch;
    for (int y = 0; y < radius; y++) {
        for (int x = 0; x < radius; x++) {
            int inside = 0;
            for (int i = 0; i < SAMPLES * SAMPLES; i++) {
                const float across = (float)radius - (float)x - ((float)(i % SAMPLES) + 0.5f) / SAMPLES;
                const float down = (float)radius - (float)y - ((float)(i / SAMPLES) + 0.5f) / SAMPLES;
                inside += across * across + down * down <= (float)(radius * radius);
            }
            atlas->pixels[y * radius + x] = (uint8_t)(inside * 255 / (SAMPLES * SAMPLES));
        }
    }
    const struct patch patch = {.width = (int16_t)radius, .height = (int16_t)radius};
    return keep(atlas, entry, CORNER, radius, patch);
}
