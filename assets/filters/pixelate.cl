// pixelate.cl: a mosaic of large pixels
//!SUMMARY show a mosaic of large pixels
//!KIND stencil
//!RADIUS 15
//!PARAM size
//!DESC side of a large pixel
//!TYPE int
//!RANGE 2 30
//!DEFAULT 10

INLINE int filter_pixelate(view v, arguments args)
{
    // The pixel in the middle of the square gives the value.
    int size = ARG(args, 0);
    return tap(v, size / 2 - v.x % size, size / 2 - v.y % size);
}
