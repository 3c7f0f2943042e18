// gl_program.c: compiles shaders, and finds them again by their text
#include "path/gl_program.h"

#include "path/backend.h"
#include "path/gl_text.h"

#include <epoxy/gl.h>

#include <stdlib.h>
#include <string.h>

enum { UNUSED_MAX = 32 }; // programs without a user that are kept

struct gl_program {
    struct gl_program *older;
    char *text;
    unsigned name;
    int numbers; // uniform: the arguments
    int users;   // chains
};

// A triangle that covers the whole picture.
static const char *const vertex_text =
    "void main()\n{\n"
    "    gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);\n}\n";

static void free_program(struct gl_program *program)
{
    glDeleteProgram(program->name);
    free(program->text);
    free(program);
}

void gl_programs_finish(struct gl_programs *programs)
{
    while (programs->newest) {
        struct gl_program *program = programs->newest;
        programs->newest = program->older;
        free_program(program);
    }
}

// Reports why a shader does not compile or a program does not link.
static void fail(const struct composer *parts, const char *log, char **error)
{
    char *text = gl_explain(parts, log);
    path_fail(error, text && text[0] ? text : "the GL driver does not compile a shader and gives no reason");
    free(text);
}

static unsigned compile(GLenum kind, const char *const *text, int count, const struct composer *parts, char **error)
{
    enum { LOG_BYTES = 8192 };
    GLint ok = GL_FALSE;
    const unsigned shader = glCreateShader(kind);
    glShaderSource(shader, count, text, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
    if (ok)
        return shader;
    char *log = calloc(1, LOG_BYTES);
    if (log)
        glGetShaderInfoLog(shader, LOG_BYTES, NULL, log);
    fail(parts, log ? log : "", error);
    free(log);
    glDeleteShader(shader);
    return 0;
}

static unsigned link_program(const char *text, bool es, const struct composer *parts, char **error)
{
    const char *const vertex_parts[] = {es ? "#version 300 es\n" : "#version 330 core\n", vertex_text};
    char log[1024] = "";
    unsigned program = 0;
    GLint ok = GL_FALSE;
    const unsigned vertex = compile(GL_VERTEX_SHADER, vertex_parts, 2, parts, error);
    const unsigned fragment = vertex ? compile(GL_FRAGMENT_SHADER, &text, 1, parts, error) : 0;
    if (vertex && fragment) {
        program = glCreateProgram();
        glAttachShader(program, vertex);
        glAttachShader(program, fragment);
        glLinkProgram(program);
        glGetProgramiv(program, GL_LINK_STATUS, &ok);
    }
    if (program && !ok) {
        glGetProgramInfoLog(program, sizeof(log), NULL, log);
        fail(parts, log, error);
        glDeleteProgram(program);
        program = 0;
    }
    glDeleteShader(vertex); // GL ignores 0, and a linked program keeps its shaders
    glDeleteShader(fragment);
    return program;
}

// Sets the uniforms, which have the same values for every frame of a path.
static void set_uniforms(unsigned program, const struct image_shape *input)
{
    const struct color_coefficients k = color_to_rgb(input->color);
    const GLint coefficients[] = {k.cy, k.bias, k.rv, k.gu, k.gv, k.bu};
    static const char *const samplers[] = {"plane0", "plane1", "plane2", "numbers"};
    glUseProgram(program);
    for (int i = 0; i < 4; i++)
        glUniform1i(glGetUniformLocation(program, samplers[i]), i); // GL ignores an unused one
    glUniform2i(glGetUniformLocation(program, "size"), input->width, input->height);
    glUniform1iv(glGetUniformLocation(program, "coefficients"), 6, coefficients);
    glUseProgram(0);
}

static struct gl_program *find(struct gl_programs *programs, const char *text)
{
    struct gl_program *program = programs->newest;
    while (program && strcmp(program->text, text) != 0)
        program = program->older;
    return program;
}

// Compiles the text and puts its program at the front of the list.
static struct gl_program *add(struct gl_programs *programs, char *text, bool es, const struct composer *parts,
                              char **error)
{
    struct gl_program *program = calloc(1, sizeof(*program));
    if (!program)
        path_fail(error, "cannot compile a shader: out of memory");
    else if ((program->name = link_program(text, es, parts, error)) != 0) {
        set_uniforms(program->name, &programs->input);
        program->numbers = glGetUniformLocation(program->name, "numbers");
        program->text = text;
        program->older = programs->newest;
        programs->newest = program;
        programs->unused++;
        return program;
    }
    free(program);
    free(text);
    return NULL;
}

// Frees the oldest program without a user.
static void drop_oldest(struct gl_programs *programs)
{
    struct gl_program **oldest = NULL;
    for (struct gl_program **at = &programs->newest; *at; at = &(*at)->older)
        oldest = (*at)->users == 0 ? at : oldest;
    if (!oldest)
        return;
    struct gl_program *program = *oldest;
    *oldest = program->older;
    programs->unused--;
    free_program(program);
}

const struct gl_program *gl_program_get(struct gl_programs *programs, char *text, bool es, const struct composer *parts,
                                        char **error)
{
    struct gl_program *program = find(programs, text);
    if (program)
        free(text);
    else
        program = add(programs, text, es, parts, error);
    if (program && program->users++ == 0)
        programs->unused--;
    return program;
}

void gl_program_put(struct gl_programs *programs, const struct gl_program *program)
{
    if (!program)
        return;
    if (--((struct gl_program *)program)->users == 0 && ++programs->unused > UNUSED_MAX)
        drop_oldest(programs);
}

void gl_program_use(const struct gl_program *program, const int32_t *numbers, int count)
{
    glUseProgram(program->name);
    if (numbers && count > 0)
        glUniform1iv(program->numbers, count, numbers);
}
