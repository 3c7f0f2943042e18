// gl.c: the gl path: programs of shaders, the draws of a chain, and the life of a frame
#include "base/alloc.h"
#include "base/child.h"
#include "base/file.h"
#include "base/gl_handles.h"
#include "base/log.h"
#include "compute/gl_context.h"
#include "compute/texture.h"
#include "image/convert.h"
#include "image/copier.h"
#include "path/backend.h"
#include "path/measures.h"
#include "path/pass_text.h"
#include "path/probe.h"

#include <assert.h>
#include <epoxy/gl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS = 5 }; // textures of a program (find_uniforms)

// Makes an empty texture, which texelFetch can read. Returns 0 if GL refuses it.
static unsigned gl_texture_open(unsigned format, unsigned layout, unsigned type, int width, int height)
{
    GLuint texture;
    while (glGetError() != GL_NO_ERROR)
        ; // an error of other code
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format, width, height, 0, layout, type, NULL);
    // GL reads integer textures only if they have neither mipmaps nor linear filters.
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glBindTexture(GL_TEXTURE_2D, 0);
    if (glGetError() == GL_NO_ERROR)
        return texture;
    glDeleteTextures(1, &texture);
    return 0;
}

// Sets all of the context's state that drawing depends on, because other code uses the context too.
static void gl_chain_begin(bool es)
{
    static const GLenum off[] = {GL_BLEND,        GL_CULL_FACE,    GL_DEPTH_TEST,         GL_DITHER,
                                 GL_SCISSOR_TEST, GL_STENCIL_TEST, GL_RASTERIZER_DISCARD, GL_SAMPLE_ALPHA_TO_COVERAGE};
    for (size_t i = 0; i < sizeof(off) / sizeof(*off); i++)
        glDisable(off[i]);
    if (!es)
        glDisable(GL_FRAMEBUFFER_SRGB);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    for (GLuint unit = 0; unit < UNITS; unit++)
        glBindSampler(unit, 0);
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

// Returns the program of a fragment shader, compiled or found by its text, so that a new value of a parameter needs no
// compiler. The context keeps it until it closes. Needs the builder (compute/gl_context.h), which one thread has at a
// time. Takes over `text`. NULL on failure: *error as in path_open.
static struct gl_program *gl_program_get(struct gl_context *context, char *text, bool es, char **error)
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

// Returns true at the first call for this program.
static bool gl_program_is_new(struct gl_program *program)
{
    const bool new = !program->used;
    program->used = true;
    return new;
}

// Uses the program for an input of this shape, with a few arguments as uniforms (NULL: they are in a texture). Uniforms
// belong to the program, so only the first context may do this. Exception: a new program.
static void gl_program_use(const struct gl_program *program, const struct image_shape *input, const int32_t *numbers,
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

// ---- chains ----

// What a chain is compiled for.
struct gl_target {
    struct gl_context *context;
    struct image_shape input;
    bool es;
    const char *kernel_dir; // NULL: none
};

struct gl_chain {
    const struct gl_target *target; // borrowed
    struct plan plan;
    struct gl_step step[GL_STEPS];
    int steps;
    struct gl_program *program[GL_STEPS];
    int32_t few[GL_STEPS][GL_FEW_NUMBERS]; // the arguments
    unsigned numbers[GL_STEPS];            // or their textures; 0: they are few
    struct pass_follower follower[GL_STEPS][CHAIN_MAX];
    int followers[GL_STEPS];
    uint8_t *strip;                    // memory for STRIP_ROWS rows of a picture that is read back; NULL: none
    uint32_t (*counts)[FILTER_LEVELS]; // of its parts
    // A step's pictures of the frame before: two textures, which are read and written in turn.
    unsigned second[GL_STEPS][2];
    int turn;                   // the number of the texture that is read next
    unsigned between[GL_STEPS]; // the output of each step but the last; some steps share a texture
};

enum { NUMBERS_ROW = 2048 }; // arguments in a row of their texture (kernels/language.glsl)
enum { STRIP_ROWS = 32 };    // rows of a picture that are read back at a time

static const struct {
    GLenum format, layout, type;
} texels[TEXELS_KINDS] = {
    [TEXELS_GREY] = {GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE},
    [TEXELS_RGBA] = {GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE},
    [TEXELS_GREY_SUMS] = {GL_R16UI, GL_RED_INTEGER, GL_UNSIGNED_SHORT},
    [TEXELS_RGBA_SUMS] = {GL_RGBA16UI, GL_RGBA_INTEGER, GL_UNSIGNED_SHORT},
    [TEXELS_SHOWN] = {GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE},
};

// ---- drawing ----

static bool step_measures(const struct gl_step *step)
{
    return pass_measures(step->pass) && step->part != PART_DOWN;
}

// Returns the bytes of STRIP_ROWS rows of words.
static size_t strip_bytes(int width)
{
    return 4 * sizeof(GLuint) * STRIP_ROWS * (size_t)width;
}

static void bind_texture(GLuint unit, unsigned texture)
{
    glActiveTexture(GL_TEXTURE0 + unit);
    glBindTexture(GL_TEXTURE_2D, texture);
}

// Writes numbers to a texture of arguments, which is bound.
static void write_numbers(int at, const int32_t *numbers, int count)
{
    while (count > 0) {
        const int column = at % NUMBERS_ROW, room = NUMBERS_ROW - column, part = count < room ? count : room;
        glTexSubImage2D(GL_TEXTURE_2D, 0, column, at / NUMBERS_ROW, part, 1, GL_RED_INTEGER, GL_INT, numbers);
        at += part;
        numbers += part;
        count -= part;
    }
}

// Counts the pixels of a step's input, which is read back from the framebuffer. GL ES reads integers as words only.
static void count_input(const struct gl_chain *chain, const struct gl_step *step, unsigned framebuffer)
{
    const struct histogram_parts counted = pass_histograms(step->pass);
    const bool es = chain->target->es;
    const int width = step->pass->from_width, height = step->pass->from_height;
    const GLuint *words = (const GLuint *)chain->strip;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    memset(chain->counts, 0, sizeof(*chain->counts) * (size_t)counted.parts);
    for (int y = 0; y < height; y += STRIP_ROWS) {
        const int rows = height - y < STRIP_ROWS ? height - y : STRIP_ROWS;
        const size_t bytes = 4 * (size_t)width * (size_t)rows;
        const struct image strip = {
            .shape = {.width = width, .height = rows}, .plane = {chain->strip}, .stride = {4 * (size_t)width}};
        glReadPixels(0, y, width, rows, GL_RGBA_INTEGER, es ? GL_UNSIGNED_INT : GL_UNSIGNED_BYTE, chain->strip);
        for (size_t i = 0; es && i < bytes; i++)
            chain->strip[i] = (uint8_t)words[i];
        const struct histogram_rows counted_rows = {.rgba = &strip,
                                                    .top = y,
                                                    .height = height,
                                                    .first = y,
                                                    .end = y + rows,
                                                    .grey = step->reads == TEXELS_GREY,
                                                    .scratch = chain->strip + strip_bytes(width)};
        histogram_add(&counted, &counted_rows, chain->counts);
    }
}

// Computes the arguments of a step's first filter from the latest step's output. `few`: the step's arguments.
static void measure_input(struct gl_chain *chain, int number, unsigned framebuffer, int32_t few[GL_FEW_NUMBERS])
{
    const struct gl_step *step = &chain->step[number];
    struct stage *stage = &chain->plan.stage[step->pass->before[0] - chain->plan.stage];
    int32_t *numbers = filter_own_numbers(&stage->arguments);
    count_input(chain, step, framebuffer);
    stage->filter->measured->measure(chain->counts[0], numbers);
    if (!chain->numbers[number]) {
        memcpy(few, numbers, (size_t)stage->arguments.count * sizeof(*few));
        return;
    }
    bind_texture(3, chain->numbers[number]);
    write_numbers(0, numbers, stage->arguments.count);
}

// Returns true if a step gets a picture of the frame before, and stores the next one.
static bool remembers(const struct gl_step *step)
{
    return pass_remembers(step->pass) && step->part != PART_ACROSS;
}

// Returns the step that draws the output of a pass.
static int step_of(const struct gl_chain *chain, const struct pass *pass)
{
    int number = chain->steps - 1;
    while (number > 0 && chain->step[number].pass != pass)
        number--;
    return number;
}

// The next draw also writes to this texture. 0: it does not.
static void attach_second(unsigned texture)
{
    static const GLenum buffers[] = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1};
    glFramebufferTexture2D(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT1, GL_TEXTURE_2D, texture, 0);
    glDrawBuffers(texture ? 2 : 1, buffers);
}

static void draw_step(const struct gl_chain *chain, int number, unsigned to, const int32_t few[GL_FEW_NUMBERS])
{
    const struct gl_step *step = &chain->step[number];
    const struct pass *pass = step->pass;
    struct image_shape input = chain->target->input;
    input.width = pass->from_width;
    input.height = pass->from_height;
    if (!step->first)
        bind_texture(0, chain->between[number - 1]);
    bind_texture(3, chain->numbers[number]);
    glFramebufferTexture2D(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
                           step->writes == TEXELS_SHOWN ? to : chain->between[number], 0);
    glViewport(0, 0, pass->width, pass->height);
    gl_program_use(chain->program[number], &input, step->few ? few : NULL, step->numbers);
    if (remembers(step)) {
        bind_texture(4, chain->second[number][chain->turn]);
        attach_second(chain->second[number][!chain->turn]);
    } else if (pass->second.kind == PICTURE_OUTPUT) {
        bind_texture(4, chain->between[step_of(chain, &chain->plan.pass[pass->second.pass])]);
    }
    glDrawArrays(GL_TRIANGLES, 0, 3);
    if (remembers(step))
        attach_second(0);
}

// Writes the arguments that plan_set_frame_time has set.
static void follow(struct gl_chain *chain, int number)
{
    bind_texture(3, chain->numbers[number]);
    for (int i = 0; i < chain->followers[number]; i++) {
        const struct pass_follower *follower = &chain->follower[number][i];
        const struct filter_arguments *arguments = &follower->stage->arguments;
        const int32_t *numbers = filter_numbers(arguments);
        if (chain->numbers[number])
            write_numbers(follower->at, numbers, arguments->followed);
        else
            memcpy(chain->few[number] + follower->at, numbers, sizeof(*numbers) * (size_t)arguments->followed);
    }
}

static void bind_target(unsigned framebuffer, unsigned array)
{
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
    glBindVertexArray(array);
}

// Draws all steps for a frame from the textures of a frame's planes, through a framebuffer of this context and a
// vertex array, to the texture `to`. Calls `passed` after each pass.
static void gl_chain_draw(struct gl_chain *chain, struct frame_time frame_time, const unsigned planes[PIXFMT_PLANES],
                          unsigned framebuffer, unsigned array, unsigned to, void (*passed)(void *context),
                          void *context)
{
    plan_set_frame_time(&chain->plan, &frame_time);
    bind_target(framebuffer, array);
    for (GLuint i = 0; i < PIXFMT_PLANES; i++)
        bind_texture(i, planes[i]);
    for (int i = 0; i < chain->steps; i++) {
        int32_t few[GL_FEW_NUMBERS];
        follow(chain, i);
        memcpy(few, chain->few[i], sizeof(few));
        if (step_measures(&chain->step[i]))
            measure_input(chain, i, framebuffer, few);
        draw_step(chain, i, to, few);
        if (chain->step[i].part != PART_ACROSS)
            passed(context);
    }
    chain->turn = !chain->turn;
}

// Leaves the context as other code expects it.
static void gl_chain_end(void)
{
    for (GLuint unit = UNITS; unit > 0; unit--)
        bind_texture(unit - 1, 0);
    glUseProgram(0);
    glBindVertexArray(0);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

// ---- opening ----

// Writes the arguments of a step, to a texture if they are many. False: GL refuses it, or memory is short.
static bool make_numbers(struct gl_chain *chain, int number)
{
    const struct pass_target target = {.format = PIXFMT_RGBA};
    const struct gl_step *step = &chain->step[number];
    const int rows = step->numbers / NUMBERS_ROW + 1;
    chain->followers[number] = pass_followers(step->pass, &target, chain->follower[number]);
    if (step->few) {
        pass_arguments(step->pass, &target, chain->few[number]);
        return true;
    }
    int32_t *numbers = xcalloc((size_t)rows * NUMBERS_ROW, sizeof(*numbers));
    pass_arguments(step->pass, &target, numbers);
    chain->numbers[number] = gl_texture_open(GL_R32I, GL_RED_INTEGER, GL_INT, NUMBERS_ROW, rows);
    glBindTexture(GL_TEXTURE_2D, chain->numbers[number]);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, NUMBERS_ROW, rows, GL_RED_INTEGER, GL_INT, numbers);
    glBindTexture(GL_TEXTURE_2D, 0);
    free(numbers);
    return chain->numbers[number] != 0;
}

// Returns the texture of an earlier step that has the same texels and size, and whose pictures no later step reads. 0:
// there is none.
static unsigned find_texture(const struct gl_chain *chain, int number)
{
    const struct gl_step *step = &chain->step[number];
    const ptrdiff_t pass = step->pass - chain->plan.pass;
    for (int i = number - 2; i >= 0; i--) {
        const struct gl_step *before = &chain->step[i];
        bool usable = before->writes == step->writes && before->pass->width == step->pass->width &&
                      before->pass->height == step->pass->height;
        for (int k = i; usable && k < number; k++) {
            const bool sums = chain->step[k].part == PART_ACROSS;
            if (chain->between[k] == chain->between[i])
                usable = k < number - 1 && (sums || chain->step[k].pass->until < pass);
        }
        if (usable)
            return chain->between[i];
    }
    return 0;
}

// Makes the textures for a picture of the frame before. False: GL refuses one.
static bool make_second(struct gl_chain *chain, int number)
{
    const struct pass *pass = chain->step[number].pass;
    bool ok = true;
    for (int i = 0; ok && i < 2 && remembers(&chain->step[number]); i++) {
        unsigned *texture = &chain->second[number][i];
        *texture = gl_texture_open(GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, pass->width, pass->height);
        ok = *texture;
    }
    return ok;
}

// Makes the other textures of a step. False: GL refuses one, or memory is short.
static bool make_textures(struct gl_chain *chain, int number)
{
    const struct pass *pass = chain->step[number].pass;
    const enum gl_texels kind = chain->step[number].writes;
    if (kind == TEXELS_SHOWN)
        return make_numbers(chain, number);
    chain->between[number] = find_texture(chain, number);
    if (!chain->between[number])
        chain->between[number] =
            gl_texture_open(texels[kind].format, texels[kind].layout, texels[kind].type, pass->width, pass->height);
    return chain->between[number] && make_numbers(chain, number);
}

// Allocates memory to read pictures back, with one row more as scratch memory, and to count.
static void make_strip(struct gl_chain *chain)
{
    int width = 0, parts = 0;
    for (int i = 0; i < chain->steps; i++) {
        const struct gl_step *step = &chain->step[i];
        if (!step_measures(step))
            continue;
        width = step->pass->from_width > width ? step->pass->from_width : width;
        parts = pass_histograms(step->pass).parts > parts ? pass_histograms(step->pass).parts : parts;
    }
    if (width == 0)
        return;
    chain->strip = xalloc(strip_bytes(width) + 4 * (size_t)width);
    chain->counts = xcalloc((size_t)parts, sizeof(*chain->counts));
}

// Draws one pixel with each new program. False on a GL error.
static bool draw_once(const struct gl_chain *chain)
{
    const unsigned to = gl_texture_open(GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 1, 1);
    GLuint framebuffer, array;
    glGenFramebuffers(1, &framebuffer);
    glGenVertexArrays(1, &array);
    gl_chain_begin(chain->target->es);
    glEnable(GL_SCISSOR_TEST);
    glScissor(0, 0, 1, 1);
    bind_target(framebuffer, array);
    for (int i = 0; i < chain->steps; i++) {
        if (gl_program_is_new(chain->program[i]))
            draw_step(chain, i, to, chain->few[i]);
    }
    gl_chain_end();
    glDisable(GL_SCISSOR_TEST);
    glFinish(); // the other context may use the objects now
    glDeleteFramebuffers(1, &framebuffer);
    glDeleteVertexArrays(1, &array);
    glDeleteTextures(1, &to);
    return to && glGetError() == GL_NO_ERROR;
}

static bool make_steps(struct gl_chain *chain, char **error)
{
    const struct gl_target *target = chain->target;
    for (int i = 0; i < chain->steps; i++) {
        char *text = gl_text(&chain->step[i], target->input.format, target->es, target->kernel_dir, error);
        if (!text || !(chain->program[i] = gl_program_get(target->context, text, target->es, error)))
            return false;
        if (!make_textures(chain, i) || !make_second(chain, i)) {
            path_fail(error, "GL refuses the textures of this chain at this frame size");
            return false;
        }
    }
    return true;
}

// Builds the users' filters of the chain in a child process. Returns false if the driver's compiler crashes or exceeds
// a limit there; *error is then as in path_open. Needs no context.
static bool gl_chain_builds(const struct gl_target *target, const struct chain *chain, char **error)
{
    struct gl_chain *planned = xalloc(sizeof(*planned));
    bool ok = true;
    planned->steps = gl_plan(&planned->plan, chain, &target->input, planned->step);
    for (int i = 0; ok && i < planned->steps; i++) {
        if (!pass_has_users(planned->step[i].pass))
            continue;
        char *text = gl_text(&planned->step[i], target->input.format, target->es, target->kernel_dir, error);
        ok = text && probe_shader_builds(target->context, text, target->es, error);
        free(text);
    }
    plan_free(&planned->plan);
    free(planned);
    return ok;
}

static void gl_chain_close(struct gl_chain *chain)
{
    if (!chain)
        return;
    glDeleteTextures(GL_STEPS, chain->numbers); // GL ignores 0
    glDeleteTextures(GL_STEPS, chain->between);
    glDeleteTextures(2 * GL_STEPS, chain->second[0]);
    plan_free(&chain->plan);
    free(chain->strip);
    free(chain->counts);
    free(chain);
}

// Needs the builder context, as gl_chain_close does.
//
// Plans and compiles a chain. Draws one pixel with each new program, because drivers finish compiling at the first
// draw. NULL on failure: *error as in path_open.
static struct gl_chain *gl_chain_open(const struct gl_target *target, const struct chain *chain, char **error)
{
    struct gl_chain *opened = xalloc(sizeof(*opened));
    char why[CHAIN_ERROR];
    opened->target = target;
    opened->steps = gl_plan(&opened->plan, chain, &target->input, opened->step);
    make_strip(opened);
    if (!plan_fill(&opened->plan, why)) {
        path_fail(error, why);
    } else if (make_steps(opened, error)) {
        if (draw_once(opened))
            return opened;
        path_fail(error, "the GL driver cannot draw with the shaders of this chain");
    }
    gl_chain_close(opened);
    return NULL;
}

// ---- the path ----

enum {
    WAIT_S = 10,              // GL has hung if a frame takes longer
    STAMPS = PLAN_PASSES + 3, // start, end of the upload, of each pass and of the download
    RESYNC_NS = 1000000000,   // the clocks of the host and of GL drift
};

// A frame in flight, or the latest result.
struct slot {
    uint64_t number;        // of the frame, as in struct frame_time
    struct gl_chain *chain; // of the frame
    unsigned unpack;        // buffer with the frame's planes
    unsigned shown;         // texture with the result
    unsigned pack;          // buffer with the result; 0: it is not read back
    const uint8_t *mapped;  // `pack` in memory; NULL: not mapped
    struct image encoded;
    uint32_t *values; // of the measures
    GLsync done;
    unsigned stamp[STAMPS]; // queries of the submitting context; 0: it has none
    int stamps;
    int64_t copy_start_ns, copy_end_ns;
};

struct gl_path {
    struct path path;
    struct gl_context *context;
    struct gl_target target;
    bool textures; // results are textures
    unsigned plane[PIXFMT_PLANES];
    size_t offset[PIXFMT_PLANES], input_bytes; // of the planes in `unpack`
    struct slot slot[PATH_DEPTH_MAX + 1];      // one more than in flight: the collected one stays valid
    int slots, write_slot, read_slot;
    struct copier copier; // of frames
    // Of the submitting context, made by the first submit.
    unsigned framebuffer, array;
    bool stamped;                 // GL has timestamps
    int64_t shift_ns, shifted_ns; // host time minus GL time, and the time of that measurement
};

static const struct {
    GLenum format, layout;
} groups[] = {
    [1] = {GL_R8UI, GL_RED_INTEGER},
    [2] = {GL_RG8UI, GL_RG_INTEGER},
    [3] = {GL_RGB8UI, GL_RGB_INTEGER},
    [4] = {GL_RGBA8UI, GL_RGBA_INTEGER},
};

// Returns the size of a plane's texture.
static void plane_size(const struct image_shape *shape, int plane, int *width, int *height)
{
    *width = (int)pixfmt_row_bytes(shape->format, plane, shape->width) / pixfmt_info(shape->format)->plane[plane].bytes;
    *height = pixfmt_rows(shape->format, plane, shape->height);
}

// ---- times ----

static_assert(GL_TIMESTAMP == GL_TIMESTAMP_EXT, "timestamp queries differ");

static bool has_stamps(bool es)
{
    GLint bits = 0;
    if (es && !epoxy_has_gl_extension("GL_EXT_disjoint_timer_query"))
        return false;
    if (es)
        glGetQueryivEXT(GL_TIMESTAMP, GL_QUERY_COUNTER_BITS_EXT, &bits);
    else
        glGetQueryiv(GL_TIMESTAMP, GL_QUERY_COUNTER_BITS, &bits);
    return bits > 0;
}

static void stamp(struct gl_path *gl, struct slot *slot)
{
    if (!gl->stamped)
        return;
    if (!slot->stamp[slot->stamps])
        glGenQueries(1, &slot->stamp[slot->stamps]);
    (gl->target.es ? glQueryCounterEXT : glQueryCounter)(slot->stamp[slot->stamps++], GL_TIMESTAMP);
}

// The context of gl_chain_draw's call after each pass.
struct stamping {
    struct gl_path *gl;
    struct slot *slot;
};

static void stamp_pass(void *context)
{
    const struct stamping *stamping = context;
    stamp(stamping->gl, stamping->slot);
}

static void synchronise_clocks(struct gl_path *gl)
{
    GLint64 now = 0;
    if (!gl->stamped || (gl->shifted_ns && clock_now_ns() - gl->shifted_ns < RESYNC_NS))
        return;
    glGetInteger64v(GL_TIMESTAMP, &now);
    gl->shifted_ns = clock_now_ns();
    gl->shift_ns = gl->shifted_ns - (int64_t)now;
}

// Adds the stage between a stamp and the next one.
static void add_stage(const struct gl_path *gl, const struct slot *slot, struct path_result *result, int number,
                      const char *name)
{
    GLuint64 ns[2] = {0};
    for (int i = 0; i < 2; i++)
        (gl->target.es ? glGetQueryObjectui64vEXT : glGetQueryObjectui64v)(slot->stamp[number + i], GL_QUERY_RESULT,
                                                                           &ns[i]);
    if (ns[0] == 0 || ns[1] < ns[0])
        return;
    path_add_stage(result, name, STAGE_DEVICE, (int64_t)ns[0] + gl->shift_ns, (int64_t)ns[1] + gl->shift_ns);
}

static void add_host_stage(struct path_result *result, const char *name, int64_t start_ns)
{
    path_add_stage(result, name, STAGE_HOST, start_ns, clock_now_ns());
}

static void add_stages(const struct gl_path *gl, const struct slot *slot, struct path_result *result)
{
    const struct plan *plan = &slot->chain->plan;
    path_add_stage(result, "copy in", STAGE_HOST, slot->copy_start_ns, slot->copy_end_ns);
    if (slot->stamps == 0) {
        add_host_stage(result, "passes", slot->copy_end_ns); // GL has no timestamps
        return;
    }
    add_stage(gl, slot, result, 0, "upload");
    for (int i = 0; i < plan->count; i++) {
        char name[160];
        snprintf(name, sizeof(name), "pass %s", plan->pass[i].name);
        add_stage(gl, slot, result, 1 + i, name);
    }
    if (slot->pack)
        add_stage(gl, slot, result, 1 + plan->count, "download");
}

// ---- submit ----

// Copies the frame to the slot's buffer, its rows packed. False: GL does not map the buffer.
static bool copy_frame(struct gl_path *gl, const struct slot *slot, const struct image *frame)
{
    struct image packed = {.shape = frame->shape};
    uint8_t *to = glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, (GLsizeiptr)gl->input_bytes,
                                   GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
    if (!to)
        return false;
    for (int i = 0; i < pixfmt_info(frame->shape.format)->planes; i++) {
        packed.plane[i] = to + gl->offset[i];
        packed.stride[i] = pixfmt_row_bytes(frame->shape.format, i, frame->shape.width);
    }
    copier_run(&gl->copier, &packed, frame);
    return glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER);
}

