// grain.cl: the grain of photographic film
//!SUMMARY add the grain of photographic film
//!KIND point
//!PARAM strength
//!DESC greatest change of a grey pixel
//!TYPE int
//!RANGE 0 100
//!DEFAULT 30
//!STEP 5

INLINE int grain_mix(int n)
{
    n = n & 65535;
    n = (n ^ n >> 7) * 27803 & 65535;
    n = (n ^ n >> 9) * 31153 & 65535;
    return n ^ n >> 8;
}

// Returns -255 to 255; numbers near 0 are the most frequent ones.
INLINE int grain_noise(int x, int y, int frame)
{
    int n = grain_mix(x + grain_mix(y + grain_mix(frame)));
    return (n >> 8) - (n & 255);
}

INLINE pixel filter_grain(pixel p, int x, int y, arguments args)
{
    // Film shows most grain in grey areas, and none in black and white ones.
    int light = luma(p), most = light * (255 - light) >> 6;
    int change = (grain_noise(x, y, FRAME(args)) * most * ARG(args, 0) + 32768) >> 16;
    p.r = p.r + change;
    p.g = p.g + change;
    p.b = p.b + change;
    return p;
}
