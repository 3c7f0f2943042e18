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

// "filter_blur" for "blur.cl".
static void function_name(const struct stage *stage, char name[64])
{
    const char *file = stage->filter->kernel;
    snprintf(name, 64, "filter_%.*s", (int)strcspn(file, "."), file);
}

// Point filters one around the other; `offset` is where the first one's arguments begin. Returns where they end.
static int add_points(FILE *out, const char *macro, const struct stage *const *stages, int count, int offset)
{
    fprintf(out, "#define %s(p, args) ", macro);
    for (int i = count - 1; i >= 0; i--) {
        char name[64];
        function_name(stages[i], name);
        fprintf(out, "%s(", name);
    }
    fprintf(out, "(p)");
    for (int i = 0; i < count; i++) {
        fprintf(out, ", (args) + %d)", offset);
        offset += stages[i]->arguments.count;
    }
    fprintf(out, "\n");
    return offset;
}

// The same over pixels side by side, one filter behind the other.
static void add_line_points(FILE *out, const char *macro, const struct stage *const *stages, int count, int offset)
{
    fprintf(out, "#define %s(from, to, count, args)", macro);
    if (count == 0)
        fprintf(out, " copy_line(from, to, count);");
    for (int i = 0; i < count; i++) {
        char name[64];
        const char *from = i == 0 ? "from" : "to";
        function_name(stages[i], name);
        if (stages[i]->filter->kernel_lines)
            fprintf(out, " line_%s(%s, to, count, (args) + %d);", name + strlen("filter_"), from, offset);
        else
            fprintf(out, " EACH_OF_LINE(%s, %s, to, count, (args) + %d)", name, from, offset);
        offset += stages[i]->arguments.count;
    }
    fprintf(out, "\n");
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

static void add_macros(FILE *out, const struct pass *pass, const struct pass_target *target)
{
    const enum pixfmt format = target->format;
    const int radius = pass->stencil ? pass->stencil->arguments.radius : 0;
    if (target->to_image)
        fprintf(out, "#define PASS_TO_IMAGE\n");
    if (pass->writes == PASS_GREY)
        fprintf(out, "#define PASS_TO_GREY\n");
    else if (!target->to_image && pass->after_count == 0 && !pass->store_mirror)
        fprintf(out, "#define PASS_STORE_WORDS\n"); // pixels go to their places as the stencil makes them
    if (pass->reads == PASS_GREY && pass->before_count == 0)
        fprintf(out, "#define PASS_GREY\n"); // the stencil's input is grey
    else if (format == PIXFMT_RGBA && pass->before_count == 0 && !pass->load_mirror)
        fprintf(out, "#define PASS_LOAD_WORDS\n"); // pixels lie in memory as the stencil sees them
    if (pass->alike)
        fprintf(out, "#define PASS_ALIKE\n");
    if (target->block_rows > 0) {
        fprintf(out, "#define PASS_WINDOW\n#define PASS_BLOCK_ROWS %d\n", target->block_rows);
        if (radius > 0 && (pass->before_count > 0 || pixfmt_info(format)->yuv))
            fprintf(out, "#define PASS_TILE\n");
    }
    fprintf(out, "#define PASS_GROUP_WIDTH %d\n#define PASS_GROUP_HEIGHT %d\n", PASS_GROUP_WIDTH, PASS_GROUP_HEIGHT);
    if (target->sums)
        fprintf(out, "#define PASS_SUMS_ITEMS %d\n#define PASS_SUMS_ROWS %d\n", PASS_SUMS_ITEMS, PASS_SUMS_ROWS);
    if (target->lines)
        fprintf(out, "#define PASS_LINES\n#define PASS_LINES_WIDTH %d\n", PASS_LINES_WIDTH);
    if (target->wide)
        fprintf(out, "#define PASS_WIDE\n");
    if (pass->load_mirror)
        fprintf(out, "#define PASS_LOAD_MIRROR\n");
    if (pass->store_mirror)
        fprintf(out, "#define PASS_STORE_MIRROR\n");
    add_places(out, pixfmt_info(format));
    int offset = pixfmt_info(format)->yuv ? YUV_ARGUMENTS : 0;
    if (target->lines || target->rows)
        add_line_points(out, "PASS_BEFORE_LINE", pass->before, pass->before_count, offset);
    offset = add_points(out, "PASS_BEFORE", pass->before, pass->before_count, offset);
    if (pass->stencil) {
        char name[64];
        function_name(pass->stencil, name);
        fprintf(out, "#define PASS_STENCIL_ARGUMENTS(args) ((args) + %d)\n", offset);
        fprintf(out, "#define PASS_STENCIL(view, args) %s(view, PASS_STENCIL_ARGUMENTS(args))\n", name);
        offset += pass->stencil->arguments.count;
    } else {
        fprintf(out, "#define PASS_POINTS\n#define PASS_STENCIL(view, args) tap(view, 0, 0)\n");
    }
    if (target->lines)
        add_line_points(out, "PASS_AFTER_LINE", pass->after, pass->after_count, offset);
    add_points(out, "PASS_AFTER", pass->after, pass->after_count, offset);
    fprintf(out, "#define PASS_RADIUS %d\n", radius);
    fprintf(out, "#define PASS_LOAD_X(x, width) %s\n", pass->load_mirror ? "((width) - 1 - (x))" : "(x)");
    fprintf(out, "#define PASS_LOAD_Y(y, height) %s\n", pass->load_flip ? "((height) - 1 - (y))" : "(y)");
    fprintf(out, "#define PASS_STORE_X(x, width) %s\n", pass->store_mirror ? "((width) - 1 - (x))" : "(x)");
    fprintf(out, "#define PASS_STORE_Y(y, height) %s\n", pass->store_flip ? "((height) - 1 - (y))" : "(y)");
}

bool pass_wide_fits(const struct pass *pass, enum pixfmt from)
{
    const bool points = !pass->stencil && (from != PIXFMT_GREY || pass->before_count == 0);
    return (points || pass_lines_fit(pass)) && from != PIXFMT_RGBA && !pass->load_mirror;
}

bool pass_rows_fit(const struct pass *pass, enum pixfmt from)
{
    bool fits = pass_wide_fits(pass, from);
    for (int i = 0; i < pass->before_count; i++)
        fits = fits || pass->before[i]->filter->kernel_lines;
    return fits && !pass->stencil;
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
    fprintf(c.out, "#line 1 \"plan\"\n");
    add_macros(c.out, pass, target);
    add_file(&c, pass->reads == PASS_GREY ? "load_channel.cl" : pixfmt_info(target->format)->loader);
    for (int i = 0; i < pass->before_count; i++)
        add_file(&c, pass->before[i]->filter->kernel);
    if (pass->stencil)
        add_file(&c, pass->stencil->filter->kernel);
    for (int i = 0; i < pass->after_count; i++)
        add_file(&c, pass->after[i]->filter->kernel);
    add_file(&c, target->lines            ? "pass_lines.cl"
                 : target->rows           ? "pass_rows.cl"
                 : target->sums           ? "pass_sums.cl"
                 : target->block_rows > 0 ? "pass_block.cl"
                                          : "pass.cl");
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