static bool upload(struct gl_path *gl, struct slot *slot, const struct image *frame)
{
    const struct image_shape *shape = &gl->path.input;
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, slot->unpack);
    slot->copy_start_ns = clock_now_ns();
    // A driver may lose the contents of a mapped buffer. Then the frame is copied again.
    const bool copied = copy_frame(gl, slot, frame) || copy_frame(gl, slot, frame);
    slot->copy_end_ns = clock_now_ns();
    stamp(gl, slot);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    for (int i = 0; copied && i < pixfmt_info(shape->format)->planes; i++) {
        int width, height;
        plane_size(shape, i, &width, &height);
        glBindTexture(GL_TEXTURE_2D, gl->plane[i]);
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height,
                        groups[pixfmt_info(shape->format)->plane[i].bytes].layout, GL_UNSIGNED_BYTE,
                        (const void *)(uintptr_t)gl->offset[i]);
    }
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glBindTexture(GL_TEXTURE_2D, 0);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    stamp(gl, slot);
    return copied;
}

static void unmap(struct slot *slot)
{
    if (!slot->mapped)
        return;
    glBindBuffer(GL_PIXEL_PACK_BUFFER, slot->pack);
    glUnmapBuffer(GL_PIXEL_PACK_BUFFER);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    slot->mapped = NULL;
}

