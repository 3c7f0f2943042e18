// vector.h: operations on vectors, for files that are compiled once per level (vectors.h)
//
// VECTOR_BYTES is the size of a vector: 64 (AVX-512), 32 (AVX2), 16 (NEON), or 0 at the plain level, which has no
// vectors. The types are the compilers' own vectors: + - * & | ^ ~ << >> == < work on each lane. This file adds loads
// and stores, and operations that need a special instruction. Lanes are in the order of memory, unless a comment says
// otherwise.
#pragma once

#include "base/vectors.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VECTOR_INLINE static inline __attribute__((always_inline, unused))

// A pixel's four bytes, at any address.
typedef uint32_t __attribute__((aligned(1), may_alias)) pixel_word;

// Returns where a block of `size` elements begins in a row of `count` (at least `size`): at `x`, or earlier if the row
// ends inside the block. The last two blocks may thus overlap, so a row must not be computed in place.
VECTOR_INLINE int vector_begin(int x, int size, int count)
{
    return x + size <= count ? x : count - size;
}

#if VECTOR_BYTES

#if VECTOR_BYTES == 16
#include <arm_neon.h>
#elif VECTOR_BYTES == 32
#include <immintrin.h>
#define VECTOR_X86(name) _mm256_##name
#define VECTOR_16_BYTES(...) _mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__)) // in each 128-bit part
typedef __m256i vector_x86;
#elif VECTOR_BYTES == 64
#include <immintrin.h>
#define VECTOR_X86(name) _mm512_##name
#define VECTOR_16_BYTES(...) _mm512_broadcast_i32x4(_mm_setr_epi8(__VA_ARGS__))
typedef __m512i vector_x86;
#endif

