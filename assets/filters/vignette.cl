// vignette.cl: darkens the corners
//!SUMMARY darken the corners
//!KIND point
//!PARAM strength
//!DESC darkness of the corners; 1 is black
//!TYPE float
//!RANGE 0 1
//!DEFAULT 0.6
//!STEP 0.05

INLINE pixel filter_vignette(pixel p, int x, int y, arguments args)
{
    // The square of the distance from the centre: 0 to 512, the latter in the corners.
    int across = (2 * x + 1) * 256 / WIDTH(args) - 256, down = (2 * y + 1) * 256 / HEIGHT(args) - 256;
    int distance = (across * across + down * down) >> 8;
    int light = 65536 - ARG(args, 0) * distance / 2;
    p.r = (p.r * light + 32768) >> 16;
    p.g = (p.g * light + 32768) >> 16;
    p.b = (p.b * light + 32768) >> 16;
    return p;
}
