// pass_text.c: generates the OpenCL program of a pass
#include "path/pass_text.h"

#include "base/resource.h"
#include "path/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 32, FILE_NAME = 64, YUV_ARGUMENTS = 6 };

// Text under construction, with the files already in it.
struct composer {
    FILE *out;
    const char *kernel_dir;
    char file[FILES_MAX][FILE_NAME];
    int files;
    char why[RESOURCE_WHY]; // the failure; "": none
};

// Appends the files that a file includes, each once, and then the file. #line keeps the compiler's line numbers
// correct.
static void add_file(struct composer *c, const char *file)
{
    for (int i = 0; i < c->files; i++) {
        if (strcmp(c->file[i], file) == 0)
            return;
    }
    if (c->why[0])
        return;
    if (c->files == FILES_MAX || strlen(file) >= sizeof(c->file[0])) {
        snprintf(c->why, sizeof(c->why), "cannot include kernel %.63s: too many files, or its name is too long", file);
        return;
    }
    strcpy(c->file[c->files++], file);
    char *text = resource_kernel(file, c->kernel_dir, c->why);
    if (!text)
        return;
    fprintf(c->out, "#line 1 \"%s\"\n", file);
    int number = 1;
    for (char *line = text; *line; number++) {
        const size_t length = strcspn(line, "\n");
        const bool ended = line[length] == '\n';
        line[length] = '\0';
        char name[64];
        if (sscanf(line, " # include \"%63[^\"]\"", name) == 1) {
            add_file(c, name);
            fprintf(c->out, "#line %d \"%s\"\n", number + 1, file);
        } else {
            fprintf(c->out, "%s\n", line);
        }
        line += length + (ended ? 1 : 0);
    }
    free(text);
}

// Defines a macro that applies point filters in order. The arguments of the first filter begin at `offset`. Returns the
// end of the last filter's arguments.
static int add_points(FILE *out, const char *macro, const struct stage *const *stages, int count, int offset)
{
    for (int i = 0; i < count; i++)
        fprintf(out, "INLINE pixel filter_%s(pixel p, arguments args);\n", stages[i]->filter->name);
    fprintf(out, "#define %s(p, args) ", macro);
    for (int i = count - 1; i >= 0; i--)
        fprintf(out, "filter_%s(", stages[i]->filter->name);
    fprintf(out, "(p)");
    for (int i = 0; i < count; i++) {
        fprintf(out, ", (args) + %d)", offset);
        offset += stages[i]->arguments.count;
    }
    fprintf(out, "\n");
    return offset;
}

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

// Sets `file` to the file that defines the stencil of a pass for a variant; *own: the file is for windows. Returns
// false if the template computes the stencil itself.
static bool stencil_file(const struct pass *pass, const struct variant *variant, char file[FILE_NAME], bool *own)
{
    const char *name = pass->stencil->filter->name;
    char embedded[FILE_NAME + 8];
    snprintf(file, FILE_NAME, "variants/%s_window.cl", name);
    snprintf(embedded, sizeof(embedded), "kernels/%s", file);
    *own = variant->windows && resource_find(embedded);
    if (!*own)
        snprintf(file, FILE_NAME, "%s.cl", name);
    return !variant->computes;
}

static void add_parameters(FILE *out, const struct variant_choice *choice)
{
    const struct variant_param *param = choice->variant->param;
    for (int i = 0; param[i].name; i++) {
        if (param[i].build)
            fprintf(out, "#define %s %d\n", param[i].name, choice->value[i]);
    }
}