// vec_u8, vec_u16, ...; vec_load_u8(from) and vec_store_u8(to, vector) at any address; vec_spread_u8(lane): equal lanes
#define VECTOR_TYPE(name, lane)                                                                                        \
    typedef lane vec_##name __attribute__((vector_size(VECTOR_BYTES)));                                                \
    typedef lane vec_##name##_anywhere __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));              \
    VECTOR_INLINE vec_##name vec_load_##name(const void *from)                                                         \
    {                                                                                                                  \
        return *(const vec_##name##_anywhere *)from;                                                                   \
    }                                                                                                                  \
    VECTOR_INLINE void vec_store_##name(void *to, vec_##name vector)                                                   \
    {                                                                                                                  \
        *(vec_##name##_anywhere *)to = vector;                                                                         \
    }                                                                                                                  \
    VECTOR_INLINE vec_##name vec_spread_##name(int value)                                                              \
    {                                                                                                                  \
        return (vec_##name){0} + (lane)value;                                                                          \
    }                                                                                                                  \
    struct vec_two_##name {                                                                                            \
        vec_##name a, b;                                                                                               \
    };
VECTOR_TYPE(u8, uint8_t)
VECTOR_TYPE(s8, int8_t)
VECTOR_TYPE(u16, uint16_t)
VECTOR_TYPE(s16, int16_t)
VECTOR_TYPE(u32, uint32_t)
VECTOR_TYPE(s32, int32_t)
#undef VECTOR_TYPE

// Reads the first `bytes` bytes of a vector, a multiple of 4. The other bytes are 0; their memory is not read.
VECTOR_INLINE vec_u8 vec_load_part(const void *from, int bytes)
{
    if (bytes >= VECTOR_BYTES)
        return vec_load_u8(from);
#if VECTOR_BYTES == 64
    return (vec_u8)_mm512_maskz_loadu_epi32(bytes > 0 ? (__mmask16)(0xffff >> (16 - bytes / 4)) : 0, from);
#elif VECTOR_BYTES == 32
    const __m256i wanted = _mm256_cmpgt_epi32(_mm256_set1_epi32(bytes), _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
    return (vec_u8)_mm256_maskload_epi32(from, wanted);
#else
    vec_u8 part = {0};
    if (bytes > 0)
        memcpy(&part, from, (size_t)bytes);
    return part;
#endif
}

// Loads VECTOR_BYTES / 2 bytes as lanes of 16 bits.
typedef uint8_t vec_half __attribute__((vector_size(VECTOR_BYTES / 2), aligned(1), may_alias));
VECTOR_INLINE vec_u16 vec_load_half(const void *from)
{
#if VECTOR_BYTES == 64 // GCC would load twice
    return (vec_u16)_mm512_cvtepu8_epi16(_mm256_loadu_si256(from));
#endif
    return __builtin_convertvector(*(const vec_half *)from, vec_u16);
}

// The even bytes and the odd bytes of a vector as lanes of 16 bits, times 1 << shift; `shift` is 0 to 8.
#define vec_even(bytes, shift) (((vec_u16)(bytes)&0xff) << (shift))
#define vec_odd(bytes, shift) (((vec_u16)(bytes)&0xff00) >> (8 - (shift)))

// The bytes of `yes` where `mask` is all ones, and the bytes of `no` where it is 0.
VECTOR_INLINE vec_u8 vec_choose_u8(vec_u8 mask, vec_u8 yes, vec_u8 no)
{
#if VECTOR_BYTES == 16
    return vbslq_u8(mask, yes, no);
#elif VECTOR_BYTES == 32
    return (vec_u8)_mm256_blendv_epi8((__m256i)no, (__m256i)yes, (__m256i)mask);
#else
    return (vec_u8)_mm512_ternarylogic_epi32((__m512i)mask, (__m512i)yes, (__m512i)no, 0xca);
#endif
}

#if VECTOR_BYTES == 16
#define VECTOR_BINARY(name, lane, neon, x86)                                                                           \
    VECTOR_INLINE vec_##lane vec_##name##_##lane(vec_##lane a, vec_##lane b)                                           \
    {                                                                                                                  \
        return (vec_##lane)neon(a, b);                                                                                 \
    }
#else
#define VECTOR_BINARY(name, lane, neon, x86)                                                                           \
    VECTOR_INLINE vec_##lane vec_##name##_##lane(vec_##lane a, vec_##lane b)                                           \
    {                                                                                                                  \
        return (vec_##lane)VECTOR_X86(x86)((vector_x86)a, (vector_x86)b);                                              \
    }
#endif
// vec_min_u8(a, b), vec_max_s32(a, b), ...: the smaller or larger of two lanes. vec_add_sat_s16: saturating sums.
VECTOR_BINARY(min, u8, vminq_u8, min_epu8)
VECTOR_BINARY(max, u8, vmaxq_u8, max_epu8)
VECTOR_BINARY(min, s32, vminq_s32, min_epi32)
VECTOR_BINARY(max, s32, vmaxq_s32, max_epi32)
VECTOR_BINARY(max, s16, vmaxq_s16, max_epi16)
VECTOR_BINARY(add_sat, s16, vqaddq_s16, adds_epi16)

// Upper halves of products: a * b >> VECTOR_UPPER_SHIFT. NEON's instruction doubles the product, so its shift is 15. A
// caller that needs a * b >> 16 shifts one factor right by 16 - VECTOR_UPPER_SHIFT bits.
enum { VECTOR_UPPER_SHIFT = VECTOR_BYTES == 16 ? 15 : 16 };
VECTOR_BINARY(upper, s16, vqdmulhq_s16, mulhi_epi16)
VECTOR_BINARY(scale, s16, vqrdmulhq_s16, mulhrs_epi16) // (a * b + (1 << 14)) >> 15
#undef VECTOR_BINARY

// a * b >> 16
VECTOR_INLINE vec_u16 vec_upper_u16(vec_u16 a, vec_u16 b)
{
#if VECTOR_BYTES == 16
    const uint32x4_t low = vmull_u16(vget_low_u16(a), vget_low_u16(b)), high = vmull_high_u16(a, b);
    return vuzp2q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));
#else
    return (vec_u16)VECTOR_X86(mulhi_epu16)((vector_x86)a, (vector_x86)b);
#endif
}

// The integers nearest to the square roots; exact for lanes below 1 << 20.
VECTOR_INLINE vec_s32 vec_root_s32(vec_s32 lanes)
{
#if VECTOR_BYTES == 16
    return vcvtnq_s32_f32(vsqrtq_f32(vcvtq_f32_s32(lanes)));
#else
    return (vec_s32)VECTOR_X86(cvtps_epi32)(VECTOR_X86(sqrt_ps)(VECTOR_X86(cvtepi32_ps)((vector_x86)lanes)));
#endif
}

// Sums of two neighbouring lanes: of the products of 16-bit lanes (vec_pair_products), or of bytes (vec_pair_sums).
VECTOR_INLINE vec_s32 vec_pair_products(vec_s16 a, vec_s16 b)
{
#if VECTOR_BYTES == 16
    return vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b));
#else
    return (vec_s32)VECTOR_X86(madd_epi16)((vector_x86)a, (vector_x86)b);
#endif
}

VECTOR_INLINE vec_u16 vec_pair_sums(vec_u8 bytes)
{
#if VECTOR_BYTES == 16
    return vpaddlq_u8(bytes);
#else
    return (vec_u16)VECTOR_X86(maddubs_epi16)((vector_x86)bytes, VECTOR_X86(set1_epi8)(1));
#endif
}

// vec_widen: bytes as lanes of 16 bits, times 1 << shift. vec_narrow: bytes from such lanes: a >> shift and b >> shift
// (arithmetic), saturated to 0..255. The order of the lanes between the two depends on the instruction set.
#if VECTOR_BYTES == 16
#define vec_widen(bytes, shift)                                                                                        \
    ((struct vec_two_s16){(vec_s16)vshll_n_u8(vget_low_u8(bytes), shift), (vec_s16)vshll_high_n_u8(bytes, shift)})
#define vec_narrow(a, b, shift) vqshrun_high_n_s16(vqshrun_n_s16(a, shift), b, shift)
#else
#define vec_widen(bytes, shift) ((struct vec_two_s16){(vec_s16)vec_even(bytes, shift), (vec_s16)vec_odd(bytes, shift)})
#define vec_narrow(a, b, shift) vec_interleave_halves(vec_pack_s16((a) >> (shift), (b) >> (shift)))
#endif

VECTOR_INLINE struct vec_two_u16 vec_widen_u8(vec_u8 bytes)
{
#if VECTOR_BYTES == 16
    return (struct vec_two_u16){vmovl_u8(vget_low_u8(bytes)), vmovl_high_u8(bytes)};
#else
    const vector_x86 all = (vector_x86)bytes, zero = {0};
    return (struct vec_two_u16){(vec_u16)VECTOR_X86(unpacklo_epi8)(all, zero),
                                (vec_u16)VECTOR_X86(unpackhi_epi8)(all, zero)};
#endif
}

// a * a_weight + b * b_weight for each byte, in the order of vec_widen_u8. The weights are constants, -127 to 127. The
// result must fit 16 bits.
VECTOR_INLINE struct vec_two_s16 vec_weigh_u8(vec_u8 a, int a_weight, vec_u8 b, int b_weight)
{
#if VECTOR_BYTES == 16
    if (a_weight == 1 && b_weight == -1)
        return (struct vec_two_s16){(vec_s16)vsubl_u8(vget_low_u8(a), vget_low_u8(b)), (vec_s16)vsubl_high_u8(a, b)};
    const struct vec_two_u16 first = vec_widen_u8(a), second = vec_widen_u8(b);
    return (struct vec_two_s16){(vec_s16)first.a * (int16_t)a_weight + (vec_s16)second.a * (int16_t)b_weight,
                                (vec_s16)first.b * (int16_t)a_weight + (vec_s16)second.b * (int16_t)b_weight};
#else
    vector_x86 x = (vector_x86)a, y = (vector_x86)b;
    __asm__("" : "+v"(x), "+v"(y)); // or GCC loads each of them twice from memory
    const vector_x86 weights = VECTOR_X86(set1_epi16)((int16_t)((a_weight & 255) | b_weight * 256));
    return (struct vec_two_s16){(vec_s16)VECTOR_X86(maddubs_epi16)(VECTOR_X86(unpacklo_epi8)(x, y), weights),
                                (vec_s16)VECTOR_X86(maddubs_epi16)(VECTOR_X86(unpackhi_epi8)(x, y), weights)};
#endif
}

// Interleaves 16-bit lanes: a0 b0 a1 b1 ..., in the order that vec_pack_s32 undoes.
VECTOR_INLINE struct vec_two_s16 vec_zip_s16(vec_s16 a, vec_s16 b)
{
#if VECTOR_BYTES == 16
    return (struct vec_two_s16){vzip1q_s16(a, b), vzip2q_s16(a, b)};
#else
    return (struct vec_two_s16){(vec_s16)VECTOR_X86(unpacklo_epi16)((vector_x86)a, (vector_x86)b),
                                (vec_s16)VECTOR_X86(unpackhi_epi16)((vector_x86)a, (vector_x86)b)};
#endif
}

// Splits vectors into parts of 16 bytes. Returns the parts of `a` from number `count` on, then the first parts of `b`.
// `count` is a constant below the number of parts.
VECTOR_INLINE vec_u16 vec_later_parts(vec_u16 a, vec_u16 b, int count)
{
#if VECTOR_BYTES == 32
    return count ? (vec_u16)_mm256_permute2x128_si256((__m256i)a, (__m256i)b, 0x21) : a;
#elif VECTOR_BYTES == 64
    switch (count) {
    case 1:
        return (vec_u16)_mm512_alignr_epi64((__m512i)b, (__m512i)a, 2);
    case 2:
        return (vec_u16)_mm512_alignr_epi64((__m512i)b, (__m512i)a, 4);
    case 3:
        return (vec_u16)_mm512_alignr_epi64((__m512i)b, (__m512i)a, 6);
    }
#endif
    return a;
}

// In each part of 16 bytes: the upper half of `a`, then the lower half of `b`.
VECTOR_INLINE vec_u16 vec_middle(vec_u16 a, vec_u16 b)
{
#if VECTOR_BYTES == 16
    return vextq_u16(a, b, 4);
#else
    return (vec_u16)VECTOR_X86(alignr_epi8)((vector_x86)b, (vector_x86)a, 8);
#endif
}

// Pairs of bytes, and two weights for each pair. On NEON vec_pair_u8 subtracts VECTOR_PAIR_BIAS from each byte, because
// its multiplications need two signed factors.
#if VECTOR_BYTES == 16
enum { VECTOR_PAIR_BIAS = 128 };
struct vec_pairs {
    vec_s8 first, second;
};
struct vec_weights {
    vec_s16 first, second;
};
#else
enum { VECTOR_PAIR_BIAS = 0 };
struct vec_pairs {
    vec_u8 low, high;
};
struct vec_weights {
    vec_s16 both;
};
#endif

VECTOR_INLINE struct vec_pairs vec_pair_u8(vec_u8 first, vec_u8 second)
{
#if VECTOR_BYTES == 16
    return (struct vec_pairs){(vec_s8)(first ^ VECTOR_PAIR_BIAS), (vec_s8)(second ^ VECTOR_PAIR_BIAS)};
#else
    return (struct vec_pairs){(vec_u8)VECTOR_X86(unpacklo_epi8)((vector_x86)first, (vector_x86)second),
                              (vec_u8)VECTOR_X86(unpackhi_epi8)((vector_x86)first, (vector_x86)second)};
#endif
}

// Weights for vec_add_products_s8: -128 to 127.
VECTOR_INLINE struct vec_weights vec_weights_s8(int first, int second)
{
#if VECTOR_BYTES == 16
    return (struct vec_weights){(vec_s16)vec_spread_s8(first), (vec_s16)vec_spread_s8(second)};
#else
    return (struct vec_weights){vec_spread_s16((first & 255) | second * 256)};
#endif
}

// Weights for vec_add_products_s16: -32768 to 32767.
VECTOR_INLINE struct vec_weights vec_weights_s16(int first, int second)
{
#if VECTOR_BYTES == 16
    return (struct vec_weights){vec_spread_s16(first), vec_spread_s16(second)};
#else
    return (struct vec_weights){(vec_s16)vec_spread_s32((first & 0xffff) | (int)((unsigned)second << 16))};
#endif
}

// Adds both products of each pair to sums of 16 bits, in the order of vec_widen_u8. The two products together must fit
// 16 bits; the sums may wrap around. `single`: the second weights are 0. Without the assembly, compilers would multiply
// everything before they add, and run out of registers.
VECTOR_INLINE void vec_add_products_s8(vec_s16 sums[2], struct vec_pairs pairs, struct vec_weights weights, bool single)
{
#if VECTOR_BYTES == 16
#define VECTOR_PRODUCTS "smlal %0.8h, %2.8b, %3.8b\n\tsmlal2 %1.8h, %2.16b, %3.16b"
    __asm__(VECTOR_PRODUCTS : "+w"(sums[0]), "+w"(sums[1]) : "w"(pairs.first), "w"(weights.first));
    if (!single)
        __asm__(VECTOR_PRODUCTS : "+w"(sums[0]), "+w"(sums[1]) : "w"(pairs.second), "w"(weights.second));
#undef VECTOR_PRODUCTS
#else
    sums[0] += (vec_s16)VECTOR_X86(maddubs_epi16)((vector_x86)pairs.low, (vector_x86)weights.both);
    __asm__("" : "+v"(sums[0]));
    sums[1] += (vec_s16)VECTOR_X86(maddubs_epi16)((vector_x86)pairs.high, (vector_x86)weights.both);
    __asm__("" : "+v"(sums[1]));
#endif
}

// The same for sums of 32 bits: two vectors for each vector of 16-bit sums, in the order that
// vec_pack_s32 undoes.
VECTOR_INLINE void vec_add_products_s16(vec_s32 sums[4], struct vec_pairs pairs, struct vec_weights weights,
                                        bool single)
{
#if VECTOR_BYTES == 16
    const vec_s16 first[] = {vmovl_s8(vget_low_s8(pairs.first)), vmovl_high_s8(pairs.first)};
    const vec_s16 second[] = {vmovl_s8(vget_low_s8(pairs.second)), vmovl_high_s8(pairs.second)};
    for (int i = 0; i < 2; i++) {
        sums[2 * i] = vmlal_s16(sums[2 * i], vget_low_s16(first[i]), vget_low_s16(weights.first));
        sums[2 * i + 1] = vmlal_high_s16(sums[2 * i + 1], first[i], weights.first);
        if (!single) {
            sums[2 * i] = vmlal_s16(sums[2 * i], vget_low_s16(second[i]), vget_low_s16(weights.second));
            sums[2 * i + 1] = vmlal_high_s16(sums[2 * i + 1], second[i], weights.second);
        }
        __asm__("" : "+w"(sums[2 * i]), "+w"(sums[2 * i + 1]));
    }
#else
    const struct vec_two_u16 low = vec_widen_u8(pairs.low), high = vec_widen_u8(pairs.high);
    const vec_u16 all[] = {low.a, low.b, high.a, high.b};
    for (int i = 0; i < 4; i++) {
#if VECTOR_BYTES == 64
        __asm__("vpdpwssd %2, %1, %0" : "+v"(sums[i]) : "v"(all[i]), "v"(weights.both));
#else
        sums[i] += vec_pair_products((vec_s16)all[i], weights.both);
        __asm__("" : "+v"(sums[i]));
#endif
    }
#endif
}

// Narrow lanes with saturation: vec_pack_s16 to unsigned bytes, vec_pack_s32 to signed 16 bits.
VECTOR_INLINE vec_u8 vec_pack_s16(vec_s16 a, vec_s16 b)
{
#if VECTOR_BYTES == 16
    return vqmovun_high_s16(vqmovun_s16(a), b);
#else
    return (vec_u8)VECTOR_X86(packus_epi16)((vector_x86)a, (vector_x86)b);
#endif
}

VECTOR_INLINE vec_s16 vec_pack_s32(vec_s32 a, vec_s32 b)
{
#if VECTOR_BYTES == 16
    return vqmovn_high_s32(vqmovn_s32(a), b);
#else
    return (vec_s16)VECTOR_X86(packs_epi32)((vector_x86)a, (vector_x86)b);
#endif
}

// In each part of 16 bytes: the bytes with these 16 indices; 0 for index -1.
#if VECTOR_BYTES == 16
#define vec_shuffle_u8(bytes, ...) vqtbl1q_u8(bytes, (vec_u8)(vec_s8){__VA_ARGS__})
#else
#define vec_shuffle_u8(bytes, ...) ((vec_u8)VECTOR_X86(shuffle_epi8)((vector_x86)(bytes), VECTOR_16_BYTES(__VA_ARGS__)))
#endif

// In each part of 16 bytes: interleaves the two halves: 0 8 1 9 2 10 ...
VECTOR_INLINE vec_u8 vec_interleave_halves(vec_u8 bytes)
{
    return vec_shuffle_u8(bytes, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
}

// Interleaves bytes: a0 b0 a1 b1 ...
VECTOR_INLINE struct vec_two_u8 vec_interleave_u8(vec_u8 a, vec_u8 b)
{
#if VECTOR_BYTES == 16
    return (struct vec_two_u8){vzip1q_u8(a, b), vzip2q_u8(a, b)};
#else
    const vector_x86 low = VECTOR_X86(unpacklo_epi8)((vector_x86)a, (vector_x86)b);
    const vector_x86 high = VECTOR_X86(unpackhi_epi8)((vector_x86)a, (vector_x86)b);
#if VECTOR_BYTES == 32
    return (struct vec_two_u8){(vec_u8)_mm256_permute2x128_si256(low, high, 0x20),
                               (vec_u8)_mm256_permute2x128_si256(low, high, 0x31)};
#else
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    return (struct vec_two_u8){(vec_u8)_mm512_permutex2var_epi64(low, first, high),
                               (vec_u8)_mm512_permutex2var_epi64(low, second, high)};
#endif
#endif
}

// Undoes vec_interleave_u8: returns the even bytes of both vectors, and the odd bytes.
VECTOR_INLINE struct vec_two_u8 vec_separate_u8(vec_u8 first, vec_u8 second)
{
#if VECTOR_BYTES == 16
    return (struct vec_two_u8){vuzp1q_u8(first, second), vuzp2q_u8(first, second)};
#elif VECTOR_BYTES == 32
    const __m256i even = _mm256_packus_epi16((__m256i)vec_even(first, 0), (__m256i)vec_even(second, 0));
    const __m256i odd = _mm256_packus_epi16((__m256i)vec_odd(first, 0), (__m256i)vec_odd(second, 0));
    return (struct vec_two_u8){(vec_u8)_mm256_permute4x64_epi64(even, 0xd8),
                               (vec_u8)_mm256_permute4x64_epi64(odd, 0xd8)};
#else
    const vec_u32 even = 0x06040200 + 0x08080808 * (vec_u32){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return (struct vec_two_u8){
        (vec_u8)_mm512_permutex2var_epi8((__m512i)first, (__m512i)even, (__m512i)second),
        (vec_u8)_mm512_permutex2var_epi8((__m512i)first, (__m512i)(even + 0x01010101), (__m512i)second)};
#endif
}

// Stores VECTOR_BYTES / 2 bytes from lanes of 16 bits, which are below 256.
VECTOR_INLINE void vec_store_half(void *to, vec_u16 lanes)
{
    *(vec_half *)to = __builtin_convertvector(lanes, vec_half);
}

// Blocks of VECTOR_PIXELS RGBA pixels: one vector of bytes, but on NEON one vector for each channel. The first
// VECTOR_COLOURS vectors of `val` have the colours. vec_sums and vec_levels have one value for each pixel.
//
//   vec_store_pixels(rgba, made, kept, stream)  vec_write_u8 of the colours of `made` and the alpha of `kept`
//   vec_weigh_pixels(pixels, r, g, b, added)    sums r R + g G + b B + added; r + g, added <= 255; r + g + b <= 256
//   vec_shift_sums(sums, shift)                 sum >> shift; `shift` is 1 to 8
//   vec_scale_sums(sums, factor)                (sum * factor + (1 << 14)) >> 15; sums below 1 << 15
//   vec_join_levels(red, green, blue)           pixels; saturates levels to 255
//   vec_join_grey(levels)                       pixels; the levels are 0 to 255, or masks
//   vec_largest_colour(pixels)                  to be compared with each vector of colours
#if VECTOR_BYTES == 16
enum { VECTOR_PIXELS = 16, VECTOR_COLOURS = 3 };
typedef uint8x16x4_t vec_pixels;
typedef struct vec_two_u16 vec_sums;
typedef vec_u8 vec_levels;
#define vec_load_pixels(rgba) vld4q_u8(rgba)
#define vec_store_pixels(rgba, made, kept, stream)                                                                     \
    vst4q_u8(rgba, (vec_pixels){{(made).val[0], (made).val[1], (made).val[2], (kept).val[3]}})
#define vec_shift_sums(sums, shift) vqshrn_high_n_u16(vqshrn_n_u16((sums).a, shift), (sums).b, shift)
#define vec_scale_sums(sums, factor)                                                                                   \
    vec_pack_s16(vec_scale_s16((vec_s16)(sums).a, vec_spread_s16(factor)),                                             \
                 vec_scale_s16((vec_s16)(sums).b, vec_spread_s16(factor)))
#define vec_join_levels(red, green, blue) ((vec_pixels){{red, green, blue}})
#define vec_join_grey(levels) vec_join_levels(levels, levels, levels)
#define vec_largest_colour(pixels) vec_max_u8((pixels).val[0], vec_max_u8((pixels).val[1], (pixels).val[2]))
#else
enum { VECTOR_PIXELS = VECTOR_BYTES / 4, VECTOR_COLOURS = 1 };
typedef struct {
    vec_u8 val[1];
} vec_pixels;
typedef vec_s32 vec_sums, vec_levels;
#define vec_load_pixels(rgba) ((vec_pixels){{vec_load_u8(rgba)}})
#define vec_store_pixels(rgba, made, kept, stream)                                                                     \
    vec_write_u8(rgba, vec_choose_u8((vec_u8)vec_spread_u32((int)0xff000000u), (kept).val[0], (made).val[0]), stream)
#define vec_shift_sums(sums, shift) ((sums) >> (shift))
#define vec_scale_sums(sums, factor) (vec_s32) vec_scale_s16((vec_s16)(sums), vec_spread_s16(factor))
#define vec_join_levels(red, green, blue)                                                                              \
    ((vec_pixels){{vec_shuffle_u8(vec_pack_s16(vec_pack_s32(red, blue), vec_pack_s32(green, green)), 0, 8, 4, 0, 1, 9, \
                                  5, 1, 2, 10, 6, 2, 3, 11, 7, 3)}})
#define vec_join_grey(levels)                                                                                          \
    ((vec_pixels){{vec_shuffle_u8((vec_u8)(levels), 0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12)}})
#define VECTOR_NEXT_COLOURS(bytes) vec_shuffle_u8(bytes, 1, 2, 0, 3, 5, 6, 4, 7, 9, 10, 8, 11, 13, 14, 12, 15)
#define vec_largest_colour(pixels)                                                                                     \
    vec_max_u8((pixels).val[0], vec_max_u8(VECTOR_NEXT_COLOURS((pixels).val[0]),                                       \
                                           VECTOR_NEXT_COLOURS(VECTOR_NEXT_COLOURS((pixels).val[0]))))
#endif

VECTOR_INLINE vec_sums vec_weigh_pixels(vec_pixels pixels, int red, int green, int blue, int added)
{
#if VECTOR_BYTES == 16
    const vec_u8 r = vec_spread_u8(red), g = vec_spread_u8(green), b = vec_spread_u8(blue);
    const vec_u16 begin = vec_spread_u16(added);
    const vec_u16 low = vmlal_u8(vmlal_u8(begin, vget_low_u8(pixels.val[0]), vget_low_u8(r)),
                                 vget_low_u8(pixels.val[1]), vget_low_u8(g));
    const vec_u16 high = vmlal_high_u8(vmlal_high_u8(begin, pixels.val[0], r), pixels.val[1], g);
    return (vec_sums){vmlal_u8(low, vget_low_u8(pixels.val[2]), vget_low_u8(b)), vmlal_high_u8(high, pixels.val[2], b)};
#else
    // These instructions take one signed factor: the channel minus 128.
    const vec_u32 weights = vec_spread_u32(red | green << 8 | blue << 16);
    const vec_s32 begin = vec_spread_s32(128 * (red + green + blue) + added);
    const vector_x86 channels = (vector_x86)(pixels.val[0] ^ 128);
#if VECTOR_BYTES == 64
    return (vec_s32)_mm512_dpbusd_epi32((__m512i)begin, (__m512i)weights, channels);
#else
    const __m256i pairs = _mm256_maddubs_epi16((__m256i)weights, channels);
    return (vec_s32)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)) + begin;
#endif
#endif
}

// The colours of VECTOR_BYTES pixels.
struct vec_rgb {
    vec_u8 r, g, b;
};

VECTOR_INLINE struct vec_rgb vec_load_rgba(const uint8_t *rgba)
{
#if VECTOR_BYTES == 16
    const uint8x16x4_t all = vld4q_u8(rgba);
    return (struct vec_rgb){all.val[0], all.val[1], all.val[2]};
#elif VECTOR_BYTES == 32
    __m256i four[4]; // 4 pixels of the left half and 4 of the right half, by channels
    for (int i = 0; i < 4; i++) {
        const __m128i *from = (const __m128i *)rgba + i;
        const __m256i left = _mm256_castsi128_si256(_mm_loadu_si128(from));
        four[i] = _mm256_shuffle_epi8(_mm256_inserti128_si256(left, _mm_loadu_si128(from + 4), 1),
                                      VECTOR_16_BYTES(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    }
    const __m256i low = _mm256_unpacklo_epi32(four[0], four[1]), next_low = _mm256_unpacklo_epi32(four[2], four[3]);
    const __m256i high = _mm256_unpackhi_epi32(four[0], four[1]), next_high = _mm256_unpackhi_epi32(four[2], four[3]);
    return (struct vec_rgb){(vec_u8)_mm256_unpacklo_epi64(low, next_low), (vec_u8)_mm256_unpackhi_epi64(low, next_low),
                            (vec_u8)_mm256_unpacklo_epi64(high, next_high)};
#else
    const vec_u32 each_fourth = 0x0c080400 + 0x10101010 * (vec_u32){0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};
    const vec_u32 second = 0x01010101 * (vec_u32){0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    const __m512i red_green = (__m512i)(each_fourth + second), blue = (__m512i)(each_fourth + 0x02020202);
    const __m512i a = _mm512_loadu_si512(rgba), b = _mm512_loadu_si512(rgba + 64);
    const __m512i c = _mm512_loadu_si512(rgba + 128), d = _mm512_loadu_si512(rgba + 192);
    const __m512i left = _mm512_permutex2var_epi8(a, red_green, b), right = _mm512_permutex2var_epi8(c, red_green, d);
    return (struct vec_rgb){
        (vec_u8)_mm512_shuffle_i64x2(left, right, 0x44), (vec_u8)_mm512_shuffle_i64x2(left, right, 0xee),
        (vec_u8)_mm512_shuffle_i64x2(_mm512_permutex2var_epi8(a, blue, b), _mm512_permutex2var_epi8(c, blue, d), 0x44)};
#endif
}

// Bytes for vec_store_joined from 16-bit lanes of the even pixels and of the odd pixels: even >> shift and odd >> shift
// (arithmetic), saturated to 0..255. The order of the bytes depends on the instruction set.
#if VECTOR_BYTES == 16
#define vec_join(even, odd, shift) vec_interleave_halves(vec_narrow(even, odd, shift))
#elif VECTOR_BYTES == 32
#define vec_join(even, odd, shift) vec_narrow(even, odd, shift)
#else
#define vec_join(even, odd, shift) vec_pack_s16((even) >> (shift), (odd) >> (shift))
#endif

// `stream`: a non-temporal store (on NEON an ordinary one), which writes memory without reading it into the caches.
// Then `to` is a multiple of VECTOR_BYTES, and the thread needs a full memory barrier before another thread reads.
VECTOR_INLINE void vec_write_u8(void *to, vec_u8 bytes, bool stream)
{
#if VECTOR_BYTES == 32
    if (stream)
        _mm256_stream_si256(to, (__m256i)bytes);
    else
#elif VECTOR_BYTES == 64
    if (stream)
        _mm512_stream_si512(to, (__m512i)bytes);
    else
#endif
        vec_store_u8(to, bytes);
}

// Stores VECTOR_BYTES opaque pixels, from channels that vec_join made. `stream`: with non-temporal stores.
VECTOR_INLINE void vec_store_joined(uint8_t *rgba, vec_u8 red, vec_u8 green, vec_u8 blue, bool stream)
{
#if VECTOR_BYTES == 16
    const uint8x16x4_t pixels = {{red, green, blue, vec_spread_u8(255)}};
    vst4q_u8(rgba, pixels);
#elif VECTOR_BYTES == 32
    const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7), alpha = _mm256_set1_epi8(-1);
    const __m256i r = _mm256_permutevar8x32_epi32((__m256i)red, order);
    const __m256i g = _mm256_permutevar8x32_epi32((__m256i)green, order);
    const __m256i b = _mm256_permutevar8x32_epi32((__m256i)blue, order);
    const __m256i rg0 = _mm256_unpacklo_epi8(r, g), rg1 = _mm256_unpackhi_epi8(r, g);
    const __m256i ba0 = _mm256_unpacklo_epi8(b, alpha), ba1 = _mm256_unpackhi_epi8(b, alpha);
    const __m256i pixels[] = {_mm256_unpacklo_epi16(rg0, ba0), _mm256_unpackhi_epi16(rg0, ba0),
                              _mm256_unpacklo_epi16(rg1, ba1), _mm256_unpackhi_epi16(rg1, ba1)};
    for (int i = 0; i < 4; i++)
        vec_write_u8(rgba + 32 * i, (vec_u8)pixels[i], stream);
#else
    const vec_u32 number = {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15}; // the order of vec_pack_s16
    for (int i = 0; i < 4; i++) {
        const __m512i places =
            (__m512i)((number + 16 * (uint32_t)i) * 0x010101 + 0xff004000); // green's indices are 64 higher
        const __m512i red_green =
            _mm512_mask2_permutex2var_epi8((__m512i)red, places, 0x3333333333333333, (__m512i)green);
        vec_write_u8(rgba + 64 * i,
                     (vec_u8)_mm512_mask_permutexvar_epi8(red_green, 0x4444444444444444, places, (__m512i)blue),
                     stream);
    }
#endif
}

// Makes VECTOR_BYTES opaque pixels from 3 bytes per pixel. `swap` exchanges the first and third channels.
VECTOR_INLINE void vec_store_rgb24(uint8_t *rgba, const uint8_t *from, bool swap)
{
#if VECTOR_BYTES == 16
    const uint8x16x3_t all = vld3q_u8(from);
    const uint8x16x4_t pixels = {{all.val[swap ? 2 : 0], all.val[1], all.val[swap ? 0 : 2], vec_spread_u8(255)}};
    vst4q_u8(rgba, pixels);
#else
    const __m256i kept = _mm256_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1, 4, 5, 6, -1, 7, 8, 9,
                                          -1, 10, 11, 12, -1, 13, 14, 15, -1);
    const __m256i swapped = _mm256_setr_epi8(2, 1, 0, -1, 5, 4, 3, -1, 8, 7, 6, -1, 11, 10, 9, -1, 6, 5, 4, -1, 9, 8, 7,
                                             -1, 12, 11, 10, -1, 15, 14, 13, -1);
    for (int x = 0; x < VECTOR_BYTES; x += 8, from += 24) { // bytes 0..15 and 8..23 of 8 pixels
        const __m256i left = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)from));
        const __m256i both = _mm256_inserti128_si256(left, _mm_loadu_si128((const __m128i *)(from + 8)), 1);
        const __m256i colours = _mm256_shuffle_epi8(both, swap ? swapped : kept);
        _mm256_storeu_si256((__m256i *)(rgba + 4 * x), _mm256_or_si256(colours, _mm256_set1_epi32((int)0xff000000u)));
    }
