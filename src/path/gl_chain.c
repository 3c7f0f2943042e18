// gl_chain.c: compiles and draws a chain
#include "path/gl_chain.h"

#include "base/alloc.h"
#include "path/backend.h"
#include "path/measures.h"
#include "path/probe.h"

#include <epoxy/gl.h>

#include <stdlib.h>
#include <string.h>

enum { NUMBERS_ROW = 2048 }; // arguments in a row of their texture (kernels/language.glsl)
enum { UNITS = 5 };          // textures of a program (find_uniforms in gl_program.c)
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

unsigned gl_texture_open(unsigned format, unsigned layout, unsigned type, int width, int height)
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

// ---- drawing ----

void gl_chain_begin(bool es)
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

void gl_chain_draw(struct gl_chain *chain, struct frame_time frame_time, const unsigned planes[PIXFMT_PLANES],
                   unsigned framebuffer, unsigned array, unsigned to, void (*passed)(void *context), void *context)
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

void gl_chain_end(void)
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

bool gl_chain_builds(const struct gl_target *target, const struct chain *chain, char **error)
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

struct gl_chain *gl_chain_open(const struct gl_target *target, const struct chain *chain, char **error)
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

void gl_chain_close(struct gl_chain *chain)
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