// Starts to read the result back.
static void download(struct gl_path *gl, struct slot *slot)
{
    if (!slot->pack)
        return;
    unmap(slot);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, gl->framebuffer); // the last step drew to its texture
    glBindBuffer(GL_PIXEL_PACK_BUFFER, slot->pack);
    glReadPixels(0, 0, gl->path.info.width, gl->path.info.height, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    stamp(gl, slot);
}

// Makes the objects that contexts do not share.
static void prepare_context(struct gl_path *gl)
{
    if (gl->framebuffer)
        return;
    glGenFramebuffers(1, &gl->framebuffer);
    glGenVertexArrays(1, &gl->array);
    gl->stamped = has_stamps(gl->target.es);
}

static bool submit(struct path *path, const struct image *frame)
{
    struct gl_path *gl = (struct gl_path *)path;
    struct slot *slot = &gl->slot[gl->write_slot];
    while (glGetError() != GL_NO_ERROR)
        ; // an error of other code
    prepare_context(gl);
    synchronise_clocks(gl);
    slot->number = path->frame_time.number;
    slot->chain = path->build;
    slot->stamps = 0;
    gl_chain_begin(gl->target.es);
    bool ok = upload(gl, slot, frame);
    if (ok) {
        gl_chain_draw(slot->chain, path->frame_time, gl->plane, gl->framebuffer, gl->array, slot->shown, stamp_pass,
                      &(struct stamping){gl, slot});
        download(gl, slot);
    }
    gl_chain_end();
    slot->done = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    glFlush();
    const GLenum error = glGetError();
    if (!ok || !slot->done || error != GL_NO_ERROR) {
        if (ok)
            log_error("cannot run a frame with GL: error 0x%04x", error);
        else
            log_error("cannot run a frame with GL: it does not map a buffer");
        if (slot->done)
            glDeleteSync(slot->done);
        slot->done = NULL;
        path->info.lost = true;
        return false;
    }
    path->info.input = "copy";
    gl->write_slot = (gl->write_slot + 1) % gl->slots;
    return true;
}