static void add_macros(FILE *out, const struct pass *pass, const struct pass_target *target,
                       const struct variant *variant)
{
    const enum pixfmt format = target->format;
    if (target->to_image)
        fprintf(out, "#define PASS_TO_IMAGE\n");
    if (pass->writes == PASS_GREY)
        fprintf(out, "#define PASS_TO_GREY\n");
    if (pass->reads == PASS_GREY && pass->before_count == 0)
        fprintf(out, "#define PASS_GREY\n"); // the stencil's input is grey, one byte per pixel
    if (pass->equal_channels)
        fprintf(out, "#define PASS_EQUAL_CHANNELS\n");
    if (variant->tiles && pass_prepares_input(pass, format) && pass->stencil->arguments.radius > 0)
        fprintf(out, "#define PASS_TILE\n");
    if (pass->load_mirror)
        fprintf(out, "#define PASS_LOAD_MIRROR\n");
    if (pass->store_mirror)
        fprintf(out, "#define PASS_STORE_MIRROR\n");
    add_places(out, pixfmt_info(format));
    int offset = pixfmt_info(format)->yuv ? YUV_ARGUMENTS : 0;
    offset = add_points(out, "PASS_BEFORE", pass->before, pass->before_count, offset);
    if (pass->stencil) {
        fprintf(out, "#define PASS_STENCIL filter_%s\n#define PASS_STENCIL_AT %d\n#define PASS_RADIUS %d\n",
                pass->stencil->filter->name, offset, pass->stencil->arguments.radius);
        offset += pass->stencil->arguments.count;
    }
    add_points(out, "PASS_AFTER", pass->after, pass->after_count, offset);
    fprintf(out, "#define PASS_LOAD_X(x, width) %s\n", pass->load_mirror ? "((width) - 1 - (x))" : "(x)");
    fprintf(out, "#define PASS_LOAD_Y(y, height) %s\n", pass->load_flip ? "((height) - 1 - (y))" : "(y)");
    fprintf(out, "#define PASS_STORE_X(x, width) %s\n", pass->store_mirror ? "((width) - 1 - (x))" : "(x)");
    fprintf(out, "#define PASS_STORE_Y(y, height) %s\n", pass->store_flip ? "((height) - 1 - (y))" : "(y)");
}

static void add_points_files(struct composer *c, const struct stage *const *stages, int count)
{
    for (int i = 0; i < count; i++) {
        char file[FILE_NAME];
        snprintf(file, sizeof(file), "%s.cl", stages[i]->filter->name);
        add_file(c, file);
    }
}

char *pass_text(const struct pass *pass, const struct pass_target *target, const struct variant_choice *choice,
                const char *kernel_dir, char **error)
{
    const struct variant *variant = choice->variant;
    char *text = NULL, stencil[FILE_NAME];
    size_t bytes;
    struct composer c = {.out = open_memstream(&text, &bytes), .kernel_dir = kernel_dir};
    if (!c.out) {
        path_fail(error, "cannot generate a kernel: out of memory");
        return NULL;
    }
    bool own = false;
    const bool defined = pass->stencil && stencil_file(pass, variant, stencil, &own);
    fprintf(c.out, "#line 1 \"variant\"\n%s%s", variant->macros ? variant->macros : "",
            own ? "#define PASS_WINDOW_FILTER\n" : "");
    add_parameters(c.out, choice);
    add_file(&c, "language.cl");
    add_file(&c, "common.cl");
    fprintf(c.out, "#line 1 \"plan\"\n");
    add_macros(c.out, pass, target, variant);
    add_file(&c, pass->reads == PASS_GREY ? "load_channel.cl" : pixfmt_info(target->format)->loader);
    add_file(&c, variant->file);
    add_points_files(&c, pass->before, pass->before_count);
    if (defined)
        add_file(&c, stencil);
    add_points_files(&c, pass->after, pass->after_count);
    if (fclose(c.out) != 0 || c.why[0]) {
        path_fail(error, c.why[0] ? c.why : "cannot generate the kernels: out of memory");
        free(text);
        return NULL;
    }
    return text;
}

const char *pass_options(const struct variant_choice *choice, const struct device_info *device)
{
    // Floats are whole numbers, fractions of 255 or roots of whole numbers, so none is denormal. There is no -cl-std,
    // because PoCL 7.1 has no write_imagef with it. A variant on a type of device that it is not meant for compiles
    // quickly.
    return choice->variant->devices & device->type ? "-cl-denorms-are-zero" : "-cl-denorms-are-zero -cl-opt-disable";
}

static int add_stage(const struct stage *stage, int32_t *arguments, int count)
{
    memcpy(arguments + count, stage->arguments.value, (size_t)stage->arguments.count * sizeof(*arguments));
    return count + stage->arguments.count;
}

int pass_arguments(const struct pass *pass, const struct pass_target *target, int32_t arguments[PASS_ARGUMENTS])
{
    int count = 0;
    if (pixfmt_info(target->format)->yuv) {
        const struct color_coefficients k = color_to_rgb(target->color);
        const int32_t loader[YUV_ARGUMENTS] = {k.cy, k.bias, k.rv, k.gu, k.gv, k.bu};
        memcpy(arguments, loader, sizeof(loader));
        count = YUV_ARGUMENTS;
    }
    for (int i = 0; i < pass->before_count; i++)
        count = add_stage(pass->before[i], arguments, count);
    if (pass->stencil)
        count = add_stage(pass->stencil, arguments, count);
    for (int i = 0; i < pass->after_count; i++)
        count = add_stage(pass->after[i], arguments, count);
    return count;
}
