// canvas.c: draws text and shapes as quads; builds shaders
#include "screen/canvas.h"

#include "base/alloc.h"
#include "base/gl_handles.h"
#include "base/log.h"
#include "base/number.h"
#include "base/resource.h"
#include "image/font.h"

#include <epoxy/gl.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- shaders ----

// Ends with #line, so that a compiler's messages have the file's line numbers.
static const char *prelude(void)
{
    return epoxy_is_desktop_gl() ? "#version 330 core\n#line 1\n"
                                 : "#version 300 es\nprecision highp float;\nprecision highp sampler2D;\n#line 1\n";
}

static unsigned compile(const char *name, const char *suffix, GLenum kind)
{
    char file[64], message[1024] = "";
    snprintf(file, sizeof(file), "shaders/%s.%s", name, suffix);
    const struct resource *text = resource_find(file);
    if (!text) {
        log_error("the shader %s is not in the program", file);
        return 0;
    }
    const GLchar *const parts[] = {prelude(), (const GLchar *)text->data};
    const GLint lengths[] = {-1, (GLint)text->size};
    const unsigned shader = glCreateShader(kind);
    glShaderSource(shader, 2, parts, lengths);
    glCompileShader(shader);
    GLint ok = GL_FALSE;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
    if (ok)
        return shader;
    glGetShaderInfoLog(shader, sizeof(message), NULL, message);
    log_message(LOG_ERROR + LOG_LINES, "cannot compile the shader %s: %s", file, message);
    glDeleteShader(shader);
    return 0;
}

unsigned shader_build(const char *name)
{
    char why[1024] = "";
    const unsigned vertex = compile(name, "vert", GL_VERTEX_SHADER);
    const unsigned fragment = compile(name, "frag", GL_FRAGMENT_SHADER);
    const unsigned program = gl_link(vertex, fragment, why, sizeof(why));
    if (!program && vertex && fragment)
        log_message(LOG_ERROR + LOG_LINES, "cannot link the shader %s: %s", name, why);
    return program;
}

bool shader_on_cpu(void)
{
    const char *renderer = (const char *)glGetString(GL_RENDERER);
    return epoxy_is_desktop_gl() && renderer &&
           (strncmp(renderer, "llvmpipe", 8) == 0 || strncmp(renderer, "softpipe", 8) == 0);
}

// ---- the canvas ----

enum {
    SIDE = 1024, // of the texture: room for every letter of the overlay at the largest size
    GLYPHS = 2048,
    CORNER = 0x110000, // the "character" of a corner, above all Unicode characters
    PATCH_SIDE = 256,  // no letter or corner is larger
    LINE = 16,         // pixels; the canvas scales letters itself
    QUADS_MAX = 16384, // a full overlay takes 8000
};

// A rectangle of the atlas.
struct patch {
    int16_t x, y, width, height;
    int16_t left, top; // from the pen on the base line to the rectangle's top left corner
};

struct quad {
    int16_t x, y, width, height; // framebuffer pixels from the top left
    struct patch patch;          // its coverage; negative sizes mirror
    struct paint paint;
};

struct glyph {
    uint32_t character;
    int size; // x-height, or radius; 0 in an unused entry
    struct patch patch;
};

// Letters and corners as coverage in one texture, drawn on demand. The texel at 0,0 is 1.
struct atlas {
    struct font font;
    int x, y, row_height; // place of the next patch
    bool full;
    int count;
    struct glyph glyph[GLYPHS]; // open addressing
    uint8_t corner[PATCH_SIDE * PATCH_SIDE];
};

// ---- the atlas ----

static void upload(const struct patch *patch, const uint8_t *pixels)
{
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glTexSubImage2D(GL_TEXTURE_2D, 0, patch->x, patch->y, patch->width, patch->height, GL_RED, GL_UNSIGNED_BYTE,
                    pixels);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
}

static void clear_atlas(struct canvas *canvas)
{
    static const uint8_t covered = 255;
    struct atlas *atlas = canvas->atlas;
    memset(atlas->glyph, 0, sizeof(atlas->glyph));
    atlas->count = 0;
    atlas->full = false;
    atlas->x = 1;
    atlas->y = 0;
    atlas->row_height = 1;
    glBindTexture(GL_TEXTURE_2D, canvas->texture);
    upload(&(struct patch){.width = 1, .height = 1}, &covered);
}

