// matte.cl: mixes a pixel with that of an earlier filter's input, by a matte
//
// Arguments: 1, or 0 for a result of p; 1 for p where the matte is 0, else where it is 255; columns and rows of the
// matte for a pixel, in 1/65536; its width and height; for each of its pixels, numbers a and b: the matte is
// (a * luma + b) / 256.

// Returns the mean of four numbers; f and g: weights of the right and the lower ones in 1/256.
INLINE int matte_mix(arguments args, int at, int f, int g)
{
    int below = at + 2 * ARG(args, 4);
    int left = (ARG(args, at) * (256 - g) + ARG(args, below) * g) >> 8;
    int right = (ARG(args, at + 2) * (256 - g) + ARG(args, below + 2) * g) >> 8;
    return (left * (256 - f) + right * f) >> 8;
}

INLINE int matte_at(pixel second, int x, int y, arguments args)
{
    int width = ARG(args, 4), height = ARG(args, 5);
    int u = clamp((((2 * x + 1) * ARG(args, 2)) >> 1) - 32768, 0, (width - 1) << 16), left = min(u >> 16, width - 2);
    int v = clamp((((2 * y + 1) * ARG(args, 3)) >> 1) - 32768, 0, (height - 1) << 16), top = min(v >> 16, height - 2);
    int f = (u - (left << 16)) >> 8, g = (v - (top << 16)) >> 8, at = 6 + 2 * (top * width + left);
    return sat8((matte_mix(args, at, f, g) * luma(second) + matte_mix(args, at + 1, f, g)) >> 8);
}

INLINE pixel filter_matte(pixel p, pixel second, int x, int y, arguments args)
{
    int share = 255;
    if (ARG(args, 0) != 0)
        share = matte_at(second, x, y, args);
    if (ARG(args, 0) != 0 && ARG(args, 1) != 0)
        share = 255 - share;
    return mixed(p, second, share);
}