static bool gl_submit(struct path *path, const struct image *frame)
{
    const struct gl_context *context = ((const struct gl_path *)path)->context;
    gl_software_lock(context);
    const bool ok = submit(path, frame);
    gl_software_unlock(context);
    return ok;
}

// ---- collect ----

static bool gl_ready(const struct path *path)
{
    const struct gl_path *gl = (const struct gl_path *)path;
    const GLenum state = glClientWaitSync(gl->slot[gl->read_slot].done, 0, 0);
    return state != GL_TIMEOUT_EXPIRED;
}

// Waits until the frame is finished. False: GL has failed.
static bool await(struct slot *slot)
{
    GLenum state = GL_TIMEOUT_EXPIRED;
    for (int i = 0; i < WAIT_S && state == GL_TIMEOUT_EXPIRED; i++)
        state = glClientWaitSync(slot->done, GL_SYNC_FLUSH_COMMANDS_BIT, 1000000000);
    glDeleteSync(slot->done);
    slot->done = NULL;
    return state == GL_ALREADY_SIGNALED || state == GL_CONDITION_SATISFIED;
}

static bool map(const struct gl_path *gl, struct slot *slot)
{
    const GLsizeiptr bytes = (GLsizeiptr)4 * gl->path.info.width * gl->path.info.height;
    glBindBuffer(GL_PIXEL_PACK_BUFFER, slot->pack);
    slot->mapped = glMapBufferRange(GL_PIXEL_PACK_BUFFER, 0, bytes, GL_MAP_READ_BIT);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    return slot->mapped != NULL;
}

