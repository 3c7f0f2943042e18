// emboss_window.cl: emboss, all channels of a pixel at once, by sums over packed pixels
//
// The sum of whole words and the sum of words under RED_BLUE hold each channel's sum: red and blue are the halves of
// the second; green is at bit 8 of their difference, with only alpha above it. Sums lie between -765 and 765, and so in
// 0..65535 with EMBOSS_BIAS.
#define RED_BLUE 0x00ff00ffu

enum { EMBOSS_WIDTH = 4, EMBOSS_REACH = EMBOSS_WIDTH + 2, EMBOSS_SPARE = 1024, EMBOSS_BIAS = EMBOSS_SPARE + 128 };

INLINE uint emboss_pixel(const uint *centre, arguments args)
{
    // Not for every grey input: NVIDIA's compiler then loads bytes from global memory, not whole words.
#if defined(PASS_ALIKE) && defined(PASS_TILE)
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
