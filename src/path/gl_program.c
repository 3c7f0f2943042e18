// gl_program.c: compiles shaders, keeps them, and finds them by their text
#include "path/gl_program.h"

#include "base/alloc.h"
#include "base/gl_handles.h"
#include "path/backend.h"
#include "path/gl_text.h"

#include <epoxy/gl.h>

#include <stdlib.h>
#include <string.h>

// Programs stay until the context closes. If the builder deletes a program that the first context has used, Mesa (22.3)
// unbinds the vertex shader of the first context, whichever it is, and the next draw with that shader crashes. The same
// happens the other way round.
struct gl_program {
    struct gl_program *older;
    char *text;
    unsigned name;
    int size, coefficients, numbers; // uniforms
    bool used;
};

// A triangle that covers the whole picture.
static const char *const vertex_text =
    "void main()\n{\n"
    "    gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);\n}\n";

static void free_programs(void *newest)
{
    for (struct gl_program *program = newest, *older; program; program = older) {
        older = program->older;
        glDeleteProgram(program->name);
        free(program->text);
        free(program);
    }
}

// Reports why a shader does not compile or a program does not link.
static void fail(const char *shader, const char *log, char **error)
{
    char *text = gl_explain(shader, log);
    path_fail(error, text && text[0] ? text : "the GL driver does not compile a shader and gives no reason");
    free(text);
}

static unsigned compile(GLenum kind, const char *const *text, int count, char **error)
{
    enum { LOG_BYTES = 8192 };
    GLint ok = GL_FALSE;
    const unsigned shader = glCreateShader(kind);
    glShaderSource(shader, count, text, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
    if (ok)
        return shader;
    char *log = xalloc(LOG_BYTES);
    glGetShaderInfoLog(shader, LOG_BYTES, NULL, log);
    fail(text[0], log, error);
    free(log);
    glDeleteShader(shader);
    return 0;
}

static unsigned link_program(const char *text, bool es, char **error)
{
    const char *const vertex_parts[] = {es ? "#version 300 es\n" : "#version 330 core\n", vertex_text};
    char why[1024] = "";
    const unsigned vertex = compile(GL_VERTEX_SHADER, vertex_parts, 2, error);
    const unsigned fragment = vertex ? compile(GL_FRAGMENT_SHADER, &text, 1, error) : 0;
    const unsigned program = gl_link(vertex, fragment, why, sizeof(why));
    if (!program && fragment)
        fail(text, why, error);
    return program;
}

static void find_uniforms(struct gl_program *program)
{
    static const char *const samplers[] = {"plane0", "plane1", "plane2", "numbers", "second"};
    glUseProgram(program->name);
    for (int i = 0; i < (int)(sizeof(samplers) / sizeof(*samplers)); i++)
        glUniform1i(glGetUniformLocation(program->name, samplers[i]), i); // GL ignores an unused one
    glUseProgram(0);
    program->size = glGetUniformLocation(program->name, "size");
    program->coefficients = glGetUniformLocation(program->name, "coefficients");
    program->numbers = glGetUniformLocation(program->name, "numbers");
}

struct gl_program *gl_program_get(struct gl_context *context, char *text, bool es, char **error)
{
    struct gl_program *program = context->kept;
    while (program && strcmp(program->text, text) != 0)
        program = program->older;
    if (program) {
        free(text);
        return program;
    }
    program = xalloc(sizeof(*program));
    if ((program->name = link_program(text, es, error)) != 0) {
        find_uniforms(program);
        program->text = text;
        program->older = context->kept;
        context->kept = program;
        context->kept_free = free_programs;
        return program;
    }
    free(program);
    free(text);
    return NULL;
}

bool gl_program_is_new(struct gl_program *program)
{
    const bool new = !program->used;
    program->used = true;
    return new;
}

void gl_program_use(const struct gl_program *program, const struct image_shape *input, const int32_t *numbers,
                    int count)
{
    const struct color_coefficients k = color_to_rgb(input->color);
    const GLint coefficients[] = {k.cy, k.bias, k.rv, k.gu, k.gv, k.bu};
    glUseProgram(program->name);
    glUniform2i(program->size, input->width, input->height); // GL ignores an unused uniform
    glUniform1iv(program->coefficients, 6, coefficients);
    if (numbers && count > 0)
        glUniform1iv(program->numbers, count, numbers);
}
