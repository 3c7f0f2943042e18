// pass_text.c: generates the OpenCL program and the shaders of a pass
#include "path/pass_text.h"

#include "base/alloc.h"
#include "base/resource.h"
#include "filter/user_filter.h"
#include "filter/warp.h"
#include "path/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- composition ----

void compose_start(struct composer *c, bool glsl, const char *kernel_dir)
{
    *c = (struct composer){.glsl = glsl, .kernel_dir = kernel_dir};
    c->out = xmemstream(&c->text, &c->bytes);
}

// #line keeps the compiler's line numbers correct.
static void add_line(struct composer *c, int line, int part)
{
    fprintf(c->out, "%s#line %d \"%s\"\n", c->glsl ? "//" : "", line, c->part[part]);
}

// Returns the part's number; -1: there is no room.
static int add_part(struct composer *c, const char *name, bool user)
{
    if (c->parts == COMPOSE_FILES || strlen(name) >= sizeof(c->part[0])) {
        snprintf(c->why, sizeof(c->why), "cannot include kernel %.63s: too many files, or its name is too long", name);
        return -1;
    }
    strcpy(c->part[c->parts], name);
    c->user[c->parts] = user;
    return c->parts++;
}

static void begin_part(struct composer *c, const char *name, bool user)
{
    const int part = add_part(c, name, user);
    if (part >= 0)
        add_line(c, 1, part);
}

void compose_part(struct composer *c, const char *name)
{
    begin_part(c, name, false);
}

static bool has_part(const struct composer *c, const char *name, bool user)
{
    for (int i = 0; i < c->parts; i++) {
        if (c->user[i] == user && strcmp(c->part[i], name) == 0)
            return true;
    }
    return false;
}

void compose_file(struct composer *c, const char *file)
{
    if (has_part(c, file, false) || c->why[0])
        return;
    const int part = add_part(c, file, false);
    char *text = part >= 0 ? resource_kernel(file, c->kernel_dir, c->why) : NULL;
    if (!text)
        return;
    add_line(c, 1, part);
    int number = 1;
    for (char *line = text; *line; number++) {
        const size_t length = strcspn(line, "\n");
        const bool ended = line[length] == '\n';
        line[length] = '\0';
        char name[64];
        if (sscanf(line, " # include \"%63[^\"]\"", name) == 1) {
            compose_file(c, name);
            add_line(c, number + 1, part);
        } else {
            fprintf(c->out, "%s\n", line);
        }
        line += length + (ended ? 1 : 0);
    }
    free(text);
}

// Appends a user's filter, and the function that calls it.
static void compose_user(struct composer *c, const struct filter *filter, const char *file)
{
    compose_file(c, "user.cl");
    if (!c->glsl) // else PoCL prints "1 warning generated." on standard error
        fprintf(c->out, "#ifdef __clang__\n#pragma clang diagnostic ignored \"-Weverything\"\n#endif\n");
    begin_part(c, file, true);
    fprintf(c->out, "%s\n", filter->user->text);
    compose_part(c, "the end of a user's filter");
    const char *name = filter->name;
    static const char own[] = "user_arguments own;\n    own.base = args;\n    ";
    const char *second[] = {[SECOND_NONE] = "",
                            [SECOND_PREVIOUS] = "user_previous(p, second, own), ",
                            [SECOND_INPUT] = "user_previous(p, second, own), ",
                            [SECOND_PICTURE] = "user_picture(own, x, y), "};
    const enum filter_second which = filter->second;
    if (filter->kind == FILTER_WARP)
        fprintf(c->out,
                "INLINE place user_filter_%s(int x, int y, arguments args)\n{\n    %s"
                "return filter_%s(user_centre(x, y), own);\n}\n",
                name, own, name);
    else if (filter->kind == FILTER_STENCIL)
        fprintf(c->out,
                "INLINE int user_filter_%s(view v, arguments args)\n{\n    %s"
                "return sat8(filter_%s(user_view_of(v), own));\n}\n",
                name, own, name);
    else
        fprintf(c->out,
                "INLINE pixel user_filter_%s(pixel p, %sint x, int y, arguments args)\n{\n    %s"
                "return user_pixel(filter_%s(p, %sx, y, own), p.a);\n}\n",
                name, filter_has_second(filter) ? "pixel second, " : "", own, name, second[which]);
}

