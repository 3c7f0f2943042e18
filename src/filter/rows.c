// rows.c: what the CPU row functions share
#include "filter/rows.h"

#include "base/avx2.h"

const pixel_word row_alpha[ROW_CHUNK / 2] = {[0 ... ROW_CHUNK / 2 - 1] = 0xff000000u};

struct stencil_rows rows_below(const struct stencil_rows *rows, int count)
{
    struct stencil_rows below = *rows;
    below.in += count;
    below.first = rows->first && count == 0;
    for (int i = 0; i + count < STENCIL_ROWS; i++) {
        below.out[i] = rows->out[i + count];
        below.next.in[i] = rows->next.in[i + count];
        below.next.out[i] = rows->next.out[i + count];
    }
    return below;
}

VECTOR_CLONES static void copy_alpha(pixel_word *restrict to, const pixel_word *restrict from, int first, int width)
{
    for (int x = first; x < width; x++)
        to[x] = (to[x] & 0x00ffffffu) | (from[x] & 0xff000000u);
}

void row_copy_alpha(const struct stencil_rows *rows, int number, int first)
{
    uint8_t *to = rows->out[number];
    if (rows->pixel_bytes == 4)
        copy_alpha((pixel_word *)to, (const pixel_word *)rows->in[number + 1], first, rows->width);
}

VECTOR_CLONES static void take_grey(const pixel_word *restrict from, uint8_t *restrict grey, int first, int width)
{
    for (int x = first; x < width; x++)
        grey[x] = (uint8_t)from[x];
}

#ifdef HAVE_AVX2
// The same for as many pixels as fit, and how many that is.
AVX2 static int take_avx2(const uint8_t *rgba, uint8_t *grey, int width)
{
    const __m256i first = _mm256_set1_epi32(255), order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    int x = 0;
    for (; x + 32 <= width; x += 32) {
        const uint8_t *from = rgba + 4 * x;
        const __m256i a = _mm256_and_si256(avx2_load(from), first), b = _mm256_and_si256(avx2_load(from + 32), first);
        const __m256i c = _mm256_and_si256(avx2_load(from + 64), first);
        const __m256i d = _mm256_and_si256(avx2_load(from + 96), first);
        const __m256i bytes = _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
        avx2_store(grey + x, _mm256_permutevar8x32_epi32(bytes, order));
    }
    return x;
}
#endif

void row_to_grey(const uint8_t *rgba, uint8_t *grey, int width)
{
    take_grey((const pixel_word *)rgba, grey, AVX2_MADE(take_avx2(rgba, grey, width)), width);
}

VECTOR_CLONES static void spread_grey(const uint8_t *restrict grey, const pixel_word *restrict alpha,
                                      pixel_word *restrict to, int first, int width)
{
    for (int x = first; x < width; x++)
        to[x] = grey[x] * 0x010101u | 0xff000000u;
    for (int x = first; alpha && x < width; x++)
        to[x] &= alpha[x] | 0x00ffffffu;
}

#ifdef HAVE_AVX2
// The same for as many pixels as fit, and how many that is.
AVX2 static int spread_avx2(const uint8_t *grey, const uint8_t *alpha, uint8_t *to, int width)
{
    const __m256i spread = _mm256_setr_epi8(0, 0, 0, -1, 1, 1, 1, -1, 2, 2, 2, -1, 3, 3, 3, -1, 4, 4, 4, -1, 5, 5, 5,
                                            -1, 6, 6, 6, -1, 7, 7, 7, -1);
    const __m256i opaque = _mm256_set1_epi32((int32_t)0xff000000u);
    int x = 0;
    for (; x + 8 <= width; x += 8) {
        avx2_fetch_to_write(to + 4 * x);
        const __m256i pixels = _mm256_broadcastq_epi64(_mm_loadl_epi64((const __m128i *)(grey + x)));
        const __m256i upper = alpha ? _mm256_and_si256(avx2_load(alpha + 4 * x), opaque) : opaque;
        avx2_store(to + 4 * x, _mm256_or_si256(_mm256_shuffle_epi8(pixels, spread), upper));
    }
    return x;
}
#endif

void row_from_grey(const uint8_t *grey, const uint8_t *alpha, uint8_t *rgba, int width)
{
    const int done = AVX2_MADE(spread_avx2(grey, alpha, rgba, width));
    spread_grey(grey, (const pixel_word *)alpha, (pixel_word *)rgba, done, width);
}
