// reference_several.c: docs/pixels.md section 3: filters that have several steps
#include "reference_rules.h"

#include <stdlib.h>
#include <string.h>

enum { EDGE_NONE, EDGE_WEAK, EDGE_STRONG };

struct gradient {
    int x, y, strength;
};

static bool check_canny(const struct picture *picture, struct values *values)
{
    return values->value[0].number <= values->value[1].number;
}

static struct gradient gradient_of(const struct picture *from, int x, int y)
{
    struct gradient g = {0, 0, 0};
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int c = picture_pixel(from, x + dx, y + dy)[0];
            g.x += dx * (2 - abs(dy)) * c;
            g.y += dy * (2 - abs(dx)) * c;
        }
    g.strength = abs(g.x) + abs(g.y);
    return g;
}

// The gradient beside (x, y) is that of a picture that goes on with its edge pixels.
static int candidate(const struct picture *from, int x, int y, const struct values *values)
{
    struct gradient g = gradient_of(from, x, y);
    int a = abs(g.x), b = abs(g.y), dx, dy;
    if (29 * a <= 12 * b)
        dx = 0, dy = 1;
    else if (29 * b <= 12 * a)
        dx = 1, dy = 0;
    else
        dx = 1, dy = (g.x < 0 && g.y < 0) || (g.x >= 0 && g.y >= 0) ? 1 : -1;
    if (g.strength <= values->value[0].number || g.strength <= gradient_of(from, x - dx, y - dy).strength ||
        g.strength < gradient_of(from, x + dx, y + dy).strength)
        return EDGE_NONE;
    return g.strength > values->value[1].number ? EDGE_STRONG : EDGE_WEAK;
}

// Makes the weak candidates that are one step away from a strong one strong.
static void step(uint8_t *edges, int width, int height)
{
    size_t pixels = (size_t)width * (size_t)height;
    uint8_t *old = malloc(pixels);
    if (!old)
        abort();
    memcpy(old, edges, pixels);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int k = 0; k < 9 && edges[y * width + x] == EDGE_WEAK; k++) {
                int u = x + k % 3 - 1, v = y + k / 3 - 1;
                if (u >= 0 && v >= 0 && u < width && v < height && old[v * width + u] == EDGE_STRONG)
                    edges[y * width + x] = EDGE_STRONG;
            }
    free(old);
}

static void run_canny(struct picture *picture, const struct values *values)
{
    int width = picture->width, height = picture->height;
    uint8_t *edges = malloc((size_t)width * (size_t)height);
    struct values plain = {.value = {{.number = 0}}}, smooth = {.value = {{.real = 1.4f}}};
    if (!edges)
        abort();
    reference_run(picture, pixel_gray, &plain);
    reference_run(picture, pixel_gaussian, &smooth);
    for (int i = 0; i < width * height; i++)
        edges[i] = (uint8_t)candidate(picture, i % width, i / width, values);
    for (int i = 0; i < 8; i++)
        step(edges, width, height);
    for (int i = 0; i < width * height; i++)
        memset(picture->rgba + 4 * (size_t)i, edges[i] == EDGE_STRONG ? 255 : 0, 3);
    free(edges);
}

bool reference_several(struct picture *picture, const char *name, const struct values *values)
{
    if (!strcmp(name, "canny")) {
        run_canny(picture, values);
        return true;
    }
    if (strcmp(name, "open") && strcmp(name, "close"))
        return false;
    reference_run(picture, strcmp(name, "open") ? pixel_dilate : pixel_erode, values);
    reference_run(picture, strcmp(name, "open") ? pixel_erode : pixel_dilate, values);
    return true;
}

const struct rule several_rules[] = {
    {"canny",
     NULL,
     check_canny,
     {{"low", INTEGER, 0, 1020, "40", {0}, {0}}, {"high", INTEGER, 0, 1020, "100", {0}, {0}}}},
    {"open",
     NULL,
     NULL,
     {{"radius", INTEGER, 1, 60, "1", {0}, {0}}, {"shape", WORD, 0, 0, "box", {"box", "disc"}, {0}}}},
    {"close",
     NULL,
     NULL,
     {{"radius", INTEGER, 1, 60, "1", {0}, {0}}, {"shape", WORD, 0, 0, "box", {"box", "disc"}, {0}}}},
    {0},
};
