// reference_placed.c: docs/pixels.md section 3: the filters that depend on a pixel's place, add pixels or change alpha
#include "reference_rules.h"

#include <math.h>
#include <stb_image.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#include <stb_truetype.h>

static void pixel_vignette(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    double strength = values->value[0].real, start = values->value[1].real;
    int64_t m = llabs(2 * x + 1 - from->width) * reference_round(pow(2, 28) / from->width) >> 16;
    int64_t n = llabs(2 * y + 1 - from->height) * reference_round(pow(2, 28) / from->height) >> 16;
    int64_t t = ((m * m + n * n) >> 9) - reference_round(65536 * (start * start));
    int64_t q = reference_round(32768 * strength / (1 - start * start));
    int64_t light = 65536 - reference_shift((t > 0 ? t / 2 : 0) * q, 14);
    for (int i = 0; i < 3; i++)
        to[i] = reference_sat8(reference_shift(to[i] * light + 32768, 16));
}

static int mixed(int n)
{
    n %= 65536;
    n = (int)((int64_t)(n ^ n / 128) * 27803 % 65536);
    n = (int)((int64_t)(n ^ n / 512) * 31153 % 65536);
    return n ^ n / 256;
}

// The frame has number 0.
static void pixel_grain(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    int n = mixed(x + mixed(y + mixed(0)));
    int light = (int)reference_shift(77 * to[0] + 150 * to[1] + 29 * to[2] + 128, 8);
    int64_t change = reference_shift(
        (int64_t)(n / 256 - n % 256) * (light * (255 - light) / 64) * values->value[0].number + 32768, 16);
    for (int i = 0; i < 3; i++)
        to[i] = reference_sat8(to[i] + change);
}

static bool check_pad(const struct picture *picture, struct values *values)
{
    const struct value *v = values->value;
    return v[5].real == 0 || (v[0].number == 0 && v[1].number == 0);
}

bool reference_pad(struct picture *picture, const struct values *values)
{
    const struct value *v = values->value;
    int w = picture->width, h = picture->height, color = v[4].number;
    double ratio = v[5].real, width = v[0].number, height = v[1].number;
    if (ratio > 0) {
        width = floor(h * ratio + 0.5);
        height = floor(w / ratio + 0.5);
    }
    width = fmax(width, w);
    height = fmax(height, h);
    if (width > 32768 || height > 32768 || width * height > 1 << 28)
        return false;
    int left = v[2].number < 0 ? ((int)width - w) / 2 : (int)fmin(v[2].number, width - w);
    int top = v[3].number < 0 ? ((int)height - h) / 2 : (int)fmin(v[3].number, height - h);
    struct picture to = picture_new((int)width, (int)height);
    for (int y = 0; y < to.height; y++)
        for (int x = 0; x < to.width; x++) {
            uint8_t *p = to.rgba + 4 * ((size_t)y * (size_t)to.width + (size_t)x);
            const uint8_t border[] = {(uint8_t)(color >> 16), (uint8_t)(color >> 8), (uint8_t)color, 255};
            bool inside = x >= left && x < left + w && y >= top && y < top + h;
            memcpy(p, inside ? picture_pixel(picture, x - left, y - top) : border, 4);
        }
    picture_free(picture);
    *picture = to;
    return true;
}

static bool scale(struct picture *picture, int width, int height, const char *method)
{
    char w[16], h[16];
    snprintf(w, sizeof(w), "%d", width);
    snprintf(h, sizeof(h), "%d", height);
    return reference_filter(picture, "scale", (const char *const[REFERENCE_PARAMS]){w, h, NULL, NULL, method});
}

// Scales a picture whose colours are multiplied by alpha.
static void scale_file(struct picture *picture, int width, int height)
{
    struct values values = {0};
    values.value[0].number = width;
    values.value[1].number = height;
    values.value[2].real = 1;
    values.value[4].number = width < picture->width || height < picture->height ? 1 : 3; // area, bilinear
    reference_scale(picture, &values);
}

