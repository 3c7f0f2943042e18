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

// Returns v / 255, rounded, for 0 to 65535.
INLINE int part255(int v)
{
    v += 128;
    return (v + (v >> 8)) >> 8;
}

// Returns number x of row y of bytes, which begin at `at`, four to an argument. Rows have whole arguments.
INLINE int byte_at(arguments args, int at, int width, int x, int y)
{
    return ARG(args, at + y * ((width + 3) >> 2) + (x >> 2)) >> 8 * (x & 3) & 255;
}

// Returns the mix of a pixel and a kept one; share: of p, in 1/255.
INLINE pixel mixed(pixel p, pixel kept, int share)
{
    int rest = 255 - share;
    p.r = part255(p.r * share + kept.r * rest);
    p.g = part255(p.g * share + kept.g * rest);
    p.b = part255(p.b * share + kept.b * rest);
    p.a = part255(p.a * share + kept.a * rest);
    return p;
}

INLINE pixel premultiplied(pixel p)
{
    p.r = part255(p.r * p.a);
    p.g = part255(p.g * p.a);
    p.b = part255(p.b * p.a);
    return p;
}

// Without alpha there is no colour.
INLINE pixel unpremultiplied(pixel p)
{
    int a = max(p.a, 1), most = p.a == 0 ? 0 : 255;
    p.r = min(most, quotient(255 * p.r + a / 2, a));
    p.g = min(most, quotient(255 * p.g + a / 2, a));
    p.b = min(most, quotient(255 * p.b + a / 2, a));
    return p;
}

// Returns the mix of a pixel and one over it, whose colours are multiplied by alpha: red + 2^8 green + 2^16 blue +
// 2^24 alpha.
INLINE pixel over(pixel p, int word)
{
    int rest = 255 - (word >> 24 & 255);
    p.r = min(255, (word & 255) + part255(p.r * rest));
    p.g = min(255, (word >> 8 & 255) + part255(p.g * rest));
    p.b = min(255, (word >> 16 & 255) + part255(p.b * rest));
    return p;
}

// Returns the pixel under that of a picture. Arguments: the column and row where the picture begins, its width and
// height, its pixels as in `over`.
INLINE pixel overlaid(pixel p, int x, int y, arguments args)
{
    int u = x - ARG(args, 0), v = y - ARG(args, 1);
    int inside = u >= 0 && v >= 0 && u < ARG(args, 2) && v < ARG(args, 3) ? 1 : 0;
    return over(p, inside == 1 ? ARG(args, 4 + v * ARG(args, 2) + u) : 0);
}

// Looks up each channel in a table of its own. Argument i has the entries for value i: red + 256 green + 65536 blue.
INLINE pixel looked_up(pixel p, arguments args)
{
    p.r = ARG(args, p.r) & 255;
    p.g = ARG(args, p.g) >> 8 & 255;
    p.b = ARG(args, p.b) >> 16;
    return p;
}
