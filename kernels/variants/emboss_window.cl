// emboss_window.cl: relief of a whole block, by sums of packed pixels: all channels at once
//
// Two sums together hold the sum of each channel: the sum of the whole words and the sum of the words under RED_BLUE.
// Red and blue are the halves of the second sum. Green begins at bit 8 of the difference of the two sums, and only
// alpha lies above it. The sum of a channel is between -765 and 765; EMBOSS_BIAS makes it positive.
#define RED_BLUE 0x00ff00ffu

enum { EMBOSS_WIDTH = 4, EMBOSS_REACH = EMBOSS_WIDTH + 2, EMBOSS_SPARE = 1024, EMBOSS_BIAS = EMBOSS_SPARE + 128 };

INLINE uint emboss_pixel(const uint *centre, arguments args)
{
    // Grey input uses this code only in a tile: elsewhere NVIDIA's compiler would load single bytes from global memory.
#if defined(PASS_EQUAL_CHANNELS) && defined(PASS_TILE)
    int sum = 128;
#pragma unroll
    for (int i = 5; i < 9; i++) {
        const int at = (i / 3 - 1) * EMBOSS_REACH + i % 3 - 1;
        sum += args[i] * ((int)(centre[at] & 255) - (int)(centre[-at] & 255));
    }
    const uint value = sat8(sum);
    return low_bytes(value, value, value, centre[0] >> 24);
#else
    uint all = EMBOSS_BIAS * 0x10101u, red_blue = EMBOSS_BIAS * 0x10001u;
#pragma unroll
    for (int i = 5; i < 9; i++) {
        const int at = (i / 3 - 1) * EMBOSS_REACH + i % 3 - 1;
        const uint w = args[i], word = centre[at], other = centre[-at];
        all += w * (word - other);
        red_blue += w * ((word & RED_BLUE) - (other & RED_BLUE));
    }
#ifdef PASS_GREY
    return sat8((int)(red_blue & 0xffff) - EMBOSS_SPARE);
#else
    return saturated_bytes((int)(red_blue & 0xffff) - EMBOSS_SPARE,
                           (int)((all - red_blue) >> 8 & 0xffff) - EMBOSS_SPARE, (int)(red_blue >> 16) - EMBOSS_SPARE,
                           centre[0] >> 24);
#endif
#endif
}

INLINE void PASS_STENCIL(const uint *window, arguments args, uint *block)
{
#pragma unroll
    for (int i = 0; i < EMBOSS_WIDTH * ROWS; i++)
        block[i] = emboss_pixel(window + (i / EMBOSS_WIDTH + 1) * EMBOSS_REACH + i % EMBOSS_WIDTH + 1, args);
}