// Returns the distance of a pixel from a colour in chroma (by 1), luma (2), or red, green and blue.
static int color_distance(const uint8_t *pixel, int color, int by)
{
    int far[3], d = 0;
    for (int i = 0; i < 3; i++)
        far[i] = pixel[i] - (color >> (16 - 8 * i) & 255);
    int64_t u = reference_shift(-43 * far[0] - 85 * far[1] + 128 * far[2] + 128, 8);
    int64_t w = reference_shift(128 * far[0] - 107 * far[1] - 21 * far[2] + 128, 8);
    int64_t l = reference_shift(77 * far[0] + 150 * far[1] + 29 * far[2] + 128, 8);
    int64_t squares = (far[0] * far[0] + far[1] * far[1] + far[2] * far[2] + 1) / 3;
    if (by == 1)
        squares = (u * u + w * w + 1) / 2;
    else if (by == 2)
        squares = l * l;
    while (squares > d * d + d) // d + 1 is nearer to the root
        d++;
    return d;
}

static void pixel_colorkey(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    const struct value *v = values->value;
    int d = color_distance(to, v[0].number, v[3].number);
    double more = d / 255.0 - (double)v[1].real, blend = v[2].real;
    int64_t q = blend > 0 ? reference_round(255 * fmin(1, fmax(0, more / blend))) : more > 0 ? 255 : 0;
    to[3] = (uint8_t)((to[3] * q + 127) / 255);
}

// Reads a PGM file. Returns its values, or NULL; the caller frees them.
static int *read_pgm(const char *name, int *width, int *height)
{
    FILE *file = fopen(name, "rb");
    int kind = 0, most = 0, *header[] = {&kind, width, height, &most};
    if (!file || fgetc(file) != 'P')
        return NULL;
    for (int i = 0; i < 4; i++)
        while (fscanf(file, "%d", header[i]) != 1)
            if (fscanf(file, "#%*[^\n]") == EOF)
                return NULL;
    int count = *width * *height, *values = malloc(sizeof(*values) * (size_t)count);
    if (!values)
        exit(1);
    fgetc(file);
    for (int i = 0; i < count; i++)
        if (kind == 5)
            values[i] = most > 255 ? fgetc(file) * 256 + fgetc(file) : fgetc(file);
        else if (fscanf(file, "%d", &values[i]) != 1)
            exit(1);
    fclose(file);
    return values;
}

static bool check_remap(const struct picture *picture, struct values *values)
{
    int width, height,
        *numbers = strcmp(values->value[0].text, "none") ? read_pgm(values->value[0].text, &width, &height)
                                                         : calloc(1, sizeof(int));
    free(numbers);
    return numbers;
}

bool reference_remap(struct picture *picture, const struct values *values)
{
    int width, height, color = values->value[1].number;
    if (!strcmp(values->value[0].text, "none"))
        return true;
    int *places = read_pgm(values->value[0].text, &width, &height);
    struct picture to = picture_new(width, height / 2);
    for (int i = 0; i < width * (height / 2); i++) {
        int x = places[i], y = places[i + width * (height / 2)];
        const uint8_t fill[] = {(uint8_t)(color >> 16), (uint8_t)(color >> 8), (uint8_t)color, 255};
        bool inside = x < picture->width && y < picture->height;
        memcpy(to.rgba + 4 * (size_t)i, inside ? picture_pixel(picture, x, y) : fill, 4);
    }
    free(places);
    picture_free(picture);
    *picture = to;
    return true;
}

bool reference_pixelate(struct picture *picture, const struct values *values)
{
    int size = values->value[0].number, w = picture->width, h = picture->height;
    return scale(picture, (w + size - 1) / size, (h + size - 1) / size, "area") && scale(picture, w, h, "nearest");
}

