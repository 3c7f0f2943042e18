// pass_text.c: generates the OpenCL program of a pass
#include "path/pass_text.h"

#include "base/resource.h"
#include "path/compose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (!variant->windows || !pass->stencil || pass->stencil->filter->user)
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
    if (!compose_start(&c, false, kernel_dir, error))
        return NULL;
    const bool own = windows_file(pass, variant, stencil);
    compose_part(&c, "variant");
    fprintf(c.out, "%s%s", variant->macros ? variant->macros : "", own ? "#define PASS_WINDOW_FILTER\n" : "");
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
    compose_code(&c, pass, own ? stencil : variant->computes ? "" : NULL);
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
    count += pass->last ? pass->last->arguments.count : 0;
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
    if (pass->last)
        stages[count++] = pass->last;
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
    bool has = (pass->stencil && pass->stencil->filter->user) || (pass->last && pass->last->filter->user) ||
               (pass->warp && pass->warp->filter->user);
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
    if (pass->last)
        arguments = add_stage(pass->last, arguments);
    if (pass->warp && pass->warp->filter->user)
        add_stage(pass->warp, arguments);
    else if (pass->warp) // last: its count depends on the size
        pass_warp_fill(pass, arguments);
}