void compose_stages(struct composer *c, const struct stage *const *stages, int count)
{
    for (int i = 0; i < count; i++) {
        char file[COMPOSE_NAME];
        snprintf(file, sizeof(file), "%s.cl", stages[i]->filter->name);
        if (!stages[i]->filter->user && !stages[i]->filter->table)
            compose_file(c, file);
        else if (stages[i]->filter->user && !has_part(c, file, true))
            compose_user(c, stages[i]->filter, file);
    }
}

// Appends the files of a pass's filters. `stencil`: the file of its stencil; NULL: that of the filter; "": none, the
// template computes the stencil itself.
static void compose_code(struct composer *c, const struct pass *pass, const char *stencil)
{
    compose_stages(c, pass->before, pass->before_count);
    if (pass->stencil && !stencil)
        compose_stages(c, &pass->stencil, 1);
    else if (pass->stencil && stencil[0])
        compose_file(c, stencil);
    compose_stages(c, pass->after, pass->after_count);
    if (pass->warp && pass->warp->filter->user)
        compose_stages(c, &pass->warp, 1);
}

static const char *prefix_of(const struct filter *filter)
{
    return filter->user ? "user_filter" : "filter";
}

// Returns the place of the arguments that the function of a filter reads, whose numbers begin at `offset`.
static int own_offset(const struct filter *filter, int offset)
{
    return filter->user ? offset + FACTS : offset;
}

// Defines the macros of a pass's stencil. Otherwise as add_points.
static int add_stencil(struct composer *c, const struct stage *stage, int offset)
{
    const struct filter *filter = stage->filter;
    fprintf(c->out, "#define PASS_STENCIL %s_%s\n#define PASS_STENCIL_AT %d\n#define PASS_RADIUS %d\n%s%s",
            prefix_of(filter), filter->name, own_offset(filter, offset), stage->arguments.radius,
            filter->user ? "#define USER_STENCIL\n" : "", stage->arguments.alpha ? "#define PASS_ALPHA\n" : "");
    return offset + stage->arguments.count;
}

// Writes the name of a point filter's function.
static void add_function(struct composer *c, const struct filter *filter)
{
    if (filter->table)
        fprintf(c->out, "looked_up");
    else
        fprintf(c->out, "%s_%s", prefix_of(filter), filter->name);
}

// Returns true if a mask of the list keeps the input of stage `number`.
static bool is_kept(const struct stage *const *stages, int count, int number)
{
    bool kept = false;
    for (int i = number; i < count; i++)
        kept = kept || (filter_is_mask(stages[i]->filter) && stages[i]->arguments.kept == KEPT_PIXEL &&
                        i - stages[i]->arguments.back == number);
    return kept;
}

// Writes a call of a stage's function, whose number in its list is given.
static void add_call(struct composer *c, const struct stage *stage, int number, int offset)
{
    const struct filter *filter = stage->filter;
    fprintf(c->out, "    p = ");
    add_function(c, filter);
    if (filter_is_mask(filter) && stage->arguments.kept == KEPT_PIXEL)
        fprintf(c->out, "(p, kept%d", number - stage->arguments.back);
    else
        fprintf(c->out, "(p%s", filter_has_second(filter) ? ", second" : "");
    fprintf(c->out, "%s, args + %d);\n", filter_is_placed(filter) ? ", x, y" : "", own_offset(filter, offset));
}

// Defines a macro that applies point filters in order, from number `first` to `end` - 1 of their list. The arguments of
// the first one begin at `offset`. Returns the end of the last one's arguments.
static int add_points(struct composer *c, const char *macro, const struct stage *const *stages, int first, int end,
                      int offset)
{
    const bool last = strcmp(macro, "PASS_LAST") == 0; // it has a second picture
    for (int i = first; i < end; i++) {
        const struct filter *filter = stages[i]->filter;
        if (filter->table)
            continue;
        fprintf(c->out, "INLINE pixel ");
        add_function(c, filter);
        fprintf(c->out, "(pixel p, %s%sarguments args);\n", filter_has_second(filter) ? "pixel second, " : "",
                filter_is_placed(filter) ? "int x, int y, " : "");
    }
    if (first < end)
        fprintf(c->out, "INLINE pixel run_%s(pixel p, %sint x, int y, arguments args)\n{\n", macro,
                last ? "pixel second, " : "");
    for (int i = first; i < end; i++) {
        if (is_kept(stages, end, i))
            fprintf(c->out, "    pixel kept%d = p;\n", i);
        add_call(c, stages[i], i, offset);
        offset += stages[i]->arguments.count;
    }
    if (first < end)
        fprintf(c->out, "    return p;\n}\n#define %s(p, %sargs, x, y) run_%s(p, %sx, y, args)\n", macro,
                last ? "second, " : "", macro, last ? "second, " : "");
    else if (!last)
        fprintf(c->out, "#define %s(p, args, x, y) (p)\n", macro);
    return offset;
}