// Reads a picture, and multiplies its colours by its alpha. Returns false if it cannot.
static bool read_picture(struct picture *picture, const char *path)
{
    int channels;
    uint8_t *rgba = stbi_load(path, &picture->width, &picture->height, &channels, 4);
    if (!rgba)
        return false;
    size_t bytes = 4 * (size_t)picture->width * (size_t)picture->height;
    picture->rgba = malloc(bytes);
    memcpy(picture->rgba, rgba, bytes);
    stbi_image_free(rgba);
    return true;
}

// Returns the first of `count` pixels on a side of `all`; third: 0, 1 or 2 for the begin, the middle and the end.
static int place(int third, int offset, int count, int all)
{
    if (third == 2)
        return all - count - offset;
    return third == 0 ? offset : (int)reference_shift(all - count, 1) + offset;
}

static bool prepare_overlay(const struct picture *from, struct values *values)
{
    const struct value *v = values->value;
    struct picture *second = &values->second;
    if (!strcmp(v[0].text, "none"))
        return true;
    if (!read_picture(second, v[0].text))
        return false;
    if (!from)
        return true;
    for (int i = 0; i < 4 * second->width * second->height; i++)
        if (i % 4 < 3)
            second->rgba[i] = (uint8_t)((second->rgba[i] * second->rgba[i - i % 4 + 3] + 127) / 255);
    if (v[5].real > 0) {
        double width = fmin(fmax(reference_round(from->width * (double)v[5].real / 100), 1), 32768);
        double height = fmin(fmax(reference_round(width * second->height / second->width), 1), 32768);
        scale_file(second, (int)width, (int)height);
    }
    for (int i = 0; i < 4 * second->width * second->height; i++)
        second->rgba[i] = (uint8_t)((second->rgba[i] * reference_round(256 * (double)v[3].real) + 128) / 256);
    values->left = place(v[4].number % 3, v[1].number, second->width, from->width);
    values->top = place(v[4].number / 3, v[2].number, second->height, from->height);
    return true;
}

static void pixel_overlay(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    const struct picture *second = &values->second;
    int u = x - values->left, v = y - values->top;
    if (u < 0 || v < 0 || u >= second->width || v >= second->height)
        return;
    const uint8_t *s = picture_pixel(second, u, v);
    for (int i = 0; i < 3; i++)
        to[i] = reference_sat8(s[i] + (to[i] * (255 - s[3]) + 127) / 255);
}

// Reads the file of a filter, and fits it to the picture: `fit` cover or tile.
static bool prepare_fitted(const struct picture *from, struct values *values, const struct value *fit)
{
    const struct value *v = values->value;
    struct picture *second = &values->second;
    if (!strcmp(v[0].text, "none"))
        return true;
    if (!read_picture(second, v[0].text))
        return false;
    if (!from || fit->number == 1)
        return true;
    double factor = fmax((double)from->width / second->width, (double)from->height / second->height);
    char width[16], height[16];
    scale_file(second, (int)fmax(reference_round(second->width * factor), from->width),
               (int)fmax(reference_round(second->height * factor), from->height));
    snprintf(width, sizeof(width), "%d", from->width);
    snprintf(height, sizeof(height), "%d", from->height);
    return reference_filter(second, "crop", (const char *const[REFERENCE_PARAMS]){width, height});
}

static bool prepare_blend(const struct picture *from, struct values *values)
{
    return prepare_fitted(from, values, &values->value[3]);
}

static bool prepare_mask(const struct picture *from, struct values *values)
{
    return prepare_fitted(from, values, &values->value[2]);
}

static int mask_at(const struct values *values, int x, int y)
{
    const struct picture *second = &values->second;
    if (!second->rgba)
        return 255;
    const uint8_t *s = picture_pixel(second, x % second->width, y % second->height);
    int luma = (77 * s[0] + 150 * s[1] + 29 * s[2] + 128) >> 8, m = (luma * s[3] + 127) / 255;
    return values->value[1].number == 1 ? 255 - m : m;
}

