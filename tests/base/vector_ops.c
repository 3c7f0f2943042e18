// vector_ops.c: compares the operations of base/vector.h with plain C; compiled once per instruction set
#include "vector_ops.h"

#include "base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if VECTOR_BYTES

enum { BYTES = VECTOR_BYTES, LANES = BYTES / 2, WORDS = BYTES / 4, ROUNDS = 200 };

// An operand: bytes, and the same memory as wider lanes. Extreme values are frequent.
union operand {
    uint8_t u8[BYTES];
    uint16_t u16[LANES];
    int16_t s16[LANES];
    int32_t s32[WORDS];
    uint32_t u32[WORDS];
};

static uint32_t random_word(uint32_t *state)
{
    static const uint32_t extremes[] = {0,           0xffffffffu, 0x80008000u, 0x7fff7fffu,
                                        0x80000000u, 0x7fffffffu, 0x01ff00ffu};
    *state = *state * 1664525u + 1013904223u;
    const uint32_t kind = *state >> 28;
    return kind < 7 ? extremes[kind] : (*state >> 8) * 0x9e3779b1u;
}

static int nearest(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

// Compares each lane of `call` with `want`, an expression of the lane's number `i`.
#define LANES_ARE(type, call, count, want)                                                                             \
    do {                                                                                                               \
        union operand got;                                                                                             \
        vec_store_##type(&got, call);                                                                                  \
        int wrong = -1;                                                                                                \
        for (int i = 0; i < (count); i++)                                                                              \
            if (got.type[i] != (want))                                                                                 \
                wrong = i;                                                                                             \
        check_that(check, wrong < 0, "line %d, lane %d: %s", __LINE__, wrong, #call);                                  \
    } while (0)

static void test_arithmetic(struct check *check, const union operand *p, const union operand *q)
{
    const vec_u8 a = vec_load_u8(p), b = vec_load_u8(q);
    const vec_s16 c = vec_load_s16(p), d = vec_load_s16(q);
    const int shift = 16 - VECTOR_UPPER_SHIFT;
    LANES_ARE(u8, a, BYTES, p->u8[i]);
    LANES_ARE(s16, vec_spread_s16(-3), LANES, -3);
    LANES_ARE(u8, vec_min_u8(a, b), BYTES, p->u8[i] < q->u8[i] ? p->u8[i] : q->u8[i]);
    LANES_ARE(u8, vec_max_u8(a, b), BYTES, p->u8[i] > q->u8[i] ? p->u8[i] : q->u8[i]);
    LANES_ARE(s16, vec_add_sat_s16(c, d), LANES, nearest(p->s16[i] + q->s16[i], INT16_MIN, INT16_MAX));
    LANES_ARE(s16, vec_upper_s16(c >> shift, d), LANES, (p->s16[i] >> shift) * q->s16[i] >> VECTOR_UPPER_SHIFT);
    LANES_ARE(u16, vec_upper_u16((vec_u16)c, (vec_u16)d), LANES, (uint16_t)((uint32_t)p->u16[i] * q->u16[i] >> 16));
    LANES_ARE(s32, vec_pair_products(c >> 1, d), WORDS,
              (p->s16[2 * i] >> 1) * q->s16[2 * i] + (p->s16[2 * i + 1] >> 1) * q->s16[2 * i + 1]);
    LANES_ARE(u16, vec_pair_sums(a), LANES, p->u8[2 * i] + p->u8[2 * i + 1]);
    LANES_ARE(s16, vec_scale_s16(c >> 1, d), LANES, ((p->s16[i] >> 1) * q->s16[i] + (1 << 14)) >> 15);
    LANES_ARE(s32, vec_root_s32((vec_s32)((vec_u32)a >> 12)), WORDS, (int)(sqrt(p->u32[i] >> 12) + 0.5));
    LANES_ARE(u16, vec_even(a, 7), LANES, p->u8[2 * i] << 7);
    LANES_ARE(u16, vec_odd(a, 6), LANES, p->u8[2 * i + 1] << 6);
    LANES_ARE(u8, vec_choose_u8((vec_u8)(a < b), a, b), BYTES, p->u8[i] < q->u8[i] ? p->u8[i] : q->u8[i]);
}

static void test_order(struct check *check, const union operand *p, const union operand *q)
{
    const vec_u8 a = vec_load_u8(p), b = vec_load_u8(q);
    const struct vec_two_u16 wide = vec_widen_u8(a);
    const struct vec_two_u8 turns = vec_interleave_u8(a, b), apart = vec_separate_u8(turns.a, turns.b);
    const struct vec_two_s16 weighed = vec_weigh_u8(a, 3, b, -127), pairs = vec_zip_s16((vec_s16)a, (vec_s16)b);
    const vec_s16 down = vec_spread_s16(-300);
    LANES_ARE(u8, vec_pack_s16(weighed.a, weighed.b), BYTES, nearest(3 * p->u8[i] - 127 * q->u8[i], 0, 255));
    LANES_ARE(s16, vec_pack_s32((vec_s32)pairs.a >> 16, (vec_s32)pairs.b >> 16), LANES, q->s16[i]);
    LANES_ARE(s16, vec_pack_s32((vec_s32)pairs.a << 16 >> 16, (vec_s32)pairs.b << 16 >> 16), LANES, p->s16[i]);
    LANES_ARE(u8, vec_shuffle_u8(a, 1, 0, 3, 2, -1, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14), BYTES,
              i % 16 == 4 ? 0 : p->u8[(i % 16 == 5 ? i : i ^ 1) - (i % 16 == 5)]);
    LANES_ARE(u8, vec_pack_s16((vec_s16)wide.a, (vec_s16)wide.b), BYTES, p->u8[i]);
    LANES_ARE(u8, vec_pack_s16((vec_s16)wide.a + down, (vec_s16)wide.b + down), BYTES, 0);
    LANES_ARE(u8, vec_pack_s16((vec_s16)wide.a - down, (vec_s16)wide.b - down), BYTES, 255);
    LANES_ARE(s16, vec_pack_s32(vec_load_s32(p), vec_load_s32(p)), 1, nearest(p->s32[i], INT16_MIN, INT16_MAX));
    const struct vec_two_s16 wider = vec_widen(a, 6);
    LANES_ARE(u8, vec_narrow(wider.a, wider.b, 6), BYTES, p->u8[i]);
    LANES_ARE(u8, vec_narrow(wider.a - 640, wider.b - 640, 6), BYTES, nearest(p->u8[i] - 10, 0, 255));
    LANES_ARE(u8, vec_narrow(wider.a + 640, wider.b + 640, 6), BYTES, nearest(p->u8[i] + 10, 0, 255));
    LANES_ARE(u8, turns.a, BYTES, (i % 2 ? q : p)->u8[i / 2]);
    LANES_ARE(u8, turns.b, BYTES, (i % 2 ? q : p)->u8[LANES + i / 2]);
    LANES_ARE(u8, apart.a, BYTES, p->u8[i]);
    LANES_ARE(u8, apart.b, BYTES, q->u8[i]);
    LANES_ARE(u32, vec_reverse_u32((vec_u32)a), WORDS, p->u32[WORDS - 1 - i]);
    LANES_ARE(u16, vec_load_half(p), LANES, p->u8[i]);
    union operand half = *q;
    vec_store_half(&half, (vec_u16)a >> 8);
    LANES_ARE(u8, vec_load_u8(&half), BYTES, i < LANES ? p->u8[2 * i + 1] : q->u8[i]);
}

static void test_parts(struct check *check, const union operand *p, const union operand *q)
{
    const vec_u16 a = vec_load_u16(p), b = vec_load_u16(q);
#define LANE(i) ((i) < LANES ? p : q)->u16[(i) % LANES]
    LANES_ARE(u16, vec_later_parts(a, b, 0), LANES, LANE(i));
#if VECTOR_BYTES > 16
    LANES_ARE(u16, vec_later_parts(a, b, 1), LANES, LANE(i + 8));
#endif
#if VECTOR_BYTES > 32
    LANES_ARE(u16, vec_later_parts(a, b, 2), LANES, LANE(i + 16));
    LANES_ARE(u16, vec_later_parts(a, b, 3), LANES, LANE(i + 24));
#endif
#undef LANE
    LANES_ARE(u16, vec_middle(a, b), LANES, (i % 8 < 4 ? p : q)->u16[i % 8 < 4 ? i + 4 : i - 4]);
    for (int bytes = -4; bytes <= BYTES + 4; bytes += 4) {
        uint8_t *part = malloc(bytes > 0 ? (size_t)bytes : 1); // exact, so that sanitizers report reads beyond it
        for (int i = 0; i < bytes; i++)
            part[i] = p->u8[i % BYTES];
        LANES_ARE(u8, vec_load_part(part, bytes), BYTES, i < bytes ? p->u8[i] : 0);
        free(part);
    }
}

// Sums of products of pairs: one byte of *p and one byte of *q.
static void test_products(struct check *check, const union operand *p, const union operand *q)
{
    static const int weights[][2] = {{-128, 0}, {127, 1}, {-1, 127}, {5, -123}};
    static const int large[][2] = {{32767, -32768}, {-7, 32767}, {300, 0}, {-32768, 128}};
    const vec_u8 a = vec_load_u8(p), b = vec_load_u8(q), zero = {0};
    for (int k = 0; k < 8; k++) {
        const int *few = weights[k % 4], *many = large[k % 4];
        const bool single = k >= 4;
        const struct vec_pairs pairs = vec_pair_u8(a, single ? zero : b);
        const int few_bias = VECTOR_PAIR_BIAS * (few[0] + (single ? 0 : few[1]));
        const int many_bias = VECTOR_PAIR_BIAS * (many[0] + (single ? 0 : many[1]));
        vec_s16 sums[2];
        vec_s32 wide[4];
        sums[0] = sums[1] = vec_spread_s16(few_bias - 100);
        wide[0] = wide[1] = wide[2] = wide[3] = vec_spread_s32(many_bias + 7);
        vec_add_products_s8(sums, pairs, vec_weights_s8(few[0], single ? 0 : few[1]), single);
        vec_add_products_s16(wide, pairs, vec_weights_s16(many[0], single ? 0 : many[1]), single);
        const vec_s16 low = vec_pack_s32(wide[0] >> 16, wide[1] >> 16),
                      high = vec_pack_s32(wide[2] >> 16, wide[3] >> 16);
        LANES_ARE(u8, vec_pack_s16(sums[0] >> 7, sums[1] >> 7), BYTES,
                  nearest((few[0] * p->u8[i] + (single ? 0 : few[1] * q->u8[i]) - 100) >> 7, 0, 255));
        LANES_ARE(u8, vec_pack_s16(low, high), BYTES,
                  nearest((many[0] * p->u8[i] + (single ? 0 : many[1] * q->u8[i]) + 7) >> 16, 0, 255));
    }
}

static void test_pixels(struct check *check, const union operand *four)
{
    const uint8_t *from = four[0].u8;
    _Alignas(BYTES) uint8_t to[4 * BYTES];
    const struct vec_rgb made = vec_load_rgba(from);
    LANES_ARE(u8, made.r, BYTES, from[4 * i]);
    LANES_ARE(u8, made.g, BYTES, from[4 * i + 1]);
    LANES_ARE(u8, made.b, BYTES, from[4 * i + 2]);
    vec_s16 wide[4];
    for (int i = 0; i < 4; i++)
        wide[i] = vec_load_s16(&four[i]);
    int off = 0;
    for (int stream = 0; stream < 2; stream++) {
        memset(to, 1, sizeof(to));
        vec_store_joined(to, vec_join(wide[0], wide[1], 7), vec_join(wide[1], wide[2], 7),
                         vec_join(wide[2], wide[3], 7), stream);
        for (int i = 0; i < 4 * BYTES; i++) {
            const int x = i / 4, value = four[(i % 4 + x % 2) % 4].s16[x / 2] >> 7;
            off += to[i] != (i % 4 == 3 ? 255 : nearest(value, 0, 255));
        }
        check_that(check, off == 0, "vec_store_joined, stream %d: %d bytes are wrong", stream, off);
    }
    for (int swap = 0; swap < 2; swap++) {
        vec_store_rgb24(to, from, swap);
        for (int i = 0; i < 4 * BYTES; i++)
            off += to[i] != (i % 4 == 3 ? 255 : from[i / 4 * 3 + (swap ? 2 - i % 4 : i % 4)]);
        check_that(check, off == 0, "vec_store_rgb24, swap %d: %d bytes are wrong", swap, off);
    }
    uint8_t entries[256];
    for (int i = 0; i < 256; i++)
        entries[i] = (uint8_t)(i * 37 ^ from[i % BYTES]);
    const struct vec_table table = vec_load_table(entries);
    LANES_ARE(u8, vec_look_up(&table, vec_load_u8(from)), BYTES, entries[from[i]]);
    _Alignas(BYTES) union operand streamed;
    vec_write_u8(&streamed, made.g, true);
    check_that(check, memcmp(&streamed, &made.g, BYTES) == 0, "vec_write_u8");
}

// Compares the pixels of `made`, with the alpha of `from`, with `want`: an expression of the pixel `c` and the place
// `i` of a channel in it.
#define PIXELS_ARE(made, want)                                                                                         \
    do {                                                                                                               \
        uint8_t to[4 * VECTOR_PIXELS];                                                                                 \
        int off = 0;                                                                                                   \
        vec_store_pixels(to, made, pixels, false);                                                                     \
        for (int x = 0; x < VECTOR_PIXELS; x++)                                                                        \
            for (int i = 0; i < 4; i++) {                                                                              \
                const uint8_t *c = from + 4 * x;                                                                       \
                off += to[4 * x + i] != (i == 3 ? c[3] : (want));                                                      \
            }                                                                                                          \
        check_that(check, off == 0, "line %d: %d bytes are wrong: %s", __LINE__, off, #made);                          \
    } while (0)

static void test_blocks(struct check *check, const uint8_t *from)
{
    const vec_pixels pixels = vec_load_pixels(from);
    const vec_sums luma = vec_weigh_pixels(pixels, 77, 150, 29, 128), all = vec_weigh_pixels(pixels, 1, 1, 1, 0);
    const vec_levels brown = vec_shift_sums(vec_weigh_pixels(pixels, 50, 98, 24, 64), 7),
                     grey = vec_shift_sums(luma, 8);
    PIXELS_ARE(pixels, c[i]);
    PIXELS_ARE(vec_join_grey(grey), (77 * c[0] + 150 * c[1] + 29 * c[2] + 128) >> 8);
    PIXELS_ARE(vec_join_grey((vec_levels)(grey >= (uint8_t)128)),
               77 * c[0] + 150 * c[1] + 29 * c[2] + 128 >= 128 << 8 ? 255 : 0);
    PIXELS_ARE(vec_join_grey(vec_scale_sums(all, 10923)), (c[0] + c[1] + c[2] + 1) / 3);
    PIXELS_ARE(vec_join_levels(brown, grey, vec_scale_sums(all, 10923)),
               i == 0   ? nearest((50 * c[0] + 98 * c[1] + 24 * c[2] + 64) >> 7, 0, 255)
               : i == 1 ? (77 * c[0] + 150 * c[1] + 29 * c[2] + 128) >> 8
                        : (c[0] + c[1] + c[2] + 1) / 3);
    vec_pixels kept = pixels;
    for (int i = 0; i < VECTOR_COLOURS; i++)
        kept.val[i] = (vec_u8)(pixels.val[i] == vec_largest_colour(pixels));
    PIXELS_ARE(kept, c[i] >= c[0] && c[i] >= c[1] && c[i] >= c[2] ? 255 : 0);
}

void VECTORS_NAME(vector_ops)(struct check *check)
{
    uint32_t state = 1;
    for (int round = 0; round < ROUNDS; round++) {
        union operand four[4];
        for (int i = 0; i < 4 * WORDS; i++)
            four[i / WORDS].u32[i % WORDS] = random_word(&state);
        test_arithmetic(check, &four[0], &four[1]);
        test_order(check, &four[2], &four[3]);
        test_parts(check, &four[0], &four[3]);
        test_products(check, &four[1], &four[2]);
        test_pixels(check, four);
        test_blocks(check, four[0].u8);
    }
    check_that(check, vector_begin(0, 8, 11) == 0 && vector_begin(8, 8, 11) == 3, "vector_begin");
}

#else

void VECTORS_NAME(vector_ops)(struct check *check) {}

#endif
