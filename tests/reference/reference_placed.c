// reference_placed.c: docs/pixels.md section 3: filters that depend on a pixel's place, and those that add pixels
#include "reference_rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pixel_vignette(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
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
void pixel_grain(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    int n = mixed(x + mixed(y + mixed(0)));
    int light = (int)reference_shift(77 * to[0] + 150 * to[1] + 29 * to[2] + 128, 8);
    int64_t change = reference_shift(
        (int64_t)(n / 256 - n % 256) * (light * (255 - light) / 64) * values->value[0].number + 32768, 16);
    for (int i = 0; i < 3; i++)
        to[i] = reference_sat8(to[i] + change);
}

bool check_pad(const struct picture *picture, struct values *values)
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

bool reference_pixelate(struct picture *picture, const struct values *values)
{
    int size = values->value[0].number, w = picture->width, h = picture->height;
    return scale(picture, (w + size - 1) / size, (h + size - 1) / size, "area") && scale(picture, w, h, "nearest");
}