// Replaces each value by the largest, the smallest, or the mean, of those up to `reach` left and right, or above and
// below.
static void change_mask(struct picture *mask, bool down, int reach, int kind)
{
    struct picture from = picture_copy(mask);
    for (int y = 0; y < mask->height; y++)
        for (int x = 0; x < mask->width; x++) {
            int sum = 0, least = 255, most = 0, n = 2 * reach + 1;
            for (int i = -reach; i <= reach; i++) {
                int m = picture_pixel(&from, down ? x : x + i, down ? y + i : y)[0];
                sum += m;
                least = m < least ? m : least;
                most = m > most ? m : most;
            }
            int result = kind == 0 ? (sum + n / 2) / n : kind < 0 ? least : most;
            memset(mask->rgba + 4 * ((size_t)y * (size_t)mask->width + (size_t)x), result, 3);
        }
    picture_free(&from);
}

static bool prepare_within(const struct picture *from, struct values *values)
{
    const struct value *v = values->value;
    if (!prepare_mask(from, values))
        return false;
    if (!from || !values->second.rgba)
        return true;
    struct picture mask = picture_new(from->width, from->height);
    for (int i = 0; i < mask.width * mask.height; i++) {
        memset(mask.rgba + 4 * i, mask_at(values, i % mask.width, i / mask.width), 3);
        mask.rgba[4 * i + 3] = 255;
    }
    double shorter = from->width < from->height ? from->width : from->height;
    int soft = (int)reference_round(shorter * (double)v[4].real / 400);
    int grown = (int)reference_round(shorter * (double)v[3].real / 100) + 2 * soft;
    change_mask(&mask, false, abs(grown), grown < 0 ? -1 : 1);
    change_mask(&mask, true, abs(grown), grown < 0 ? -1 : 1);
    for (int i = 0; i < 4; i++)
        change_mask(&mask, i % 2 == 1, soft, 0);
    picture_free(&values->second);
    values->second = mask;
    values->value[1].number = 0; // the mask has it already
    return true;
}

static void pixel_mask(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    to[3] = (uint8_t)((to[3] * mask_at(values, x, y) + 127) / 255);
}

static bool check_matte(const struct picture *from, struct values *values)
{
    const char *name = values->value[0].text;
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++) {
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", name[i]))
            return false;
    }
    return length >= 1 && length <= 32;
}

static void pixel_matte(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    memcpy(to, picture_pixel(from, x, y), 4);
}

static void pixel_fill(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    int color = values->value[0].number;
    memcpy(to, (const uint8_t[]){(uint8_t)(color >> 16), (uint8_t)(color >> 8), (uint8_t)color, 255}, 4);
}

static const uint8_t *kept_pixel(const struct values *values, int x, int y)
{
    return picture_pixel(&values->inputs->picture[values->inputs->kept], x, y);
}

static void mix(uint8_t *to, const uint8_t *old, int64_t m)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)((m * to[i] + (255 - m) * old[i] + 127) / 255);
}

static void pixel_within(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    mix(to, kept_pixel(values, x, y), mask_at(values, x, y));
}

static int64_t slope(int64_t v, int64_t n)
{
    v = v < 0 ? 0 : v > n ? n : v;
    return reference_shift(v * reference_round(255 * 4194304.0 / (double)n) + 2097152, 22);
}

// A side's begin and end in 1/16 pixel: value `at` is the begin, value `at` + 2 the length.
static void region_side(const struct values *values, int at, int pixels, int64_t *begin, int64_t *end)
{
    double first = values->value[at].real, length = values->value[at + 2].real;
    *begin = reference_round(16.0 * pixels * first / 100);
    *end = reference_round(16.0 * pixels * (first + length) / 100);
}

