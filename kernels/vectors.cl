// vectors.cl: the one door to processors' own instructions, for vectors of the language, and their plain twins
#ifndef VECTORS_CL
#define VECTORS_CL
#include "pixel.cl"

// Of 16 lanes of 32 bits, which are wider than registers: as the language's function a call that compilers warn of.
#ifdef __clang__
#define CONVERT(type, value) __builtin_convertvector(value, type)
#else
#define CONVERT(type, value) convert_##type(value)
#endif

// Asks for the line of cache at an address, to be written to or not. Beyond the end of memory it does no harm.
#ifdef __clang__
#define ASK_FOR(address, written) __builtin_prefetch((const void *)(uintptr_t)(address), written, 3)
#else
#define ASK_FOR(address, written)
#endif

// A processor: it has one memory, whatever the language calls its parts.
#if defined(__x86_64__) || defined(__aarch64__)
#define ONE_MEMORY
#endif

// As many words as a register holds, and the twos of 16 bits in them.
#if defined(__AVX512BW__) && defined(__clang__)
#define VECTOR_WORDS 16
typedef uint16 word_vector;
typedef int16 int_vector;
typedef short short_vector __attribute__((ext_vector_type(32)));
typedef ushort ushort_vector __attribute__((ext_vector_type(32)));
#define AS_WORDS(vector) as_uint16(vector)
#define AS_INTS(vector) as_int16(vector)
#define AS_SHORTS(vector) __builtin_astype(vector, short_vector)
#define AS_USHORTS(vector) __builtin_astype(vector, ushort_vector)
#else
#define VECTOR_WORDS 8
typedef uint8 word_vector;
typedef int8 int_vector;
typedef short16 short_vector;
typedef ushort16 ushort_vector;
#define AS_WORDS(vector) as_uint8(vector)
#define AS_INTS(vector) as_int8(vector)
#define AS_SHORTS(vector) as_short16(vector)
#define AS_USHORTS(vector) as_ushort16(vector)
#endif

// Words that lie anywhere in private memory. Not the language's functions, of which some compilers make many parts.
typedef word_vector __attribute__((aligned(2))) word_vector_anywhere;
#define WORDS_AT(from) (*(const word_vector_anywhere *)(from))
#define PUT_WORDS(words, to) (*(word_vector_anywhere *)(to) = (words))

// Pixels, their alpha being the centre's.
INLINE void put_colours(word_vector pixels, const uint *centre, uint *line)
{
    PUT_WORDS((pixels & 0xffffff) | (WORDS_AT(centre) & 0xff000000), line);
}

// Words `at`, a literal, and those that follow, of two vectors side by side.
#ifdef __clang__
#define BESIDE_8(at) (at), (at) + 1, (at) + 2, (at) + 3, (at) + 4, (at) + 5, (at) + 6, (at) + 7
#if VECTOR_WORDS == 16
#define BESIDE(a, b, at) __builtin_shufflevector(a, b, BESIDE_8(at), BESIDE_8((at) + 8))
#else
#define BESIDE(a, b, at) __builtin_shufflevector(a, b, BESIDE_8(at))
#endif
#else
INLINE word_vector beside(word_vector a, word_vector b, int at)
{
    const word_vector both[] = {a, b};
    return WORDS_AT((const uint *)both + at);
}
#define BESIDE(a, b, at) beside(a, b, at)
#endif

// Upper halves of products. In the language's terms each use spreads the factor anew, and PoCL's mul_hi goes lane by
// lane.
INLINE short16 upper_halves(short16 a, short b)
{
#ifdef __AVX2__
    return __builtin_ia32_pmulhw256(a, (short16)b);
#else
    return CONVERT(short16, CONVERT(int16, a) * (int)b >> 16);
#endif
}

// Instructions for whole vectors.
#if VECTOR_WORDS == 16
#define OWN(name) __builtin_ia32_##name##512
#elif defined(__AVX2__) && defined(__clang__)
#define OWN(name) __builtin_ia32_##name##256
#endif

INLINE short_vector upper_halves_of_vector(short_vector a, short b)
{
#if VECTOR_WORDS == 16
    return OWN(pmulhw)(a, (short_vector)b);
#else
    return upper_halves(a, b);
#endif
}

// Something of every byte of a vector, in 16 bits; which lane is whose only these functions know.
typedef struct {
    short_vector a, b;
} of_bytes;