static void make_texture(struct canvas *canvas)
{
    glGenTextures(1, &canvas->texture);
    glBindTexture(GL_TEXTURE_2D, canvas->texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, SIDE, SIDE, 0, GL_RED, GL_UNSIGNED_BYTE, NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    clear_atlas(canvas);
    glBindTexture(GL_TEXTURE_2D, 0);
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

// Copies the pixels to the texture and adds the patch to the table.
static struct patch keep(const struct canvas *canvas, struct glyph *entry, uint32_t character, int size,
                         struct patch patch, const uint8_t *pixels)
{
    struct atlas *atlas = canvas->atlas;
    if (atlas->count >= GLYPHS / 2 || !place(atlas, &patch)) {
        atlas->full = true;
        return (struct patch){0};
    }
    if (patch.width > 0 && patch.height > 0) {
        glBindTexture(GL_TEXTURE_2D, canvas->texture);
        upload(&patch, pixels);
    }
    *entry = (struct glyph){character, size, patch};
    atlas->count++;
    return patch;
}

// Returns an empty patch (width 0) if the atlas is full, and for a space.
static struct patch letter_patch(const struct canvas *canvas, const struct letters *letters, uint32_t character)
{
    struct atlas *atlas = canvas->atlas;
    struct glyph *entry = find(atlas, character, letters->x_height);
    if (entry->size)
        return entry->patch;
    const struct font_letter letter = font_letter_scaled(&atlas->font, character, letters->scale_x, letters->scale_y);
    if (letter.width > PATCH_SIDE || letter.height > PATCH_SIDE)
        return (struct patch){0};
    const struct patch patch = {.width = (int16_t)letter.width,
                                .height = (int16_t)letter.height,
                                .left = (int16_t)letter.left,
                                .top = (int16_t)letter.top};
    return keep(canvas, entry, character, letters->x_height, patch, letter.coverage);
}

// Returns the top left quarter of a disc; an empty patch if the atlas is full.
static struct patch corner_patch(const struct canvas *canvas, int radius)
{
    enum { SAMPLES = 4 }; // per pixel and direction
    if (radius > PATCH_SIDE)
        radius = PATCH_SIDE;
    struct atlas *atlas = canvas->atlas;
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
            atlas->corner[y * radius + x] = (uint8_t)(inside * 255 / (SAMPLES * SAMPLES));
        }
    }
    const struct patch patch = {.width = (int16_t)radius, .height = (int16_t)radius};
    return keep(canvas, entry, CORNER, radius, patch, atlas->corner);
}

// ---- the canvas ----

bool canvas_init(struct canvas *canvas)
{
    *canvas =
        (struct canvas){.quad = xcalloc(QUADS_MAX, sizeof(*canvas->quad)), .atlas = xalloc(sizeof(*canvas->atlas))};
    if (!(canvas->program = shader_build("quad")) || !font_open(&canvas->atlas->font, LINE))
        return false;
    make_texture(canvas);
    canvas->framebuffer = glGetUniformLocation(canvas->program, "framebuffer");

    static const struct {
        GLenum type;
        GLboolean normalized;
        size_t offset;
    } attributes[] = {
        {GL_SHORT, GL_FALSE, offsetof(struct quad, x)},
        {GL_SHORT, GL_FALSE, offsetof(struct quad, patch)},
        {GL_UNSIGNED_BYTE, GL_TRUE, offsetof(struct quad, paint)},
    };
    glGenVertexArrays(1, &canvas->array);
    glGenBuffers(1, &canvas->buffer);
    glBindVertexArray(canvas->array);
    glBindBuffer(GL_ARRAY_BUFFER, canvas->buffer);
    for (unsigned i = 0; i < sizeof(attributes) / sizeof(*attributes); i++) {
        glVertexAttribPointer(i, 4, attributes[i].type, attributes[i].normalized, sizeof(struct quad),
                              (const void *)attributes[i].offset);
        glVertexAttribDivisor(i, 1);
        glEnableVertexAttribArray(i);
    }
    glBindVertexArray(0);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    return true;
}

void canvas_finish(struct canvas *canvas)
{
    glDeleteVertexArrays(1, &canvas->array); // GL ignores names that are 0
    glDeleteBuffers(1, &canvas->buffer);
    glDeleteProgram(canvas->program);
    glDeleteTextures(1, &canvas->texture);
    if (canvas->atlas)
        font_close(&canvas->atlas->font);
    free(canvas->atlas);
    free(canvas->quad);
    *canvas = (struct canvas){0};
}

void canvas_begin(struct canvas *canvas, int width, int height, float scale)
{
    canvas->width = width;
    canvas->height = height;
    canvas->scale = scale;
    canvas->quads = 0;
    if (canvas->atlas->full)
        clear_atlas(canvas);
}

static void add(struct canvas *canvas, struct rect rect, struct patch patch, struct paint paint)
{
    if (canvas->quads < QUADS_MAX)
        canvas->quad[canvas->quads++] =
            (struct quad){(int16_t)rect.x, (int16_t)rect.y, (int16_t)rect.width, (int16_t)rect.height, patch, paint};
}