#endif
}

// Reverses the order of pixels of 4 bytes.
VECTOR_INLINE vec_u32 vec_reverse_u32(vec_u32 pixels)
{
#if VECTOR_BYTES == 16
    return (vec_u32)vqtbl1q_u8((vec_u8)pixels, (vec_u8){12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3});
#elif VECTOR_BYTES == 32
    return (vec_u32)_mm256_permutevar8x32_epi32((__m256i)pixels, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0));
#else
    return (vec_u32)_mm512_permutexvar_epi32(_mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                                             (__m512i)pixels);
#endif
}

// A table of 256 bytes. vec_look_up replaces each byte by the table's entry with this number.
struct vec_table {
#if VECTOR_BYTES == 16
    uint8x16x4_t part[4];
#else
    vec_u8 part[VECTOR_BYTES == 64 ? 4 : 16];
#endif
};

VECTOR_INLINE struct vec_table vec_load_table(const uint8_t *entries)
{
    struct vec_table table;
    for (size_t i = 0; i < sizeof(table.part) / sizeof(*table.part); i++)
#if VECTOR_BYTES == 16
        table.part[i] = vld1q_u8_x4(entries + 64 * i);
#elif VECTOR_BYTES == 32
        table.part[i] = (vec_u8)_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)entries + i));