#ifdef OWN
typedef char byte_vector __attribute__((ext_vector_type(4 * VECTOR_WORDS)));
#define AS_BYTES(vector) __builtin_astype(vector, byte_vector)
#define TWO(at) (at), (at) + 4 * VECTOR_WORDS
#define FOUR(at) (at), (at) + 4, (at) + 8, (at) + 12
#define FOURS_16(at) FOUR(at), FOUR((at) + 1), FOUR((at) + 2), FOUR((at) + 3)
#define TWO_8(at)                                                                                                      \
    TWO(at), TWO((at) + 1), TWO((at) + 2), TWO((at) + 3), TWO((at) + 4), TWO((at) + 5), TWO((at) + 6), TWO((at) + 7)
#if VECTOR_WORDS == 16
#define TWO_BY_TWO(x, y, at)                                                                                           \
    __builtin_shufflevector(AS_BYTES(x), AS_BYTES(y), TWO_8(at), TWO_8((at) + 16), TWO_8((at) + 32), TWO_8((at) + 48))
#define IN_FOURS(bytes) __builtin_shufflevector(bytes, bytes, FOURS_16(0), FOURS_16(16), FOURS_16(32), FOURS_16(48))
#else
#define TWO_BY_TWO(x, y, at) __builtin_shufflevector(AS_BYTES(x), AS_BYTES(y), TWO_8(at), TWO_8((at) + 16))
#define IN_FOURS(bytes) __builtin_shufflevector(bytes, bytes, FOURS_16(0), FOURS_16(16))
#endif
#endif

// x * weight of the one + y * weight of the other; 7 bits and a sign.
INLINE of_bytes weigh_bytes(word_vector x, int weight_x, word_vector y, int weight_y)
{
    of_bytes sums;
#ifdef OWN
    const short_vector weights = (short_vector)(short)((weight_x & 255) | weight_y * 256);
    sums.a = OWN(pmaddubsw)(TWO_BY_TWO(x, y, 0), AS_BYTES(weights));
    sums.b = OWN(pmaddubsw)(TWO_BY_TWO(x, y, 8), AS_BYTES(weights));
#else
    const ushort_vector u = AS_USHORTS(x), v = AS_USHORTS(y);
    const short_vector of_x = (short_vector)(short)weight_x, of_y = (short_vector)(short)weight_y;
    sums.a = AS_SHORTS(u & (ushort_vector)255) * of_x + AS_SHORTS(v & (ushort_vector)255) * of_y;
    sums.b = AS_SHORTS(u >> (ushort_vector)8) * of_x + AS_SHORTS(v >> (ushort_vector)8) * of_y;
#endif
    return sums;
}

INLINE of_bytes add_of_bytes(of_bytes x, of_bytes y)
{
    x.a += y.a;
    x.b += y.b;
    return x;
}

// a * b / 2^15, rounded.
INLINE short_vector rounded_products(short_vector a, short b)
{
#ifdef OWN
    return OWN(pmulhrsw)(a, (short_vector)b);
#else
    return CONVERT(short16, (CONVERT(int16, a) * (int)b + 0x4000) >> 15);
#endif
}

// Bytes again, saturated.
INLINE word_vector bytes_of(of_bytes values)
{
#ifdef OWN
    return AS_WORDS(OWN(packuswb)(values.a, values.b));
#else
    const short_vector least = (short_vector)0, most = (short_vector)255;
    return AS_WORDS(min(max(values.a, least), most) | min(max(values.b, least), most) << (short_vector)8);
#endif
}

#ifdef OWN

// 256 bytes in registers, looked up for every byte of a vector.
typedef int ints_of_table __attribute__((ext_vector_type(4 * VECTOR_WORDS), aligned(4)));
typedef struct {
    byte_vector part[VECTOR_WORDS == 16 ? 4 : 16];
} byte_table;

#if VECTOR_WORDS == 16

INLINE byte_table byte_table_of(arguments values)
{
    byte_table table;
#pragma unroll
    for (int i = 0; i < 4; i++)
        table.part[i] = CONVERT(byte_vector, ((__global const ints_of_table *)values)[i]);
    return table;
}

