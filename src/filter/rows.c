// rows.c: what the CPU row functions share
#include "filter/rows.h"

#include "base/avx2.h"

const pixel_word row_alpha[ROW_CHUNK / 2] = {[0 ... ROW_CHUNK / 2 - 1] = 0xff000000u};

VECTOR_CLONES static void copy_alpha(pixel_word *restrict to, const pixel_word *restrict from, int first, int width)
{
    for (int x = first; x < width; x++)
        to[x] = (to[x] & 0x00ffffffu) | (from[x] & 0xff000000u);
}

void row_copy_alpha(const struct stencil_rows *rows, int number, int first)
{
    uint8_t *to = number == 0 ? rows->out : rows->below;
    if (rows->pixel_bytes == 4)
        copy_alpha((pixel_word *)to, (const pixel_word *)rows->in[number + 1], first, rows->width);
}

VECTOR_CLONES void row_to_grey(const uint8_t *restrict rgba, uint8_t *restrict grey, int width)
{
    const pixel_word *restrict from = (const pixel_word *)rgba;
    for (int x = 0; x < width; x++)
        grey[x] = (uint8_t)from[x];
}

VECTOR_CLONES static void spread_grey(const uint8_t *restrict grey, pixel_word *restrict to, int first, int width)
{
    for (int x = first; x < width; x++)
        to[x] = grey[x] * 0x010101u | 0xff000000u;
}

#ifdef HAVE_AVX2
// The same for as many pixels as fit, and how many that is.
AVX2 static int spread_avx2(const uint8_t *grey, pixel_word *to, int width)
{
    const __m256i spread = _mm256_setr_epi8(0, 0, 0, -1, 1, 1, 1, -1, 2, 2, 2, -1, 3, 3, 3, -1, 4, 4, 4, -1, 5, 5, 5,
                                            -1, 6, 6, 6, -1, 7, 7, 7, -1);
    const __m256i alpha = _mm256_set1_epi32((int32_t)0xff000000u);
    int x = 0;
    for (; x + 8 <= width; x += 8) {
        avx2_fetch_to_write(to + x);
        const __m256i pixels = _mm256_broadcastq_epi64(_mm_loadl_epi64((const __m128i *)(grey + x)));
        avx2_store(to + x, _mm256_or_si256(_mm256_shuffle_epi8(pixels, spread), alpha));
    }
    return x;
}
#else
static int spread_avx2(const uint8_t *grey, pixel_word *to, int width)
{
    return 0;
}
#endif

void row_from_grey(const uint8_t *grey, uint8_t *rgba, int width)
{
    pixel_word *to = (pixel_word *)rgba;
    spread_grey(grey, to, avx2_works() ? spread_avx2(grey, to, width) : 0, width);
}