// Fills in the pixels of a finished frame.
static void give_pixels(struct gl_path *gl, struct slot *slot, struct path_result *result)
{
    const struct path *path = &gl->path;
    struct image rgba = {.shape = {.format = PIXFMT_RGBA, .width = result->width, .height = result->height},
                         .stride = {4 * (size_t)result->width}};
    rgba.plane[0] = (uint8_t *)slot->mapped;
    if (path->encode.width > 0) {
        const int64_t start_ns = clock_now_ns();
        encode_image(&slot->encoded, &rgba);
        add_host_stage(result, "encode", start_ns);
        result->encoded = slot->encoded;
        result->encoded.memory = NULL; // borrowed
    }
    if (path->measuring.wanted) {
        const int64_t start_ns = clock_now_ns();
        measuring_run(&gl->path.measuring, &rgba, NULL, slot->values);
        add_host_stage(result, "measure", start_ns);
        measuring_give(&path->measuring, slot->values, &result->measures);
    }
    if (gl->textures)
        result->texture = slot->shown;
    else if (!path->encoded_only && !path->measured_only)
        result->image = rgba;
}

static bool gl_collect(struct path *path, struct path_result *result)
{
    struct gl_path *gl = (struct gl_path *)path;
    struct slot *slot = &gl->slot[gl->read_slot];
    gl->read_slot = (gl->read_slot + 1) % gl->slots;
    result->number = slot->number;
    gl_software_lock(gl->context);
    const bool ok = await(slot) && (!slot->pack || map(gl, slot));
    if (ok)
        add_stages(gl, slot, result);
    gl_software_unlock(gl->context);
    if (!ok) {
        log_error("cannot finish a frame with GL: the driver has failed, or the context is lost");
        path->info.lost = true;
        return false;
    }
    give_pixels(gl, slot, result);
    return true;
}