// Returns the number of the first stage in a pass's last list whose function needs the second picture: with a kept
// picture all, with a picture of the frame before the last one.
static int first_second(const struct pass *pass, int count)
{
    return pass->second.kind == PICTURE_NONE ? count : pass_remembers(pass) ? count - 1 : 0;
}

// Defines the place of a pixel in the warp's input.
static void add_warp(struct composer *c, const struct pass *pass, int offset)
{
    const struct stage *stage = pass->warp;
    const char *name = stage->filter->name;
    if (!stage->filter->user) {
        if (pass->map.taps != TAPS_NONE)
            fprintf(c->out, "#define PASS_TAPS(args) ((args) + %d)\n", offset);
        else if (warp_is_whole(&pass->map))
            fprintf(c->out, "#define PASS_WHOLE\n");
        fprintf(c->out, "#define PASS_WARP(args, x, y) warp_place((args) + %d, x, y)\n", offset);
        return;
    }
    fprintf(c->out, "INLINE place user_filter_%s(int x, int y, arguments args);\n", name);
    fprintf(c->out, "#define PASS_WARP(args, x, y) user_filter_%s(x, y, (args) + %d)\n", name, offset + FACTS);
}

// Defines the macros of a pass's size, warp, mirrors and flips. The arguments of the warp begin at `offset`.
static void add_geometry(struct composer *c, const struct pass *pass, int offset)
{
    fprintf(c->out, "#define PASS_LOAD_X(x, width) %s\n", pass->load_mirror ? "((width) - 1 - (x))" : "(x)");
    fprintf(c->out, "#define PASS_LOAD_Y(y, height) %s\n", pass->load_flip ? "((height) - 1 - (y))" : "(y)");
    fprintf(c->out, "#define PASS_STORE_X(x, width) %s\n", pass->store_mirror ? "((width) - 1 - (x))" : "(x)");
    fprintf(c->out, "#define PASS_STORE_Y(y, height) %s\n", pass->store_flip ? "((height) - 1 - (y))" : "(y)");
    if (pass->warp)
        add_warp(c, pass, offset);
    if (pass->warp && !pass->warp->filter->user)
        fprintf(c->out,
                "#define PASS_WIDTH(args, width) WARP_WIDTH((args) + %d)\n"
                "#define PASS_HEIGHT(args, height) WARP_HEIGHT((args) + %d)\n",
                offset, offset);
    else
        fprintf(c->out, "#define PASS_WIDTH(args, width) (width)\n#define PASS_HEIGHT(args, height) (height)\n");
}

// Defines the macros of a pass's filters, size, warp, mirrors and flips. The filters' arguments begin at `offset`.
static void compose_macros(struct composer *c, const struct pass *pass, int offset)
{
    int count;
    const struct stage *const *points = pass_points(pass, &count);
    const int last = first_second(pass, count);
    offset = add_points(c, "PASS_BEFORE", pass->before, 0, points == pass->before ? last : pass->before_count, offset);
    if (pass->stencil)
        offset = add_stencil(c, pass->stencil, offset);
    offset = add_points(c, "PASS_AFTER", pass->after, 0, points == pass->after ? last : 0, offset);
    offset = add_points(c, "PASS_LAST", points, last, count, offset);
    if (pass_remembers(pass))
        fprintf(c->out, "#define PASS_REMEMBERS_%s\n", pass->second.kind == PICTURE_LAST_INPUT ? "INPUT" : "OUTPUT");
    add_geometry(c, pass, offset);
}

char *compose_end(struct composer *c, char **error)
{
    xmemclose(c->out);
    if (!c->why[0])
        return c->text;
    path_fail(error, c->why);
    free(c->text);
    return NULL;
}

// ---- generates the OpenCL program of a pass ----

