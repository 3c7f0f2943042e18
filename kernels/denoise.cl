// denoise.cl: mean with the previous output where nothing moves
//
// Arguments: 1 if there is a previous output, else 0. Then, for the greatest difference of the three channels up to 64,
// the share of the new value in 1/256.
INLINE int denoise_channel(int c, int previous, int share)
{
    int d = c - previous, step = (max(d, -d) * share + 255) >> 8;
    return d < 0 ? previous - step : previous + step;
}

INLINE pixel filter_denoise(pixel p, pixel second, int x, int y, arguments args)
{
    int r = p.r - second.r, g = p.g - second.g, b = p.b - second.b;
    // Not max(max(max(r, -r), max(g, -g)), max(b, -b)): in min(d, 64), NVIDIA's GLSL compiler (580.159) then uses b
    // instead of max(b, -b).
    int d = max(max(r, max(g, b)), -min(r, min(g, b))), share = ARG(args, 1 + min(d, 64));
    if (ARG(args, 0) == 0)
        return p;
    p.r = denoise_channel(p.r, second.r, share);
    p.g = denoise_channel(p.g, second.g, share);
    p.b = denoise_channel(p.b, second.b, share);
    return p;
}