static bool gl_read_texture(struct path *path, struct image *rgba)
{
    const struct gl_path *gl = (const struct gl_path *)path;
    const struct slot *slot = &gl->slot[(gl->read_slot + gl->slots - 1) % gl->slots];
    const struct shared_texture texture = {.texture = slot->shown};
    gl_software_lock(gl->context);
    const bool ok = shared_texture_read(&texture, rgba->shape.width, rgba->shape.height, (int)(rgba->stride[0] / 4),
                                        rgba->plane[0]);
    gl_software_unlock(gl->context);
    if (ok)
        return true;
    log_error("cannot read a texture back: the GL framebuffer is incomplete");
    return false;
}

// ---- open and close ----

static void *gl_build(const struct path *path, const struct chain *chain, char **error)
{
    const struct gl_path *gl = (const struct gl_path *)path;
    if (!gl_chain_builds(&gl->target, chain, error))
        return NULL;
    if (!gl_context_bind(gl->context, true)) {
        path_fail(error, "cannot make a GL context current");
        return NULL;
    }
    struct gl_chain *build = gl_chain_open(&gl->target, chain, error);
    gl_context_unbind(gl->context, true);
    return build;
}

static void gl_build_free(void *build)
{
    struct gl_chain *chain = build;
    struct gl_context *context = chain ? chain->target->context : NULL;
    if (!context || !gl_context_bind(context, true))
        return;
    gl_chain_close(chain);
    gl_context_unbind(context, true);
}

