// warp.cl: the place in the input of each output pixel, and the value there, in the kernel language
//
// The host's src/filter/warp.c computes the arguments: the output's width and height, the nodes in a row of the grid,
// its shift, then u and v of each node in 1/256 pixel. The nodes are 2^shift pixels apart, 1 to 16.
#define WARP_WIDTH(args) ARG(args, 0)
#define WARP_HEIGHT(args) ARG(args, 1)

// Returns u (axis 0) or v (axis 1) of output pixel (x, y).
INLINE int warp_axis(arguments args, int x, int y, int axis)
{
    int columns = ARG(args, 2), shift = ARG(args, 3), side = 1 << shift;
    int right = x & (side - 1), left = side - right, lower = y & (side - 1);
    int at = 4 + 2 * ((y >> shift) * columns + (x >> shift)) + axis;
    int above = ARG(args, at) * left + ARG(args, at + 2) * right;
    int below = ARG(args, at + 2 * columns) * left + ARG(args, at + 2 * columns + 2) * right;
    return (above * (side - lower) + below * lower + (side * side >> 1)) >> (2 * shift);
}

// Returns the place of output pixel (x, y) in the input.
INLINE place warp_place(arguments args, int x, int y)
{
    place at;
    at.x = warp_axis(args, x, y, 0);
    at.y = warp_axis(args, x, y, 1);
    return at;
}

// Returns a channel between four pixels, (256 - a) to a across and (256 - b) to b down.
INLINE int warp_value(int p00, int p10, int p01, int p11, int a, int b)
{
    return ((p00 * (256 - a) + p10 * a) * (256 - b) + (p01 * (256 - a) + p11 * a) * b + 32768) >> 16;
}

INLINE pixel warp_pixel(pixel p00, pixel p10, pixel p01, pixel p11, place at)
{
    int a = at.x & 255, b = at.y & 255;
    pixel p;
    p.r = warp_value(p00.r, p10.r, p01.r, p11.r, a, b);
    p.g = warp_value(p00.g, p10.g, p01.g, p11.g, a, b);
    p.b = warp_value(p00.b, p10.b, p01.b, p11.b, a, b);
    p.a = warp_value(p00.a, p10.a, p01.a, p11.a, a, b);
    return p;
}

// Weighted pixels of a row or column replace the grid: `scale` by area, for example. src/filter/taps.c computes the
// arguments: the output's width and height, the count of taps, 1 for columns, then for each pixel of an output row or
// column its first tap and the weights.
#define TAPS_BITS 14
#define TAPS_HALF (1 << (TAPS_BITS - 1))

// Returns the place of the first tap among the arguments.
INLINE int taps_at(arguments args, int x, int y)
{
    return 4 + (ARG(args, 3) == 0 ? x : y) * (1 + ARG(args, 2));
}

INLINE pixel taps_add(pixel sum, pixel p, int weight)
{
    sum.r += weight * p.r;
    sum.g += weight * p.g;
    sum.b += weight * p.b;
    sum.a += weight * p.a;
    return sum;
}

INLINE pixel taps_end(pixel sum)
{
    sum.r = sat8((sum.r + TAPS_HALF) >> TAPS_BITS);
    sum.g = sat8((sum.g + TAPS_HALF) >> TAPS_BITS);
    sum.b = sat8((sum.b + TAPS_HALF) >> TAPS_BITS);
    sum.a = sat8((sum.a + TAPS_HALF) >> TAPS_BITS);
    return sum;
}
