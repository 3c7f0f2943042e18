// gl_probe.c: the child's part of a probe of a shader: builds it, and draws a pixel with it
#include "base/child.h"
#include "base/file.h"
#include "compute/gl_context.h"
#include "path/gl_chain.h"
#include "path/probe.h"

#include <epoxy/gl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 16 << 20 };

// Draws a pixel, because drivers finish compiling at the first draw. The textures are empty.
static enum probe_status draw(const struct gl_program *program, bool es)
{
    static const struct image_shape shape = {.width = 1, .height = 1};
    const unsigned to = gl_texture_open(GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 1, 1);
    GLuint framebuffer, array;
    glGenFramebuffers(1, &framebuffer);
    glGenVertexArrays(1, &array);
    gl_chain_begin(es);
    glBindVertexArray(array);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, to, 0);
    glViewport(0, 0, 1, 1);
    gl_program_use(program, &shape, NULL, 0);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glFinish();
    return glGetError() == GL_NO_ERROR ? PROBE_PASSED : PROBE_NOT_RUN;
}

// Does not free its memory: the process ends after this call.
int probe_shader_answer(char *const *words)
{
    char path[64], why[256], *error = NULL;
    size_t bytes;
    const bool es = words[SHADER_WORD_ES][0];
    child_begin(atoi(words[SHADER_WORD_PARENT]), PROBE_DATA_BYTES, PROBE_BUILD_CPU_S);
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", atoi(words[SHADER_WORD_PARENT]), atoi(words[SHADER_WORD_TEXT]));
    char *text = file_read(path, TEXT_MAX, &bytes);
    if (!text)
        return PROBE_UNKNOWN;
    struct gl_context *context = gl_context_open(es, why);
    if (!context || !gl_context_bind(context, true))
        return PROBE_NOT_OPENED;
    const struct gl_program *program = gl_program_get(context, text, es, &error);
    return program ? (int)draw(program, es) : PROBE_NOT_BUILT;
}