static void slot_close(struct slot *slot)
{
    if (slot->done)
        glDeleteSync(slot->done);
    glDeleteBuffers(1, &slot->unpack); // GL ignores 0
    glDeleteBuffers(1, &slot->pack);
    glDeleteTextures(1, &slot->shown);
    image_free(&slot->encoded);
    free(slot->values);
}

static void gl_close(struct path *path)
{
    struct gl_path *gl = (struct gl_path *)path;
    gl_software_lock(gl->context);
    if (gl->framebuffer) { // this thread submitted frames
        for (int i = 0; i < gl->slots; i++) {
            unmap(&gl->slot[i]);
            glDeleteQueries(STAMPS, gl->slot[i].stamp);
        }
        glDeleteFramebuffers(1, &gl->framebuffer);
        glDeleteVertexArrays(1, &gl->array);
    }
    gl_software_unlock(gl->context);
    measuring_close(&path->measuring);
    copier_finish(&gl->copier);
    path_finish(path);
    if (gl_context_bind(gl->context, true)) {
        for (int i = 0; i < gl->slots; i++)
            slot_close(&gl->slot[i]);
        glDeleteTextures(PIXFMT_PLANES, gl->plane);
        gl_context_unbind(gl->context, true);
    }
    free(gl);
}

static const struct backend gl_backend = {
    .build = gl_build,
    .build_free = gl_build_free,
    .submit = gl_submit,
    .collect = gl_collect,
    .ready = gl_ready,
    .read_texture = gl_read_texture,
    .close = gl_close,
};