static int64_t ellipse_part(int64_t distance, double half)
{
    double reach = fmax(1, floor(half + 0.5));
    int64_t d = (double)distance < reach ? distance : (int64_t)reach;
    return reference_shift(d * reference_round(1073741824.0 / reach), 16);
}

static void pixel_inside(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    int w = from->width, h = from->height;
    int64_t left, right, top, bottom, m;
    region_side(values, 0, w, &left, &right);
    region_side(values, 1, h, &top, &bottom);
    int64_t soft = 2 * reference_round(16.0 * (w < h ? w : h) * (double)values->value[6].real / 100);
    int64_t d = llabs(32 * x + 16 - left - right), e = llabs(32 * y + 16 - top - bottom);
    int64_t a = right - left, b = bottom - top;
    if (values->value[4].number == 0) {
        m = (slope(a + soft + 16 - d, soft + 32) * slope(b + soft + 16 - e, soft + 32) + 127) / 255;
    } else {
        double s = fmax(1, (double)(a < b ? a : b)), o = 1 + (double)(soft + 16) / s, i = fmax(0, 1 - 16 / s) / o;
        int64_t u = ellipse_part(d, (double)a * o), v = ellipse_part(e, (double)b * o), n = 268435456 - u * u - v * v;
        m = slope(n > 0 ? n / 256 : 0, (int64_t)fmax(1, (double)reference_round(1048576 * (1 - i * i))));
    }
    mix(to, kept_pixel(values, x, y), values->value[5].number == 1 ? 255 - m : m);
}

// The channels of a colour, and their axes.
static int channel_of(int color, int i)
{
    return color >> (16 - 8 * i) & 255;
}

static double axis_x(int i)
{
    return i == 0 ? 1 : -0.5;
}

static double axis_y(int i)
{
    return i == 0 ? 0 : i == 1 ? sqrt(3) / 2 : -sqrt(3) / 2;
}

static void hue_of(int color, double *x, double *y)
{
    *x = *y = 0;
    for (int i = 0; i < 3; i++) {
        *x += channel_of(color, i) * axis_x(i);
        *y += channel_of(color, i) * axis_y(i);
    }
}

static bool check_key(const struct picture *from, struct values *values)
{
    int color = values->value[0].number, first = channel_of(color, 0);
    return values->value[3].number > 0 || channel_of(color, 1) != first || channel_of(color, 2) != first;
}

static void pixel_key(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    const struct value *v = values->value;
    uint8_t old[4];
    memcpy(old, kept_pixel(values, x, y), 4);
    double hue_x, hue_y, least = fmax(v[2].real, 1 / 255.0);
    hue_of(v[0].number, &hue_x, &hue_y);
    double h = sqrt(hue_x * hue_x + hue_y * hue_y);
    int64_t along = 0, across = 0, excess = 0;
    int most = 0, lowest = 255;
    for (int i = 0; i < 3; i++) {
        if (h > 1e-6)
            along += old[i] * reference_round(256 * (hue_x * axis_x(i) + hue_y * axis_y(i)) / h);
        if (h > 1e-6)
            across += old[i] * reference_round(256 * (hue_x * axis_y(i) - hue_y * axis_x(i)) / (sqrt(3) * h));
        most = old[i] > most ? old[i] : most;
        lowest = channel_of(v[0].number, i) < lowest ? channel_of(v[0].number, i) : lowest;
    }
    if (h > 1e-6)
        excess = reference_shift(along - llabs(across) + 128, 8);
    int64_t factor = reference_round(255 * 65536.0 / (most / 4 * 4 + 34));
    int64_t d = v[3].number == 0 ? reference_sat8(102 - reference_shift(excess * factor, 16))
                                 : color_distance(old, v[0].number, v[3].number);
    int64_t n = reference_round(4080 * least), left = reference_round(4080 * ((double)v[1].real + least)) - 16 * d;
    left = left < 0 ? 0 : left > n ? n : left;
    int64_t m = reference_shift(left * reference_round(255 * 65536.0 / (double)n) + 32768, 16);
    for (int i = 0; i < 3 && v[5].number == 0 && excess > 0; i++) {
        int64_t part = reference_round(256 * (double)v[4].real * (channel_of(v[0].number, i) - lowest) / h);
        old[i] = reference_sat8(old[i] - reference_shift(excess * part + 128, 8));
    }
    mix(to, old, v[5].number == 1 ? 255 - m : m);
}

