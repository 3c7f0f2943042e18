// pass_text.c: a pass as OpenCL text
#include "path/pass_text.h"

#include "base/resource.h"
#include "path/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 32, YUV_ARGUMENTS = 6 };

// Text under construction, with the files already in it.
struct composer {
    FILE *out;
    const char *kernel_dir;
    char file[FILES_MAX][64];
    int files;
    bool failed;
    char why[RESOURCE_WHY]; // it has
};

static bool seen(struct composer *c, const char *file)
{
    for (int i = 0; i < c->files; i++) {
        if (strcmp(c->file[i], file) == 0)
            return true;
    }
    return false;
}

// The name in a line `#include "name"`; false for any other line.
static bool included_name(const char *line, char name[64])
{
    return sscanf(line, " # include \"%63[^\"]\"", name) == 1;
}

// Appends a file, each file it includes ahead of it, each once; #line keeps the compiler's messages right.
static void add_file(struct composer *c, const char *file)
{
    if (seen(c, file))
        return;
    if (c->failed)
        return;
    if (c->files == FILES_MAX || strlen(file) >= sizeof(c->file[0])) {
        c->failed = true;
        snprintf(c->why, sizeof(c->why), "cannot include kernel %.63s: too many files, or its name is too long", file);
        return;
    }
    strcpy(c->file[c->files++], file);
    char *text = resource_kernel(file, c->kernel_dir, c->why);
    if (!text) {
        c->failed = true;
        return;
    }
    fprintf(c->out, "#line 1 \"%s\"\n", file);
    int number = 1;
    for (char *line = text; *line; number++) {
        const size_t length = strcspn(line, "\n");
        const bool ended = line[length] == '\n';
        line[length] = '\0';
        char name[64];
        if (included_name(line, name)) {
            add_file(c, name);
            fprintf(c->out, "#line %d \"%s\"\n", number + 1, file);
        } else {
            fprintf(c->out, "%s\n", line);
        }
        line += length + (ended ? 1 : 0);
    }
    free(text);
}

// Point filters, one around the other; `offset` is where the first one's arguments begin. Returns where they end.
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

// What tells the loader this format from its siblings.
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

// Whether a filter has a file of its own for blocks of pixels.
static bool own_window(const struct pass_target *target, const struct stage *stencil)
{
    const char *name = stencil->filter->name;
    return target->block_rows > 0 && (strcmp(name, "blur") == 0 || strcmp(name, "convolve") == 0);
}

static void add_macros(FILE *out, const struct pass *pass, const struct pass_target *target)
{
    const enum pixfmt format = target->format;
    const int radius = pass->stencil ? pass->stencil->arguments.radius : 0;
    if (target->to_image)
        fprintf(out, "#define PASS_TO_IMAGE\n");
    if (pass->writes == PASS_GREY)
        fprintf(out, "#define PASS_TO_GREY\n");
    if (pass->reads == PASS_GREY && pass->before_count == 0)
        fprintf(out, "#define PASS_GREY\n"); // the stencil's input is grey, one byte a pixel
    if (pass->alike)
        fprintf(out, "#define PASS_ALIKE\n");
    if (target->block_rows > 0) {
        if (pass->stencil && own_window(target, pass->stencil))
            fprintf(out, "#define PASS_WINDOW_FILTER\n");
        fprintf(out, "#define ROWS %d\n", target->block_rows);
        if (radius > 0 && (pass->before_count > 0 || pixfmt_info(format)->yuv))
            fprintf(out, "#define PASS_TILE\n");
    }
    fprintf(out, "#define PASS_GROUP_WIDTH %d\n#define PASS_GROUP_HEIGHT %d\n", PASS_GROUP_WIDTH, PASS_GROUP_HEIGHT);
    if (target->sums)
        fprintf(out, "#define ITEMS %d\n#define ROWS %d\n", PASS_SUMS_ITEMS, PASS_SUMS_ROWS);
    if (pass->load_mirror)
        fprintf(out, "#define PASS_LOAD_MIRROR\n");
    if (pass->store_mirror)
        fprintf(out, "#define PASS_STORE_MIRROR\n");
    add_places(out, pixfmt_info(format));
    int offset = pixfmt_info(format)->yuv ? YUV_ARGUMENTS : 0;
    offset = add_points(out, "PASS_BEFORE", pass->before, pass->before_count, offset);
    if (pass->stencil) {
        fprintf(out, "#define PASS_STENCIL filter_%s\n#define PASS_STENCIL_AT %d\n#define PASS_RADIUS %d\n",
                pass->stencil->filter->name, offset, radius);
        offset += pass->stencil->arguments.count;
    }
    add_points(out, "PASS_AFTER", pass->after, pass->after_count, offset);
    fprintf(out, "#define PASS_LOAD_X(x, width) %s\n", pass->load_mirror ? "((width) - 1 - (x))" : "(x)");
    fprintf(out, "#define PASS_LOAD_Y(y, height) %s\n", pass->load_flip ? "((height) - 1 - (y))" : "(y)");
    fprintf(out, "#define PASS_STORE_X(x, width) %s\n", pass->store_mirror ? "((width) - 1 - (x))" : "(x)");
    fprintf(out, "#define PASS_STORE_Y(y, height) %s\n", pass->store_flip ? "((height) - 1 - (y))" : "(y)");
}

static void add_filter(struct composer *c, const struct stage *stage, const char *end)
{
    char file[64];
    snprintf(file, sizeof(file), "%s%s%s", end[0] == '_' ? "variants/" : "", stage->filter->name, end);
    add_file(c, file);
}

char *pass_text(const struct pass *pass, const struct pass_target *target, const char *kernel_dir, char **error)
{
    char *text = NULL;
    size_t bytes;
    struct composer c = {.out = open_memstream(&text, &bytes), .kernel_dir = kernel_dir};
    if (!c.out) {
        path_fail(error, "cannot generate a kernel: out of memory");
        return NULL;
    }
    if (target->inside)
        fprintf(c.out, "#define UNROLL_LOOPS\n");
    add_file(&c, "language.cl");
    add_file(&c, "common.cl");
    fprintf(c.out, "#line 1 \"plan\"\n");
    add_macros(c.out, pass, target);
    add_file(&c, pass->reads == PASS_GREY ? "load_channel.cl" : pixfmt_info(target->format)->loader);
    add_file(&c, target->sums             ? "variants/sums.cl"
                 : target->block_rows > 0 ? "variants/window.cl"
                 : target->inside         ? "variants/inside.cl"
                                          : "pass.cl");
    for (int i = 0; i < pass->before_count; i++)
        add_filter(&c, pass->before[i], ".cl");
    if (pass->stencil && !target->sums)
        add_filter(&c, pass->stencil, own_window(target, pass->stencil) ? "_window.cl" : ".cl");
    for (int i = 0; i < pass->after_count; i++)
        add_filter(&c, pass->after[i], ".cl");
    if (fclose(c.out) != 0 || c.failed) {
        path_fail(error, c.failed ? c.why : "cannot generate the kernels: out of memory");
        free(text);
        return NULL;
    }
    return text;
}

static int add_stage(const struct stage *stage, int32_t *arguments, int count)
{
    memcpy(arguments + count, stage->arguments.value, (size_t)stage->arguments.count * sizeof(*arguments));
    return count + stage->arguments.count;
}

int pass_arguments(const struct pass *pass, const struct image_shape *from, int32_t arguments[PASS_ARGUMENTS])
{
    int count = 0;
    if (pixfmt_info(from->format)->yuv) {
        const struct color_coefficients k = color_to_rgb(from->color);
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