// Defines the macros of the format for its loader, which reads several formats.
static void add_places(FILE *out, const struct pixfmt_info *info)
{
    const struct pixfmt_samples *samples = info->samples;
    if (info->yuv) {
        const struct pixfmt_plane *chroma = &info->plane[samples[1].plane];
        fprintf(out, "#define Y_BYTE %d\n#define U_BYTE %d\n#define V_BYTE %d\n", samples[0].first, samples[1].first,
                samples[2].first);
        fprintf(out, "#define U_PLANE %d\n#define SHIFT_X %d\n#define SHIFT_Y %d\n", samples[1].plane, chroma->shift_x,
                chroma->shift_y);
    } else {
        fprintf(out, "#define R_BYTE %d\n#define B_BYTE %d\n", samples[0].first, samples[2].first);
    }
}

bool pass_prepares_input(const struct pass *pass, enum pixfmt from)
{
    return pass->stencil && (pass->before_count > 0 || pixfmt_info(from)->yuv);
}

// Sets `file` to the file of the pass's stencil for windows. Returns false if it has none, or the variant no windows.
static bool windows_file(const struct pass *pass, const struct variant *variant, char file[COMPOSE_NAME])
{
    char embedded[COMPOSE_NAME + 8];
    if (!variant->windows || !pass->stencil || pass->stencil->filter->user || pass->stencil->arguments.alpha)
        return false;
    snprintf(file, COMPOSE_NAME, "variants/%s_window.cl", pass->stencil->filter->name);
    snprintf(embedded, sizeof(embedded), "kernels/%s", file);
    return resource_find(embedded);
}

static void add_parameters(FILE *out, const struct variant_choice *choice)
{
    const struct variant_param *param = choice->variant->param;
    for (int i = 0; param[i].name; i++) {
        if (param[i].build)
            fprintf(out, "#define %s %d\n", param[i].name, choice->value[i]);
    }
}

// Defines how far the stencil reaches, and the count of arguments if local memory holds them.
static void add_sizes(FILE *out, const struct pass *pass, const struct pass_target *target,
                      const struct variant_choice *choice)
{
    const struct filter_arguments *stencil = &pass->stencil->arguments;
    fprintf(out, "#define PASS_ACROSS %d\n#define PASS_DOWN %d\n",
            stencil->part == FILTER_ALONG_COLUMNS ? 0 : stencil->radius, stencil->rows);
    if (variant_keeps_arguments(choice))
        fprintf(out, "#define PASS_LOCAL_ARGUMENTS %d\n", pass_argument_count(pass, target));
}

static void add_macros(struct composer *c, const struct pass *pass, const struct pass_target *target)
{
    FILE *out = c->out;
    const enum pixfmt format = target->format;
    if (target->to_image)
        fprintf(out, "#define PASS_TO_IMAGE\n");
    if (pass->writes == PASS_GREY)
        fprintf(out, "#define PASS_TO_GREY\n");
    if (pass->reads == PASS_GREY && pass->before_count == 0)
        fprintf(out, "#define PASS_GREY\n"); // the stencil's input is grey, one byte per pixel
    if (pass->equal_channels)
        fprintf(out, "#define PASS_EQUAL_CHANNELS\n");
    if (pass->load_mirror)
        fprintf(out, "#define PASS_LOAD_MIRROR\n");
    if (pass->store_mirror)
        fprintf(out, "#define PASS_STORE_MIRROR\n");
    add_places(out, pixfmt_info(format));
    compose_macros(c, pass, pixfmt_info(format)->yuv ? YUV_ARGUMENTS : 0);
}

char *pass_text(const struct pass *pass, const struct pass_target *target, const struct variant_choice *choice,
                const char *kernel_dir, char **error)
{
    const struct variant *variant = choice->variant;
    char stencil[COMPOSE_NAME];
    struct composer c;
    compose_start(&c, false, kernel_dir);
    const bool own = windows_file(pass, variant, stencil);
    compose_part(&c, "variant");
    if (variant->macros)
        fputs(variant->macros, c.out);
    if (own)
        fputs("#define PASS_WINDOW_FILTER\n", c.out);
    add_parameters(c.out, choice);
    compose_file(&c, "language.cl");
    compose_file(&c, "common.cl");
    compose_part(&c, "plan");
    add_macros(&c, pass, target);
    if (variant->sizes)
        add_sizes(c.out, pass, target, choice);
    compose_file(&c, pass->reads == PASS_GREY ? "load_channel.cl" : pixfmt_info(target->format)->loader);
    if (pass->warp)
        compose_file(&c, "warp.cl");
    compose_file(&c, variant->file);
    if (!own)
        stencil[0] = '\0';
    compose_code(&c, pass, own || variant->computes ? stencil : NULL);
    return compose_end(&c, error);
}