static int mixed_colour(const char *mode, int c, int s)
{
    if (!strcmp(mode, "add"))
        return reference_sat8(c + s);
    if (!strcmp(mode, "multiply"))
        return (c * s + 127) / 255;
    if (!strcmp(mode, "screen"))
        return 255 - ((255 - c) * (255 - s) + 127) / 255;
    if (!strcmp(mode, "overlay"))
        return c < 128 ? (2 * c * s + 127) / 255 : 255 - (2 * (255 - c) * (255 - s) + 127) / 255;
    if (!strcmp(mode, "difference"))
        return abs(c - s);
    if (!strcmp(mode, "lighten"))
        return c > s ? c : s;
    if (!strcmp(mode, "darken"))
        return c < s ? c : s;
    return strcmp(mode, "subtract") ? s : reference_sat8(c - s);
}

static void pixel_blend(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    static const char *const modes[] = {"normal",     "add",     "multiply", "screen",  "overlay",
                                        "difference", "lighten", "darken",   "subtract"};
    const struct picture *second = &values->second;
    if (!second->rgba)
        return;
    const uint8_t *s = picture_pixel(second, x % second->width, y % second->height);
    int64_t alpha = reference_shift(s[3] * reference_round(256 * (double)values->value[2].real) + 128, 8);
    for (int i = 0; i < 3; i++)
        to[i] = (uint8_t)((to[i] * (255 - alpha) + mixed_colour(modes[values->value[1].number], to[i], s[i]) * alpha +
                           127) /
                          255);
}

// Draws a letter of the font over a picture whose colours are multiplied by alpha.
static void draw_letter(struct picture *to, const stbtt_fontinfo *font, float scale, int letter, int x, int base,
                        int color)
{
    int width, height, left, top;
    unsigned char *coverage = stbtt_GetCodepointBitmap(font, scale, scale, letter, &width, &height, &left, &top);
    for (int i = 0; coverage && i < width * height; i++) {
        int u = x + left + i % width, v = base + top + i / width;
        if (u < 0 || v < 0 || u >= to->width || v >= to->height)
            continue;
        uint8_t *p = to->rgba + 4 * ((size_t)v * (size_t)to->width + (size_t)u);
        const int ink[] = {color >> 16, color >> 8 & 255, color & 255, 255};
        for (int k = 0; k < 4; k++)
            p[k] = (uint8_t)((ink[k] * coverage[i] + p[k] * (255 - coverage[i]) + 127) / 255);
    }
    stbtt_FreeBitmap(coverage, NULL);
}

