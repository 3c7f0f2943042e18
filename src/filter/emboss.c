// emboss.c: relief lit from one of eight directions
#include "filter/filter.h"
#include "filter/rows.h"
#include "filter/stencil_avx2.h"

enum { RING = 8, WEIGHTS = 9 };

static const struct param params[] = {
    {"direction", PARAM_CHOICE, .max = RING - 1, .step = 1, .choices = "nw|n|ne|e|se|s|sw|w",
     .help = "direction of the light source"},
    {0},
};

// The 3x3 weights, row by row: -1 on the three neighbours towards the light, +1 on the three away from it.
static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    static const int place[RING] = {0, 1, 2, 5, 8, 7, 6, 3}; // nw n ne e se s sw w in the 3x3 square
    const int light = (int)values->value[0];
    arguments->radius = 1;
    arguments->count = WEIGHTS;
    for (int i = 0; i < WEIGHTS; i++)
        arguments->value[i] = 0;
    for (int side = -1; side <= 1; side++) {
        arguments->value[place[(light + side + RING) % RING]] = -1;
        arguments->value[place[(light + side + RING / 2) % RING]] = 1;
    }
    return true;
}

enum { SIDE = 3 }; // weights of 1, and of -1

// A row's neighbours.
struct relief {
    const uint8_t *bright[SIDE], *dark[SIDE], *centre;
};

// Pixels first..width-1, ROW_CHUNK / 2 at most.
VECTOR_CLONES static void relief_pixels(const struct relief *relief, uint8_t *rgba, int first, int width)
{
    const byte_pair *restrict a = (const byte_pair *)relief->bright[0], *restrict d =
                                                                            (const byte_pair *)relief->dark[0];
    const byte_pair *restrict b = (const byte_pair *)relief->bright[1], *restrict e =
                                                                            (const byte_pair *)relief->dark[1];
    const byte_pair *restrict c = (const byte_pair *)relief->bright[2], *restrict f =
                                                                            (const byte_pair *)relief->dark[2];
    const byte_pair *restrict centre = (const byte_pair *)relief->centre, *restrict alpha =
                                                                              (const byte_pair *)row_alpha;
    byte_pair *restrict to = (byte_pair *)rgba;
    for (int i = 2 * first; i < 2 * width; i++) {
        const int16_t even =
            (int16_t)(128 + (a[i] & 255) + (b[i] & 255) + (c[i] & 255) - (d[i] & 255) - (e[i] & 255) - (f[i] & 255));
        const int16_t odd =
            (int16_t)(128 + (a[i] >> 8) + (b[i] >> 8) + (c[i] >> 8) - (d[i] >> 8) - (e[i] >> 8) - (f[i] >> 8));
        to[i] = row_join((uint16_t)sat8(even), (uint16_t)sat8(odd), centre[i], alpha[i - 2 * first]);
    }
}

// Bytes first..end-1 of a grey row.
VECTOR_CLONES static void relief_grey(const struct relief *relief, uint8_t *restrict to, int first, int end)
{
    const uint8_t *restrict a = relief->bright[0], *restrict b = relief->bright[1], *restrict c = relief->bright[2];
    const uint8_t *restrict d = relief->dark[0], *restrict e = relief->dark[1], *restrict f = relief->dark[2];
    for (int i = first; i < end; i++)
        to[i] = (uint8_t)sat8(128 + a[i] + b[i] + c[i] - d[i] - e[i] - f[i]);
}

#ifdef HAVE_AVX2
// A bright byte and a dark one side by side take half the instructions.
AVX2_INLINE __m256i find_relief(const uint8_t *const *in, int at, int step, const void *numbers)
{
    const struct relief *relief = numbers;
    const __m256i a = avx2_load_once(relief->bright[0] + at), d = avx2_load_once(relief->dark[0] + at);
    const __m256i b = avx2_load_once(relief->bright[1] + at), e = avx2_load_once(relief->dark[1] + at);
    const __m256i c = avx2_load_once(relief->bright[2] + at), f = avx2_load_once(relief->dark[2] + at);
    const __m256i low =
        row_differ3_avx2(_mm256_unpacklo_epi8(a, d), _mm256_unpacklo_epi8(b, e), _mm256_unpacklo_epi8(c, f), 1);
    const __m256i high =
        row_differ3_avx2(_mm256_unpackhi_epi8(a, d), _mm256_unpackhi_epi8(b, e), _mm256_unpackhi_epi8(c, f), 1);
    return _mm256_xor_si256(_mm256_packs_epi16(low, high), _mm256_set1_epi8(-128)); // + 128, saturated
}

AVX2 static int relief_avx2(const struct relief *relief, const struct stencil_rows *rows)
{
    const struct relief kept = *relief; // which no store can change
    return stencil_map_avx2(find_relief, &kept, rows);
}
#endif

static void stencil_row(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    struct relief relief = {.centre = rows->in[1]};
    int brights = 0, darks = 0;
    for (int i = 0; i < WEIGHTS; i++) {
        const uint8_t *at = rows->in[i / 3] + rows->pixel_bytes * (i % 3 - 1);
        if (arguments->value[i] > 0)
            relief.bright[brights++] = at;
        else if (arguments->value[i] < 0)
            relief.dark[darks++] = at;
    }
    const int width = rows->width;
    int done = AVX2_MADE(relief_avx2(&relief, rows) / rows->pixel_bytes);
    if (rows->pixel_bytes == 1) {
        relief_grey(&relief, rows->out[0], done, width);
        return;
    }
    for (; done < width; done += ROW_CHUNK / 2)
        relief_pixels(&relief, rows->out[0], done, width - done < ROW_CHUNK / 2 ? width : done + ROW_CHUNK / 2);
}

extern const struct filter filter_emboss;
const struct filter filter_emboss = {
    .name = "emboss",
    .summary = "emboss: grey relief, lit from one of eight directions",
    .example = "emboss=ne",
    .kind = FILTER_STENCIL,
    .params = params,
    .prepare = prepare,
    .stencil_row = stencil_row,
    .grey_rows = true,
};
