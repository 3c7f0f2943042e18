// reference_lut.c: docs/pixels.md section 3: lut
#include "reference_rules.h"

#include <ctype.h>
#include <math.h>
#include <stb_image.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lut {
    struct side {
        int n, count, wanted;
        double low[3], high[3], (*entry)[3];
    } line, solid; // 1D, 3D
};

void reference_lut_free(struct lut *lut)
{
    if (lut) {
        free(lut->line.entry);
        free(lut->solid.entry);
    }
    free(lut);
}

// Reads `count` numbers and the end of the line.
static bool read_numbers(const char *text, int count, double *number)
{
    for (int i = 0; i < count; i++) {
        char *end;
        number[i] = strtod(text, &end);
        if (end == text || !(fabs(number[i]) <= 1e6) || (!isspace((unsigned char)*end) && *end))
            return false;
        text = end;
    }
    return text[strspn(text, " \t\r\n")] == 0;
}

static bool read_line(struct lut *lut, char *line)
{
    char word[32] = "";
    int used = 0;
    double n;
    sscanf(line, "%31s%n", word, &used);
    if (!*word || *word == '#' || !strcmp(word, "TITLE"))
        return true;
    const char *rest = line + used;
    if (!strcmp(word, "DOMAIN_MIN"))
        return read_numbers(rest, 3, lut->line.low) && memcpy(lut->solid.low, lut->line.low, sizeof(lut->line.low));
    if (!strcmp(word, "DOMAIN_MAX"))
        return read_numbers(rest, 3, lut->line.high) && memcpy(lut->solid.high, lut->line.high, sizeof(lut->line.high));
    struct side *side = !strncmp(word, "LUT_3D_", 7) ? &lut->solid : &lut->line;
    if (!strcmp(word, "LUT_1D_SIZE") || !strcmp(word, "LUT_3D_SIZE")) {
        bool solid = side == &lut->solid;
        if (side->n || lut->line.count + lut->solid.count || !read_numbers(rest, 1, &n) || n != floor(n) || n < 2 ||
            n > (solid ? 128 : 65536))
            return false;
        side->n = (int)n;
        side->wanted = (int)(solid ? n * n * n : n);
        side->entry = calloc((size_t)side->wanted, sizeof(*side->entry));
        return true;
    }
    if (!strcmp(word, "LUT_1D_INPUT_RANGE") || !strcmp(word, "LUT_3D_INPUT_RANGE")) {
        double range[2];
        if (!read_numbers(rest, 2, range))
            return false;
        for (int i = 0; i < 3; i++) {
            side->low[i] = range[0];
            side->high[i] = range[1];
        }
        return true;
    }
    side = lut->line.count < lut->line.wanted ? &lut->line : &lut->solid;
    return side->count < side->wanted && read_numbers(line, 3, side->entry[side->count++]);
}

// Makes the table of a Hald picture. Returns NULL if it is none.
static struct lut *read_hald(const char *path)
{
    int width, height, channels, n = 4;
    uint8_t *rgb = stbi_load(path, &width, &height, &channels, 3);
    while (rgb && n * n * n < width * height)
        n++;
    int root = (int)lround(sqrt(n));
    struct lut *lut = NULL;
    if (rgb && width == height && n * n * n == width * height && root * root == n && n <= 256)
        lut = calloc(1, sizeof(*lut));
    if (lut) {
        struct side *side = &lut->solid;
        side->n = n;
        side->entry = calloc((size_t)(n * n * n), sizeof(*side->entry));
        for (int i = 0; i < 3; i++)
            side->high[i] = 1;
        for (int i = 0; i < 3 * n * n * n; i++)
            side->entry[i / 3][i % 3] = rgb[i] / 255.0;
    }
    stbi_image_free(rgb);
    return lut;
}

static bool prepare_lut(const struct picture *from, struct values *values)
{
    if (!strcmp(values->value[0].text, "none"))
        return true;
    if ((values->lut = read_hald(values->value[0].text)))
        return true;
    FILE *file = fopen(values->value[0].text, "r");
    struct lut *lut = values->lut = calloc(1, sizeof(*lut));
    char line[1000];
    bool ok = file && lut;
    for (int i = 0; ok && i < 3; i++)
        lut->line.high[i] = lut->solid.high[i] = 1;
    while (ok && fgets(line, sizeof(line), file))
        ok = read_line(lut, line);
    if (file)
        fclose(file);
    ok = ok && lut->line.n + lut->solid.n > 0 && lut->line.count == lut->line.wanted &&
         lut->solid.count == lut->solid.wanted;
    for (int i = 0; ok && i < 3; i++)
        ok = lut->line.high[i] - lut->line.low[i] >= 1e-6 && lut->solid.high[i] - lut->solid.low[i] >= 1e-6;
    return ok;
}

static double place(const struct side *side, int i, double value)
{
    return fmin(fmax((value - side->low[i]) / (side->high[i] - side->low[i]), 0), 1) * (side->n - 1);
}

static double line_value(const struct side *side, int i, double value)
{
    double u = place(side, i, value);
    int k = u >= side->n - 2 ? side->n - 2 : (int)u;
    return side->entry[k][i] + (side->entry[k + 1][i] - side->entry[k][i]) * (u - k);
}

static int corner(const struct side *lut, const int at[3], int channel)
{
    double v = lut->entry[at[0] + lut->n * (at[1] + lut->n * at[2])][channel];
    return (int)reference_round(1020 * fmin(fmax(v, -1000), 1000) + 1e-9);
}

static void pixel_lut(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    const struct side *lut = values->lut ? &values->lut->solid : NULL;
    int at[4][3], f[3], axis[3] = {0, 1, 2};
    double u[3];
    if (!lut)
        return;
    for (int i = 0; i < 3; i++) {
        double value = values->lut->line.n ? line_value(&values->lut->line, i, to[i] / 255.0) : to[i] / 255.0;
        if (!lut->n)
            to[i] = reference_sat8(reference_round(255 * value + 1e-9));
        else
            u[i] = place(lut, i, value);
    }
    if (!lut->n)
        return;
    for (int i = 0; i < 3; i++) {
        int all = (int)reference_round(256 * u[i] + 1e-9);
        at[0][i] = all / 256 > lut->n - 2 ? lut->n - 2 : all / 256;
        f[i] = all - 256 * at[0][i];
    }
    for (int i = 0; i < 3; i++) // the axis with the largest part first
        for (int k = i + 1; k < 3; k++)
            if (f[axis[k]] > f[axis[i]]) {
                int swap = axis[i];
                axis[i] = axis[k];
                axis[k] = swap;
            }
    for (int i = 0; i < 3; i++) {
        memcpy(at[i + 1], at[i], sizeof(at[i]));
        at[i + 1][axis[i]]++;
    }
    for (int i = 0; i < 3; i++) {
        int sum = (256 - f[axis[0]]) * corner(lut, at[0], i) + f[axis[2]] * corner(lut, at[3], i);
        for (int k = 0; k < 2; k++)
            sum += (f[axis[k]] - f[axis[k + 1]]) * corner(lut, at[k + 1], i);
        to[i] = reference_sat8((sum + 512) >> 10);
    }
}

const struct rule lut_rules[] = {
    {"lut", pixel_lut, prepare_lut, {{"file", TEXT, 0, 0, "none", {0}, {0}}}},
    {0},
};
