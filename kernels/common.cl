// common.cl: functions that filters share, in the kernel language

// Saturates a value to 0..255.
INLINE int sat8(int value)
{
    return clamp(value, 0, 255);
}

// A place in a picture, in 1/256 pixel. The centres of pixels are at multiples of 256.
STRUCT(place)
struct place {
    int x, y;
};

// Rec. 601 luma (docs/pixels.md section 3).
INLINE int luma(pixel p)
{
    return (77 * p.r + 150 * p.g + 29 * p.b + 128) >> 8;
}

// Looks up each channel in a table of its own. Argument i has the entries for value i: red + 256 green + 65536 blue.
INLINE pixel looked_up(pixel p, arguments args)
{
    p.r = ARG(args, p.r) & 255;
    p.g = ARG(args, p.g) >> 8 & 255;
    p.b = ARG(args, p.b) >> 16;
    return p;
}
