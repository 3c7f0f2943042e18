// canvas.c: shapes as coloured rectangles, one instance each
#include "screen/canvas.h"

#include "base/log.h"
#include "screen/shader.h"

#include <epoxy/gl.h>

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

enum { QUADS_MAX = 16384 }; // a full overlay takes 8000

struct quad {
    int16_t x, y, width, height; // framebuffer pixels from the top left
    struct patch patch;          // its coverage; negative sizes mirror
    struct paint paint;
};

bool canvas_init(struct canvas *canvas, bool es)
{
    *canvas = (struct canvas){.quad = malloc(QUADS_MAX * sizeof(*canvas->quad))};
    if (!canvas->quad) {
        log_error("cannot draw the overlay: out of memory");
        return false;
    }
    if (!(canvas->program = shader_build("quad", es)) || !(canvas->atlas = atlas_open()))
        return false;
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
    if (canvas->array)
        glDeleteVertexArrays(1, &canvas->array);
    if (canvas->buffer)
        glDeleteBuffers(1, &canvas->buffer);
    if (canvas->program)
        glDeleteProgram(canvas->program);
    atlas_close(canvas->atlas);
    free(canvas->quad);
    *canvas = (struct canvas){0};
}

void canvas_begin(struct canvas *canvas, int width, int height, float scale)
{
    canvas->width = width;
    canvas->height = height;
    canvas->scale = scale;
    canvas->quads = 0;
    atlas_begin(canvas->atlas);
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
    const struct patch corner = atlas_corner(canvas->atlas, radius);
    const int r = corner.width;
    if (r == 0 || rect.width < 2 * r || rect.height < 2 * r) {
        canvas_fill(canvas, rect, paint);
        return;
    }
    const int right = rect.x + rect.width - r;
    const int bottom = rect.y + rect.height - r;
    for (int i = 0; i < 4; i++) {
        struct patch turned = corner;
        if (i % 2) {
            turned.x = (int16_t)(turned.x + r);
            turned.width = (int16_t)-r;
        }
        if (i / 2) {
            turned.y = (int16_t)(turned.y + r);
            turned.height = (int16_t)-r;
        }
        add(canvas, (struct rect){i % 2 ? right : rect.x, i / 2 ? bottom : rect.y, r, r}, turned, paint);
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
        const struct patch patch = control ? (struct patch){0} : atlas_glyph(canvas->atlas, letters, character);
        if (patch.width > 0)
            add(canvas, (struct rect){x + patch.left, base + patch.top, patch.width, patch.height}, patch, paint);
        x += letters->advance;
    }
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
    glBindTexture(GL_TEXTURE_2D, atlas_texture(canvas->atlas));
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