#else
        table.part[i] = vec_load_u8(entries + VECTOR_BYTES * i);
#endif
    return table;
}

VECTOR_INLINE vec_u8 vec_look_up(const struct vec_table *table, vec_u8 bytes)
{
#if VECTOR_BYTES == 16
    vec_u8 found = vqtbl4q_u8(table->part[0], bytes);
    for (int i = 1; i < 4; i++) // a part without this index keeps the byte
        found = vqtbx4q_u8(found, table->part[i], bytes - (uint8_t)(64 * i));
    return found;
#elif VECTOR_BYTES == 32
    // Looks up the lower half of each byte in all parts. The bits of the upper half then choose between pairs of
    // results.
    const __m256i place = (__m256i)(bytes & 15);
    const __m256i choice[] = {(__m256i)((vec_u16)bytes << 3), (__m256i)((vec_u16)bytes << 2),
                              (__m256i)((vec_u16)bytes << 1), (__m256i)bytes};
    __m256i found[16];
    for (int i = 0; i < 16; i++)
        found[i] = _mm256_shuffle_epi8((__m256i)table->part[i], place);
    for (int bit = 0, count = 8; bit < 4; bit++, count /= 2)
        for (int i = 0; i < count; i++)
            found[i] = _mm256_blendv_epi8(found[2 * i], found[2 * i + 1], choice[bit]);
    return (vec_u8)found[0];
#else
    const vec_u8 *t = table->part;
    const __m512i places = (__m512i)bytes, low = _mm512_permutex2var_epi8((__m512i)t[0], places, (__m512i)t[1]);
    const __m512i high = _mm512_permutex2var_epi8((__m512i)t[2], places, (__m512i)t[3]);
    return (vec_u8)_mm512_mask_mov_epi8(low, _mm512_movepi8_mask(places), high);
#endif
}

enum { CACHE_LINE = 64 }; // bytes

// vec_fetch, vec_fetch_once and vec_fetch_to_write prefetch a cache line that will be read, read once (2 kB after the
// address) or written. The address may be invalid. They do nothing except on x86, where measurements showed a gain.
#if VECTOR_BYTES == 16
#define VECTOR_FETCH(address, ...) ((void)(address))
#else
#define VECTOR_FETCH(...) __builtin_prefetch(__VA_ARGS__)
#endif
#define vec_fetch(from) VECTOR_FETCH(from, 0, 2)
#define vec_fetch_once(from) VECTOR_FETCH((const char *)(from) + 2048, 0, 0)
#define vec_fetch_to_write(to) VECTOR_FETCH(to, 1, 2)

#endif
