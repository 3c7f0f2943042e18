// block_io.cl: how variants for GPUs read and write: four neighbouring pixels at a time, as words
#include "pass_io.cl"
#include "variants/words.cl"

enum { BLOCK_WIDTH = 4 };

// A pixel in a register is a word: the packed pixel, or the one value of a grey pixel.
#ifdef PASS_GREY
#define TO_WORD(p) ((uint)(p).g)
#define FROM_WORD(word) grey_pixel(word)
#else
#define TO_WORD(p) pack(p)
#define FROM_WORD(word) unpack(word)
#endif

// TO_WORD for the pixels of YUV loaders, which compute the channels separately.
#if defined(YUV_CL) && !defined(PASS_GREY)
#define LOADED_TO_WORD(p) low_bytes((p).r, (p).g, (p).b, (p).a)
#else
#define LOADED_TO_WORD(p) TO_WORD(p)
#endif

// Reads four pixels of the pass's input; x is a multiple of 4.
INLINE void input4(struct source source, arguments args, int x, int y, uint *word)
{
    pixel p[4];
#ifdef PASS_LOAD_MIRROR
    for (int i = 0; i < 4; i++)
        p[i] =
            load(source, args, PASS_LOAD_X(min(x + i, source.width - 1), source.width), PASS_LOAD_Y(y, source.height));
#else
    load4(source, args, x, PASS_LOAD_Y(y, source.height), p);
#endif
    for (int i = 0; i < 4; i++)
        word[i] = LOADED_TO_WORD(PASS_BEFORE(p[i], args, x + i, y));
}

// Reads four pixels of any row; x is a multiple of 4. Beyond the picture, the nearest edge pixels repeat.
INLINE void repeated4(struct source source, arguments args, int x, int y, uint *word)
{
    y = clamp(y, 0, source.height - 1);
    if (x >= 0 && x + BLOCK_WIDTH <= source.width) {
        input4(source, args, x, y, word);
    } else {
        for (int i = 0; i < BLOCK_WIDTH; i++)
            word[i] = TO_WORD(input(source, args, clamp(x + i, 0, source.width - 1), y));
    }
}

#ifdef PASS_TO_IMAGE

// Writes a row of the work-group's blocks. The work-items exchange their pixels first, so that neighbouring work-items
// write neighbouring pixels. The outermost `margin` work-items on each side have no pixels.
typedef __local uint *exchange;
enum { EXCHANGE_PIXELS = BLOCK_WIDTH * GROUP_ITEMS };

INLINE void store_row(DESTINATION to, layout layout, int x, int y, const pixel *p, int margin, exchange words)
{
    const int item = get_local_id(0), items = get_local_size(0), left = x - item * BLOCK_WIDTH;
    words += (int)get_local_id(1) * items * BLOCK_WIDTH;
    vstore4((uint4)(pack(p[0]), pack(p[1]), pack(p[2]), pack(p[3])), item, words);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = margin * BLOCK_WIDTH + item; i < (items - margin) * BLOCK_WIDTH; i += items) {
        if (left + i < layout.s0 && y < layout.s1)
            store(to, layout, left + i, y, unpack(words[i]));
    }
}

#else

// Stores four words at once. With the assembly, NVIDIA's compiler stores each row of a stencil as soon as it is
// computed. Without it, the compiler computes most of the block first and runs out of registers. Passes without a
// stencil and passes with a tile are faster without the assembly.
#if NV_ARCH > 0 && defined(PASS_STENCIL) && !defined(PASS_TILE)
#define STORE4(at, p0, p1, p2, p3)                                                                                     \
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(p0), "r"(p1), "r"(p2), "r"(p3) : "memory")
#else
#define STORE4(at, p0, p1, p2, p3) *(at) = (uint4)(p0, p1, p2, p3)
#endif

// Writes four pixels of the output. Pixels beyond the right edge go to the row's padding, or are left out.
INLINE void store4(DESTINATION to, layout layout, int x, int y, const pixel *p)
{
#if defined(PASS_STORE_MIRROR)
    for (int i = 0; i < 4; i++) {
        if (x + i < layout.s0)
            store(to, layout, x + i, y, p[i]);
    }
#elif defined(PASS_TO_GREY)
    *(__global uint *)(to + PASS_STORE_Y(y, layout.s1) * layout.s7 + x) =
        (uint)p[0].g | (uint)p[1].g << 8 | (uint)p[2].g << 16 | (uint)p[3].g << 24;
#else
    STORE4((__global uint4 *)(to + PASS_STORE_Y(y, layout.s1) * layout.s7 + x), pack(p[0]), pack(p[1]), pack(p[2]),
           pack(p[3]));
#endif
}

#endif

// Applies the filters after the stencil to four pixels from (x, y) on.
INLINE void after4(arguments args, int x, int y, const uint *word, pixel *p)
{
    for (int i = 0; i < BLOCK_WIDTH; i++)
        p[i] = PASS_AFTER(FROM_WORD(word[i]), args, x + i, y);
}
