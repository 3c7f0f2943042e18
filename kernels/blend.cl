// blend.cl: blends a second picture with the image
//
// Arguments: the mode, the width, the pixels of the picture as those of `overlay`, but their colours are not
// multiplied.

// 0: normal, 1: add, 2: multiply, 3: screen, 4: overlay, 5: difference, 6: lighten, 7: darken, 8: subtract
INLINE int blend_mode(int c, int s, int mode)
{
    if (mode == 0)
        return s;
    if (mode == 1)
        return min(255, c + s);
    if (mode == 2)
        return part255(c * s);
    if (mode == 3)
        return 255 - part255((255 - c) * (255 - s));
    if (mode == 4)
        return c < 128 ? part255(2 * c * s) : 255 - part255(2 * (255 - c) * (255 - s));
    if (mode == 5)
        return max(c - s, s - c);
    if (mode == 6)
        return max(c, s);
    return mode == 7 ? min(c, s) : max(0, c - s);
}

INLINE int blend_value(int c, int s, int mode, int alpha)
{
    return part255(c * (255 - alpha) + blend_mode(c, s, mode) * alpha);
}

INLINE pixel blend_pixel(pixel p, int word, int mode)
{
    int alpha = word >> 24 & 255;
    p.r = blend_value(p.r, word & 255, mode, alpha);
    p.g = blend_value(p.g, word >> 8 & 255, mode, alpha);
    p.b = blend_value(p.b, word >> 16 & 255, mode, alpha);
    return p;
}

INLINE pixel filter_blend(pixel p, int x, int y, arguments args)
{
    return blend_pixel(p, ARG(args, 2 + y * ARG(args, 1) + x), ARG(args, 0));
}
