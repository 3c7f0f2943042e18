// reference_lut.c: docs/pixels.md section 3: lut
#include "reference_rules.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lut {
    int n, solid, count;
    double low[3], high[3], entry[][3];
};

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

static bool read_line(struct lut **lut, char *line)
{
    char word[32] = "";
    int used = 0;
    double n;
    sscanf(line, "%31s%n", word, &used);
    if (!*word || *word == '#' || !strcmp(word, "TITLE"))
        return true;
    const char *rest = line + used;
    if (!strcmp(word, "LUT_1D_SIZE") || !strcmp(word, "LUT_3D_SIZE")) {
        int solid = word[4] == '3';
        if ((*lut)->n || !read_numbers(rest, 1, &n) || n != floor(n) || n < 2 || n > (solid ? 128 : 65536))
            return false;
        size_t entries = (size_t)(solid ? n * n * n : n);
        *lut = realloc(*lut, sizeof(**lut) + entries * sizeof((*lut)->entry[0]));
        (*lut)->n = (int)n;
        (*lut)->solid = solid;
        return true;
    }
    if (!strcmp(word, "DOMAIN_MIN"))
        return read_numbers(rest, 3, (*lut)->low);
    if (!strcmp(word, "DOMAIN_MAX"))
        return read_numbers(rest, 3, (*lut)->high);
    if (!strcmp(word, "LUT_1D_INPUT_RANGE") || !strcmp(word, "LUT_3D_INPUT_RANGE")) {
        double range[2];
        if (!read_numbers(rest, 2, range))
            return false;
        for (int i = 0; i < 3; i++) {
            (*lut)->low[i] = range[0];
            (*lut)->high[i] = range[1];
        }
        return true;
    }
    int size = (*lut)->n, entries = (*lut)->solid ? size * size * size : size;
    return (*lut)->count < entries && read_numbers(line, 3, (*lut)->entry[(*lut)->count++]);
}

bool prepare_lut(const struct picture *from, struct values *values)
{
    if (!strcmp(values->value[0].text, "none"))
        return true;
    FILE *file = fopen(values->value[0].text, "r");
    struct lut *lut = calloc(1, sizeof(*lut));
    char line[1000];
    bool ok = file && lut;
    for (int i = 0; ok && i < 3; i++)
        lut->high[i] = 1;
    while (ok && fgets(line, sizeof(line), file))
        ok = read_line(&lut, line);
    if (file)
        fclose(file);
    ok = ok && lut->n > 0 && lut->count == (lut->solid ? lut->n * lut->n * lut->n : lut->n);
    for (int i = 0; ok && i < 3; i++)
        ok = lut->high[i] - lut->low[i] >= 1e-6;
    values->lut = lut;
    return ok;
}

static int corner(const struct lut *lut, const int at[3], int channel)
{
    double v = lut->entry[at[0] + lut->n * (at[1] + lut->n * at[2])][channel];
    return (int)reference_round(1020 * fmin(fmax(v, 0), 1) + 1e-9);
}

void pixel_lut(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    const struct lut *lut = values->lut;
    int at[4][3], f[3], axis[3] = {0, 1, 2};
    double u[3];
    if (!lut)
        return;
    for (int i = 0; i < 3; i++)
        u[i] = fmin(fmax((to[i] / 255.0 - lut->low[i]) / (lut->high[i] - lut->low[i]), 0), 1) * (lut->n - 1);
    for (int i = 0; i < 3 && !lut->solid; i++) {
        int k = u[i] >= lut->n - 2 ? lut->n - 2 : (int)u[i];
        double a = lut->entry[k][i], b = lut->entry[k + 1][i];
        to[i] = reference_sat8(reference_round(255 * (a + (b - a) * (u[i] - k)) + 1e-9));
    }
    if (!lut->solid)
        return;
    for (int i = 0; i < 3; i++) {
        int place = (int)reference_round(256 * u[i] + 1e-9);
        at[0][i] = place / 256 > lut->n - 2 ? lut->n - 2 : place / 256;
        f[i] = place - 256 * at[0][i];
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
        to[i] = (uint8_t)((sum + 512) >> 10);
    }
}
