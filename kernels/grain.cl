// grain.cl: adds the grain of photographic film
//
// Arguments: the number of the frame, the strength.
INLINE int grain_mix(int n)
{
    n = n & 65535;
    n = (n ^ n >> 7) * 27803 & 65535;
    n = (n ^ n >> 9) * 31153 & 65535;
    return n ^ n >> 8;
}

INLINE pixel filter_grain(pixel p, int x, int y, arguments args)
{
    // -255 to 255; numbers near 0 are the most frequent ones.
    int noise = grain_mix(x + grain_mix(y + grain_mix(ARG(args, 0))));
    noise = (noise >> 8) - (noise & 255);
    // Film shows most grain in grey areas, and none in black and white ones.
    int light = luma(p), most = light * (255 - light) >> 6;
    int change = (noise * most * ARG(args, 1) + 32768) >> 16;
    p.r = sat8(p.r + change);
    p.g = sat8(p.g + change);
    p.b = sat8(p.b + change);
    return p;
}
