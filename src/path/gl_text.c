// gl_text.c: plans the steps of a chain in GL, and generates their shaders
#include "path/gl_text.h"

#include "base/alloc.h"
#include "compute/program.h"
#include "path/pass_text.h"

#include <stdlib.h>
#include <string.h>

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
    plan_make(plan, chain, input->width, input->height);
    plan_split(plan, format == PIXFMT_RGBA, SPLIT_RADIUS);
    plan_mark_grey(plan, format != PIXFMT_RGBA, format == PIXFMT_GREY);
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
        step.writes = i == plan->count - 1 ? TEXELS_SHOWN : pass->writes == PASS_GREY ? TEXELS_GREY : TEXELS_RGBA;
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
    if (!compose_start(&c, true, kernel_dir, error))
        return NULL;
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