void canvas_fill(struct canvas *canvas, struct rect rect, struct paint paint)
{
    if (rect.width > 0 && rect.height > 0)
        add(canvas, rect, (struct patch){0}, paint); // the atlas has full coverage at 0,0
}

void canvas_round(struct canvas *canvas, struct rect rect, int radius, struct paint paint)
{
    const struct patch corner = corner_patch(canvas, radius);
    const int r = corner.width;
    if (r == 0 || rect.width < 2 * r || rect.height < 2 * r) {
        canvas_fill(canvas, rect, paint);
        return;
    }
    const int right = rect.x + rect.width - r;
    const int bottom = rect.y + rect.height - r;
    for (int i = 0; i < 4; i++) {
        struct patch turned = corner;
        struct rect at = {rect.x, rect.y, r, r};
        if (i % 2) {
            at.x = right;
            turned.x = (int16_t)(turned.x + r);
            turned.width = (int16_t)-r;
        }
        if (i / 2) {
            at.y = bottom;
            turned.y = (int16_t)(turned.y + r);
            turned.height = (int16_t)-r;
        }
        add(canvas, at, turned, paint);
    }
    canvas_fill(canvas, (struct rect){rect.x + r, rect.y, rect.width - 2 * r, r}, paint);
    canvas_fill(canvas, (struct rect){rect.x, rect.y + r, rect.width, rect.height - 2 * r}, paint);
    canvas_fill(canvas, (struct rect){rect.x + r, bottom, rect.width - 2 * r, r}, paint);
}

void canvas_text(struct canvas *canvas, const struct letters *letters, int x, int y, struct span text,
                 struct paint paint)
{
    const int base = y + (letters->line + letters->cap_height) / 2;
    for (uint32_t character = span_next(&text); character; character = span_next(&text)) {
        const bool control = character < ' ';
        const struct patch patch = control ? (struct patch){0} : letter_patch(canvas, letters, character);
        if (patch.width > 0)
            add(canvas, (struct rect){x + patch.left, base + patch.top, patch.width, patch.height}, patch, paint);
        x += letters->advance;
    }
}

void canvas_text_within(struct canvas *canvas, const struct letters *letters, int x, int y, struct span text,
                        int columns, struct paint paint)
{
    const bool fits = span_columns(text) <= columns;
    canvas_text(canvas, letters, x, y, fits ? text : span_head(text, columns - 1), paint);
    if (!fits && columns > 0)
        canvas_text(canvas, letters, x + (columns - 1) * letters->advance, y, span_of("…"), paint);
}

void canvas_show(struct canvas *canvas)
{
    if (canvas->quads == 0)
        return;
    glBindBuffer(GL_ARRAY_BUFFER, canvas->buffer);
    glBufferData(GL_ARRAY_BUFFER, canvas->quads * (GLsizeiptr)sizeof(*canvas->quad), canvas->quad, GL_STREAM_DRAW);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glUseProgram(canvas->program);
    glUniform2f(canvas->framebuffer, (float)canvas->width, (float)canvas->height);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, canvas->texture);
    glBindSampler(0, 0);
    glEnable(GL_BLEND);
    glBlendEquation(GL_FUNC_ADD);
    glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ZERO, GL_ONE);
    glBindVertexArray(canvas->array);
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, canvas->quads);
    glBindVertexArray(0);
    glDisable(GL_BLEND);
    glBindTexture(GL_TEXTURE_2D, 0);
}

int canvas_pixels(const struct canvas *canvas, float units)
{
    const int pixels = (int)lroundf(units * canvas->scale);
    return pixels > 1 ? pixels : 1;
}

int canvas_least(const struct canvas *canvas)
{
    return canvas_pixels(canvas, 5);
}

int canvas_x_height(const struct canvas *canvas, bool large)
{
    enum { X_HEIGHT = 8 }; // the font's 14.6 pixels, an ordinary size for reading
    enum { ACROSS = 45 };  // a narrower window, in these x-heights, has smaller letters
    const int usual = canvas_pixels(canvas, X_HEIGHT);
    return clamp_int(canvas->width / ACROSS, canvas_least(canvas), usual) * (large ? 2 : 1);
}

struct letters canvas_letters(const struct canvas *canvas, int x_height)
{
    const struct atlas *atlas = canvas->atlas;
    struct letters letters = {.x_height = x_height};
    letters.scale_y = (float)x_height / atlas->font.units.x_height;
    letters.advance = (int)lroundf(atlas->font.units.advance * letters.scale_y);
    letters.scale_x = (float)letters.advance / atlas->font.units.advance;
    letters.cap_height = (int)lroundf(atlas->font.units.cap_height * letters.scale_y);
    letters.line = (int)lroundf((float)x_height * 2.5f); // 1.37 em, enough space for tables
    return letters;
}

// ---- rectangles and letters, drawn into an RGBA image in memory, without GL ----

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