const char *pass_options(const struct variant_choice *choice, const struct device_info *device)
{
    // Floats are whole numbers, fractions of 255 or roots of whole numbers, so none is denormal. There is no -cl-std,
    // because PoCL 7.1 has no write_imagef with it. A variant on a type of device that it is not meant for compiles
    // quickly.
    return choice->variant->devices & device->type ? "-cl-denorms-are-zero" : "-cl-denorms-are-zero -cl-opt-disable";
}

int pass_argument_count(const struct pass *pass, const struct pass_target *target)
{
    int count = pixfmt_info(target->format)->yuv ? YUV_ARGUMENTS : 0;
    for (int i = 0; i < pass->before_count; i++)
        count += pass->before[i]->arguments.count;
    if (pass->stencil)
        count += pass->stencil->arguments.count;
    for (int i = 0; i < pass->after_count; i++)
        count += pass->after[i]->arguments.count;
    if (pass->warp)
        count += pass->warp->filter->user ? pass->warp->arguments.count : pass_warp_count(pass);
    return count;
}

int pass_followers(const struct pass *pass, const struct pass_target *target, struct pass_follower followers[CHAIN_MAX])
{
    const struct stage *stages[2 * CHAIN_MAX + 3];
    int count = 0, found = 0, at = pixfmt_info(target->format)->yuv ? YUV_ARGUMENTS : 0;
    for (int i = 0; i < pass->before_count; i++)
        stages[count++] = pass->before[i];
    if (pass->stencil)
        stages[count++] = pass->stencil;
    for (int i = 0; i < pass->after_count; i++)
        stages[count++] = pass->after[i];
    if (pass->warp && pass->warp->filter->user)
        stages[count++] = pass->warp;
    for (int i = 0; i < count; at += stages[i++]->arguments.count) {
        if (stage_follows(stages[i]))
            followers[found++] = (struct pass_follower){stages[i], at};
    }
    return found;
}

bool pass_has_users(const struct pass *pass)
{
    bool has = (pass->stencil && pass->stencil->filter->user) || (pass->warp && pass->warp->filter->user);
    for (int i = 0; i < pass->before_count; i++)
        has = has || pass->before[i]->filter->user;
    for (int i = 0; i < pass->after_count; i++)
        has = has || pass->after[i]->filter->user;
    return has;
}

static int32_t *add_stage(const struct stage *stage, int32_t *arguments)
{
    const bool filled = stage->arguments.resource || stage->arguments.count <= FILTER_ARGUMENTS;
    if (filled) // else the plan has no resources, because no picture is shown
        memcpy(arguments, filter_numbers(&stage->arguments), (size_t)stage->arguments.count * sizeof(*arguments));
    return arguments + stage->arguments.count;
}

void pass_arguments(const struct pass *pass, const struct pass_target *target, int32_t *arguments)
{
    if (pixfmt_info(target->format)->yuv) {
        const struct color_coefficients k = color_to_rgb(target->color);
        const int32_t loader[YUV_ARGUMENTS] = {k.cy, k.bias, k.rv, k.gu, k.gv, k.bu};
        memcpy(arguments, loader, sizeof(loader));
        arguments += YUV_ARGUMENTS;
    }
    for (int i = 0; i < pass->before_count; i++)
        arguments = add_stage(pass->before[i], arguments);
    if (pass->stencil)
        arguments = add_stage(pass->stencil, arguments);
    for (int i = 0; i < pass->after_count; i++)
        arguments = add_stage(pass->after[i], arguments);
    if (pass->warp && pass->warp->filter->user)
        add_stage(pass->warp, arguments);
    else if (pass->warp) // last: its count depends on the size
        pass_warp_fill(pass, arguments);
}

enum { SPLIT_RADIUS = 1, SUMS_RADIUS = 2 };

// ---- the plan of the gl path ----

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

// ---- the shader of a step ----

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

static void add_step_macros(struct composer *c, const struct gl_step *step, enum pixfmt format)
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
    add_step_macros(&c, step, format);
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
