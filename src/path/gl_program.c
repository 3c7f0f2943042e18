// gl_program.c: compiles shaders, keeps them, and finds them by their text
#include "path/gl_program.h"

#include "base/alloc.h"
#include "base/child.h"
#include "base/file.h"
#include "base/gl_handles.h"
#include "compute/gl_context.h"
#include "compute/program.h"
#include "path/backend.h"
#include "path/gl_chain.h"
#include "path/pass_text.h"
#include "path/probe.h"

#include <epoxy/gl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- text of the shaders ----

enum { SPLIT_RADIUS = 1, SUMS_RADIUS = 2 };

// ---- plan ----

static bool has_halves(const struct pass *pass)
{
    return pass->stencil && strcmp(pass->stencil->filter->name, "blur") == 0 &&
           pass->stencil->arguments.radius >= SUMS_RADIUS;
}

// The arguments of a warp are many, even for a small picture, so that its program does not depend on the size.
static bool are_few(const struct gl_step *step)
{
    return step->numbers <= GL_FEW_NUMBERS && !step->pass->warp;
}

int gl_plan(struct plan *plan, const struct chain *chain, const struct image_shape *input,
            struct gl_step steps[GL_STEPS])
{
    int count = 0;
    const enum pixfmt format = input->format;
    const bool opaque = image_shape_opaque(input);
    plan_make(plan, chain, input->width, input->height, opaque);
    plan_split_masks(plan);
    plan_split(plan, format == PIXFMT_RGBA, SPLIT_RADIUS);
    plan_pictures(plan, false);
    plan_mark_grey(plan, opaque, format == PIXFMT_GREY);
    enum gl_texels from = TEXELS_RGBA;
    const struct pass_target rgba = {.format = PIXFMT_RGBA};
    for (int i = 0; i < plan->count; i++) {
        const struct pass *pass = &plan->pass[i];
        struct gl_step step = {
            .pass = pass, .first = i == 0, .reads = from, .numbers = pass_argument_count(pass, &rgba)};
        step.few = are_few(&step);
        if (has_halves(pass)) {
            step.part = PART_ACROSS;
            step.writes = pass->grey ? TEXELS_GREY_SUMS : TEXELS_RGBA_SUMS;
            steps[count++] = step;
            step.first = false;
            step.part = PART_DOWN;
            step.reads = step.writes;
        }
        step.writes = pass->writes == PASS_GREY ? TEXELS_GREY : TEXELS_RGBA;
        if (i == plan->count - 1)
            step.writes = TEXELS_SHOWN;
        steps[count++] = step;
        from = step.writes;
    }
    return count;
}

// ---- text ----

static const char *const es_head = "#version 300 es\n"
                                   "precision highp float;\n"
                                   "precision highp int;\n"
                                   "precision highp usampler2D;\n";

// Defines the macros that read the samples of a frame's pixel. A group of bytes is one texel.
static void add_samples(FILE *out, const struct pixfmt_info *info)
{
    for (int i = 0; i < 3; i++) {
        const struct pixfmt_samples *from = &info->samples[i];
        const struct pixfmt_plane *plane = &info->plane[from->plane];
        fprintf(out, "#define LOAD_%d(x, y) ", i);
        if (from->step == 0) // grey has no chroma
            fprintf(out, "128\n");
        else if (from->step < plane->bytes && plane->shift_x > 0 && i == 0) // luma of packed formats
            fprintf(out, "int(texelFetch(plane%d, ivec2((x) >> %d, y), 0)[%d + %d * ((x) & 1)])\n", from->plane,
                    plane->shift_x, from->first, from->step);
        else
            fprintf(out, "int(texelFetch(plane%d, ivec2((x) >> %d, (y) >> %d), 0)[%d])\n", from->plane, plane->shift_x,
                    plane->shift_y, from->first);
    }
    if (info->samples[0].step == 4)
        fprintf(out, "#define LOAD_3(x, y) int(texelFetch(plane0, ivec2(x, y), 0)[3])\n");
    else
        fprintf(out, "#define LOAD_3(x, y) 255\n");
    if (info->yuv)
        fprintf(out, "#define PASS_YUV\n");
}

// Defines the same macros for a texture that an earlier step drew.
static void add_texels(FILE *out, enum gl_texels texels)
{
    const bool grey = texels == TEXELS_GREY || texels == TEXELS_GREY_SUMS;
    for (int i = 0; i < 3; i++)
        fprintf(out, "#define LOAD_%d(x, y) int(texelFetch(plane0, ivec2(x, y), 0)[%d])\n", i, grey ? 0 : i);
    fprintf(out, "#define LOAD_3(x, y) %s\n", grey ? "255" : "int(texelFetch(plane0, ivec2(x, y), 0)[3])");
}

static void add_macros(struct composer *c, const struct gl_step *step, enum pixfmt format)
{
    const struct pass *pass = step->pass;
    if (step->first)
        add_samples(c->out, pixfmt_info(format));
    else
        add_texels(c->out, step->reads);
    if (pass->equal_channels)
        fprintf(c->out, "#define PASS_EQUAL_CHANNELS\n");
    if (step->writes == TEXELS_SHOWN)
        fprintf(c->out, "#define PASS_SHOWN\n");
    if (step->part != PART_WHOLE)
        fprintf(c->out, "#define PASS_SUMS_%s\n", step->part == PART_ACROSS ? "ACROSS" : "DOWN");
    compose_macros(c, pass, 0);
}

char *gl_text(const struct gl_step *step, enum pixfmt format, bool es, const char *kernel_dir, char **error)
{
    const struct pass *pass = step->pass;
    struct composer c;
    compose_start(&c, true, kernel_dir);
    fputs(es ? es_head : "#version 330 core\n", c.out);
    if (step->few)
        fprintf(c.out, "#define FEW_NUMBERS %d\n", step->numbers > 0 ? step->numbers : 1);
    compose_file(&c, "language.glsl");
    compose_file(&c, "common.cl");
    compose_part(&c, "plan");
    add_macros(&c, step, format);
    if (pass->warp)
        compose_file(&c, "warp.cl");
    compose_file(&c, "pass.glsl");
    compose_code(&c, pass, step->part == PART_WHOLE ? NULL : "");
    return compose_end(&c, error);
}

// ---- the compiler's log ----

// Reads "0:12" or "0(12)", after which the rest begins. Returns false for any other text.
static bool read_place(const char *line, int *number, const char **rest)
{
    char middle, end;
    int string, used = 0;
    if (sscanf(line, "%d%c%d%n", &string, &middle, number, &used) != 3 || (middle != ':' && middle != '('))
        return false;
    end = line[used];
    *rest = line + used + (middle == '(' && end == ')' ? 1 : 0);
    return true;
}

// The text has no #line, because Mesa (22.3) forgets its number of the file for the errors in some expressions.
char *gl_explain(const char *shader, const char *log)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = xmemstream(&text, &bytes);
    while (*log) {
        const size_t length = strcspn(log, "\n");
        const char *line = strncmp(log, "ERROR: ", 7) == 0 ? log + 7 : log, *rest;
        struct text_place place;
        int number;
        if (read_place(line, &number, &rest) && rest <= log + length && text_place(shader, number, &place))
            fprintf(out, "%s:%ld%.*s\n", place.file, place.line, (int)(log + length - rest), rest);
        else
            fprintf(out, "%.*s\n", (int)length, log);
        log += length + (log[length] == '\n');
    }
    xmemclose(out);
    return text;
}

// ---- programs ----

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

// ---- the child's part of a probe of a shader: builds it, and draws a pixel with it ----

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
