// denoise.cl: mean with the previous output where nothing moves
//
// Arguments: 1 if there is a previous output, else 0. Then, for the greatest difference of the three channels up to 64,
// the share of the new value in 1/256.
INLINE int denoise_channel(int c, int previous, int share)
{
    int d = c - previous, step = (max(d, -d) * share + 255) >> 8;
    return d < 0 ? previous - step : previous + step;
}

INLINE pixel filter_denoise(pixel p, pixel previous, arguments args)
{
    int r = p.r - previous.r, g = p.g - previous.g, b = p.b - previous.b;
    int d = max(max(max(r, -r), max(g, -g)), max(b, -b)), share = ARG(args, 1 + min(d, 64));
    if (ARG(args, 0) == 0)
        return p;
    p.r = denoise_channel(p.r, previous.r, share);
    p.g = denoise_channel(p.g, previous.g, share);
    p.b = denoise_channel(p.b, previous.b, share);
    return p;
}
