// quads.c: a batch of coloured rectangles, one instance each
#include "screen/quads.h"

#include "base/log.h"
#include "screen/shader.h"

#include <epoxy/gl.h>

#include <stddef.h>
#include <stdlib.h>

bool quads_init(struct quads *quads, bool es)
{
    *quads = (struct quads){0};
    quads->quad = malloc(QUADS_MAX * sizeof(*quads->quad));
    if (!quads->quad) {
        log_error("cannot draw the overlay: out of memory");
        return false;
    }
    quads->program = shader_build("quad", es);
    if (!quads->program)
        return false;
    quads->framebuffer = glGetUniformLocation(quads->program, "framebuffer");

    static const struct {
        GLint size;
        GLenum type;
        GLboolean normalized;
        size_t offset;
    } attributes[] = {
        {4, GL_SHORT, GL_FALSE, offsetof(struct quad, x)},
        {4, GL_SHORT, GL_FALSE, offsetof(struct quad, atlas_x)},
        {4, GL_UNSIGNED_BYTE, GL_TRUE, offsetof(struct quad, tint)},
    };
    glGenVertexArrays(1, &quads->array);
    glGenBuffers(1, &quads->buffer);
    glBindVertexArray(quads->array);
    glBindBuffer(GL_ARRAY_BUFFER, quads->buffer);
    for (unsigned i = 0; i < sizeof(attributes) / sizeof(*attributes); i++) {
        glVertexAttribPointer(i, attributes[i].size, attributes[i].type, attributes[i].normalized, sizeof(struct quad),
                              (const void *)attributes[i].offset);
        glVertexAttribDivisor(i, 1);
        glEnableVertexAttribArray(i);
    }
    glBindVertexArray(0);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    return true;
}

void quads_finish(struct quads *quads)
{
    if (quads->array)
        glDeleteVertexArrays(1, &quads->array);
    if (quads->buffer)
        glDeleteBuffers(1, &quads->buffer);
    if (quads->program)
        glDeleteProgram(quads->program);
    free(quads->quad);
    *quads = (struct quads){0};
}

void quads_add(struct quads *quads, struct quad quad)
{
    if (quads->count < QUADS_MAX)
        quads->quad[quads->count++] = quad;
}

void quads_draw(struct quads *quads, unsigned atlas, int width, int height)
{
    if (quads->count == 0)
        return;
    glBindBuffer(GL_ARRAY_BUFFER, quads->buffer);
    glBufferData(GL_ARRAY_BUFFER, quads->count * (GLsizeiptr)sizeof(*quads->quad), quads->quad, GL_STREAM_DRAW);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glUseProgram(quads->program);
    glUniform2f(quads->framebuffer, (float)width, (float)height);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, atlas);
    glBindSampler(0, 0);
    glEnable(GL_BLEND);
    glBlendEquation(GL_FUNC_ADD);
    glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ZERO, GL_ONE);
    glBindVertexArray(quads->array);
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, quads->count);
    glBindVertexArray(0);
    glDisable(GL_BLEND);
    glBindTexture(GL_TEXTURE_2D, 0);
    quads->count = 0;
}