static unsigned make_buffer(GLenum target, size_t bytes, GLenum usage)
{
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(target, buffer);
    glBufferData(target, (GLsizeiptr)bytes, NULL, usage);
    glBindBuffer(target, 0);
    return buffer;
}

// Makes textures and buffers. False: GL refuses one.
static bool make_slots(struct gl_path *gl, const struct path_setup *setup)
{
    const struct image_shape *shape = &setup->input;
    const bool downloads = !setup->textures || setup->encode.width > 0 || setup->measures;
    const size_t result_bytes = 4 * (size_t)gl->path.info.width * (size_t)gl->path.info.height;
    bool ok = true;
    for (int i = 0; ok && i < pixfmt_info(shape->format)->planes; i++) {
        int width, height;
        const int bytes = pixfmt_info(shape->format)->plane[i].bytes;
        plane_size(shape, i, &width, &height);
        gl->plane[i] = gl_texture_open(groups[bytes].format, groups[bytes].layout, GL_UNSIGNED_BYTE, width, height);
        gl->offset[i] = gl->input_bytes;
        gl->input_bytes += (size_t)width * (size_t)bytes * (size_t)height;
        ok = gl->plane[i] != 0;
    }
    for (int i = 0; ok && i <= setup->depth; i++) {
        struct slot *slot = &gl->slot[gl->slots++];
        slot->unpack = make_buffer(GL_PIXEL_UNPACK_BUFFER, gl->input_bytes, GL_STREAM_DRAW);
        if (downloads)
            slot->pack = make_buffer(GL_PIXEL_PACK_BUFFER, result_bytes, GL_STREAM_READ);
        ok = glGetError() == GL_NO_ERROR && (setup->encode.width == 0 || image_reserve(&slot->encoded, &setup->encode));
        slot->values = xcalloc(measuring_values(&gl->path.measuring), sizeof(uint32_t));
        slot->shown = gl_texture_open(GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, gl->path.info.width, gl->path.info.height);
        ok = ok && slot->shown;
    }
    return ok;
}

// Makes the objects that contexts share. The caller has bound the builder context.
static bool open_parts(struct gl_path *gl, const struct path_setup *setup, char **error)
{
    const int sides[] = {setup->input.width, setup->input.height, gl->path.info.width, gl->path.info.height};
    int side = 0;
    for (int i = 0; i < 4; i++)
        side = sides[i] > side ? sides[i] : side;
    char why[160];
    GLint most = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
    gl->target.es = !epoxy_is_desktop_gl();
    measuring_open(&gl->path.measuring, setup, gl->path.info.width, gl->path.info.height, true);
    if (side > most)
        snprintf(why, sizeof(why), "this GL driver allows %d pixels on a side, and the frames or results have %d", most,
                 side);
    else if (!make_slots(gl, setup))
        snprintf(why, sizeof(why), "GL refuses the textures and buffers of frames of %dx%d", setup->input.width,
                 setup->input.height);
    else
        return gl_chain_builds(&gl->target, setup->chain, error) &&
               (gl->path.build = gl_chain_open(&gl->target, setup->chain, error)) != NULL;
    path_fail(error, why);
    return false;
}

struct path *gl_open(const struct path_setup *setup, char **error)
{
    struct gl_path *gl = xalloc(sizeof(*gl));
    path_init(&gl->path, &gl_backend, setup, "gl");
    gl->context = setup->gl;
    gl->copier.threads = setup->threads;
    gl->textures = setup->textures && !setup->encoded_only && !setup->measured_only;
    gl->target = (struct gl_target){.context = setup->gl, .input = setup->input, .kernel_dir = setup->kernels};
    if (!gl_context_bind(setup->gl, true)) {
        path_fail(error, "cannot make a GL context current");
        path_finish(&gl->path);
        free(gl);
        return NULL;
    }
    const bool ok = open_parts(gl, setup, error);
    gl_context_unbind(setup->gl, true);
    if (ok)
        return &gl->path;
    gl_close(&gl->path);
    return NULL;
}