// Of the lower byte of each two, what is above it being of no account. Its upper bits choose two values, of a half of
// the table each, its highest one the half, its lowest one the value.
INLINE ushort_vector look_up_lower(const byte_table *table, ushort_vector bytes)
{
    const short_vector place = AS_SHORTS(bytes >> (ushort_vector)1);
    const short_vector low = OWN(vpermi2varhi)(AS_SHORTS(table->part[0]), place, AS_SHORTS(table->part[1]));
    const short_vector high = OWN(vpermi2varhi)(AS_SHORTS(table->part[2]), place, AS_SHORTS(table->part[3]));
    const short_vector two = AS_SHORTS(bytes << (ushort_vector)8) < (short_vector)0 ? high : low;
    return AS_USHORTS(two) >> ((bytes & (ushort_vector)1) << (ushort_vector)3);
}

INLINE word_vector look_up(const byte_table *table, word_vector bytes)
{
    const ushort_vector even = AS_USHORTS(bytes), odd = even >> (ushort_vector)8;
    return AS_WORDS((look_up_lower(table, even) & (ushort_vector)255) | look_up_lower(table, odd) << (ushort_vector)8);
}

#else

// Sixteen values a part, in both lanes of the register.
INLINE byte_table byte_table_of(arguments values)
{
    byte_table table;
#pragma unroll
    for (int i = 0; i < 16; i++) {
        // By halves: int16 takes 64 bytes, of which compilers warn where registers have 32.
        const char16 part = (char16)(CONVERT(char8, vload8(2 * i, values)), CONVERT(char8, vload8(2 * i + 1, values)));
        table.part[i] = __builtin_shufflevector(part, part, BESIDE_8(0), BESIDE_8(8), BESIDE_8(0), BESIDE_8(8));
    }
    return table;
}

// A byte's lower half is looked up in each part; bits of its upper half, which are on top in `choice`, then choose, two
// by two from the inside out, so that registers do.
INLINE byte_vector look_up_1(const byte_vector *part, byte_vector place, const byte_vector *choice)
{
    return OWN(pshufb)(*part, place);
}

#define LOOK_UP(count, half, bit)                                                                                      \
    INLINE byte_vector look_up_##count(const byte_vector *part, byte_vector place, const byte_vector *choice)          \
    {                                                                                                                  \
        const byte_vector low = look_up_##half(part, place, choice);                                                   \
        return choice[bit] < (byte_vector)0 ? look_up_##half(part + half, place, choice) : low;                        \
    }
LOOK_UP(2, 1, 0)
LOOK_UP(4, 2, 1)
LOOK_UP(8, 4, 2)
LOOK_UP(16, 8, 3)
#undef LOOK_UP

INLINE word_vector look_up(const byte_table *table, word_vector bytes)
{
    const byte_vector choice[] = {AS_BYTES(bytes << 3), AS_BYTES(bytes << 2), AS_BYTES(bytes << 1), AS_BYTES(bytes)};
    return AS_WORDS(look_up_16(table->part, AS_BYTES(bytes & 0x0f0f0f0f), choice));
}

#endif
#endif

// Of each word the lower half of the one, the upper half of the other.
INLINE word_vector halves(word_vector lower, word_vector upper)
{
    return AS_WORDS(AS_SHORTS((word_vector)0xffff0000) ? AS_SHORTS(upper) : AS_SHORTS(lower));
}

// Where words are twos of 16 bits: sum + one two's products with the other's, all signed. In the language's terms
// compilers order sums anew and do not find the instruction.
INLINE int_vector dot2_of_vector(word_vector weights, word_vector values, int_vector sum)
{
#ifdef OWN
    return sum + OWN(pmaddwd)(AS_SHORTS(weights), AS_SHORTS(values));
#else
    const int_vector w = AS_INTS(weights), v = AS_INTS(values);
    return sum + (w << 16 >> 16) * (v << 16 >> 16) + (w >> 16) * (v >> 16);
#endif
}

// Pixels of their channels, saturated, without alpha.
INLINE word_vector join_saturated(int_vector r, int_vector g, int_vector b)
{
#ifdef OWN
    // in each 16 bytes: four of each channel
    const byte_vector all = OWN(packuswb)(OWN(packssdw)(r, g), OWN(packssdw)(b, b));
    return AS_WORDS(IN_FOURS(all));
#else
    const int_vector least = (int_vector)0, most = (int_vector)255;
    const int_vector pixels = min(max(r, least), most) | min(max(g, least), most) << 8 | min(max(b, least), most) << 16;
    return AS_WORDS(pixels);
#endif
}

#endif