// Only for texts of ASCII letters without a % and with the fields {frame} and {time}, of frame 0.
static bool prepare_text(const struct picture *from, struct values *values)
{
    const struct value *v = values->value;
    static uint8_t file[1 << 20];
    FILE *opened = fopen(FONT_FILE, "rb");
    bool ok = opened && fread(file, 1, sizeof(file), opened) > 0;
    if (opened)
        fclose(opened);
    if (!ok || !from)
        return ok;
    char text[600] = "";
    for (const char *at = v[0].text; *at; at++) {
        const char *field = !strncmp(at, "{frame}", 7) ? "0" : !strncmp(at, "{time}", 6) ? "0:00:00.000" : NULL;
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%.*s", field ? 20 : 1, field ? field : at);
        if (field)
            at = strchr(at, '}');
    }
    stbtt_fontinfo font;
    int ascent, advance, other,
        line = (int)fmin(fmax(reference_round(from->height * (double)v[3].real / 100), 8), 4096);
    stbtt_InitFont(&font, file, 0);
    stbtt_GetFontVMetrics(&font, &ascent, &other, &other);
    stbtt_GetCodepointHMetrics(&font, 'x', &advance, &other);
    float scale;
    int step, letters = (int)strlen(text);
    for (;; line--) { // the largest that fits
        scale = stbtt_ScaleForPixelHeight(&font, (float)line);
        step = (int)lroundf((float)advance * scale);
        if (line == 8 || letters * step + 2 * (line / 3) <= from->width)
            break;
    }
    int base = (int)lroundf((float)ascent * scale);
    int width = (int)fmin((double)strlen(text) * step + 2 * (line / 3), from->width);
    values->second = picture_new(width, line + 2 * (line / 8));
    for (int i = 0; i < width * values->second.height; i++) {
        memset(values->second.rgba + 4 * i, 0, 3);
        values->second.rgba[4 * i + 3] = (uint8_t)reference_round(255 * (double)v[6].real);
    }
    for (int i = 0; text[i]; i++)
        draw_letter(&values->second, &font, scale, text[i], line / 3 + i * step, line / 8 + base, v[4].number);
    values->left = place(v[5].number % 3, v[1].number, width, from->width);
    values->top = place(v[5].number / 3, v[2].number, values->second.height, from->height);
    return true;
}

const struct rule placed_rules[] = {
    {"vignette",
     pixel_vignette,
     NULL,
     {{"strength", REAL, -1, 1, "0.6", {0}, {0}}, {"start", REAL, 0, 0.9f, "0", {0}, {0}}}},
    {"overlay",
     pixel_overlay,
     prepare_overlay,
     {{"file", TEXT, 0, 0, "none", {0}, {0}},
      {"x", INTEGER, -32768, 32768, "0", {0}, {0}},
      {"y", INTEGER, -32768, 32768, "0", {0}, {0}},
      {"opacity", REAL, 0, 1, "1", {0}, {0}},
      {"at",
       WORD,
       0,
       0,
       "top-left",
       {"top-left", "top", "top-right", "left", "center", "right", "bottom-left", "bottom", "bottom-right"},
       {0}},
      {"scale", REAL, 0, 1000, "0", {0}, {0}}}},
    {"text",
     pixel_overlay,
     prepare_text,
     {{"text", CAPTION, 0, 0, "{time}", {0}, {0}},
      {"x", INTEGER, -32768, 32768, "0", {0}, {0}},
      {"y", INTEGER, -32768, 32768, "0", {0}, {0}},
      {"size", REAL, 1, 100, "5", {0}, {0}},
      {"color", COLOR, 0, 0, "white", {0}, {0}},
      {"at",
       WORD,
       0,
       0,
       "top-left",
       {"top-left", "top", "top-right", "left", "center", "right", "bottom-left", "bottom", "bottom-right"},
       {0}},
      {"box", REAL, 0, 1, "0.4", {0}, {0}}}},
    {"blend",
     pixel_blend,
     prepare_blend,
     {{"file", TEXT, 0, 0, "none", {0}, {0}},
      {"mode",
       WORD,
       0,
       0,
       "normal",
       {"normal", "add", "multiply", "screen", "overlay", "difference", "lighten", "darken", "subtract"},
       {0}},
      {"opacity", REAL, 0, 1, "1", {0}, {0}},
      {"fit", WORD, 0, 0, "cover", {"cover", "tile"}, {0}}}},
    {"colorkey",
     pixel_colorkey,
     NULL,
     {{"color", COLOR, 0, 0, "lime", {0}, {0}},
      {"similarity", REAL, 0, 1, "0.3", {0}, {0}},
      {"blend", REAL, 0, 1, "0.1", {0}, {0}},
      {"by", WORD, 0, 0, "color", {"color", "chroma", "luma"}, {0}}}},
    {"mask",
     pixel_mask,
     prepare_mask,
     {{"file", TEXT, 0, 0, "none", {0}, {0}},
      {"keep", WORD, 0, 0, "white", {"white", "black"}, {0}},
      {"fit", WORD, 0, 0, "cover", {"cover", "tile"}, {0}}}},
    {"within",
     pixel_within,
     prepare_within,
     {{"file", TEXT, 0, 0, "none", {0}, {0}},
      {"where", WORD, 0, 0, "white", {"white", "black"}, {0}},
      {"fit", WORD, 0, 0, "cover", {"cover", "tile"}, {0}},
      {"grow", REAL, -25, 25, "0", {0}, {0}},
      {"feather", REAL, 0, 100, "0", {0}, {0}},
      {"filters", INTEGER, 0, 16, "0", {0}, {0}}}},
    {"inside",
     pixel_inside,
     NULL,
     {{"x", REAL, -100, 100, "25", {0}, {0}},
      {"y", REAL, -100, 100, "25", {0}, {0}},
      {"width", REAL, 0.1f, 200, "50", {0}, {0}},
      {"height", REAL, 0.1f, 200, "50", {0}, {0}},
      {"shape", WORD, 0, 0, "box", {"box", "ellipse"}, {0}},
      {"where", WORD, 0, 0, "in", {"in", "out"}, {0}},
      {"feather", REAL, 0, 100, "0", {0}, {0}},
      {"filters", INTEGER, 0, 16, "0", {0}, {0}}}},
    {"key",
     pixel_key,
     check_key,
     {{"color", COLOR, 0, 0, "green", {0}, {0}},
      {"similarity", REAL, 0, 1, "0.25", {0}, {0}},
      {"blend", REAL, 0, 1, "0.1", {0}, {0}},
      {"by", WORD, 0, 0, "hue", {"hue", "chroma", "luma"}, {0}},
      {"spill", REAL, 0, 1, "1", {0}, {0}},
      {"where", WORD, 0, 0, "in", {"in", "out"}, {0}},
      {"filters", INTEGER, 0, 16, "0", {0}, {0}}}},
    {"matte", // of no program: its filters apply everywhere
     pixel_matte,
     check_matte,
     {{"name", CAPTION, 0, 0, "none", {0}, {0}},
      {"where", WORD, 0, 0, "front", {"front", "behind"}, {0}},
      {"grow", REAL, 0, 10, "0", {0}, {0}},
      {"feather", REAL, 0, 10, "0", {0}, {0}},
      {"edge", WORD, 0, 0, "image", {"image", "plain"}, {0}},
      {"hold", INTEGER, 0, 5000, "0", {0}, {0}},
      {"filters", INTEGER, 0, 16, "0", {0}, {0}}}},
    {"fill", pixel_fill, NULL, {{"color", COLOR, 0, 0, "black", {0}, {0}}}},
    {"grain", pixel_grain, NULL, {{"strength", INTEGER, 0, 100, "30", {0}, {0}}}},
    {"remap", NULL, check_remap, {{"file", TEXT, 0, 0, "none", {0}, {0}}, {"fill", COLOR, 0, 0, "black", {0}, {0}}}},
    {"pad",
     NULL,
     check_pad,
     {{"width", INTEGER, 0, 32768, "0", {0}, {0}},
      {"height", INTEGER, 0, 32768, "0", {0}, {0}},
      {"x", INTEGER, -1, 32768, "-1", {0}, {0}},
      {"y", INTEGER, -1, 32768, "-1", {0}, {0}},
      {"color", COLOR, 0, 0, "black", {0}, {0}},
      {"ratio", REAL, 0, 100, "0", {0}, {0}}}},
    {"pixelate", NULL, NULL, {{"size", INTEGER, 2, 256, "16", {0}, {0}}}},
    {0},
};
