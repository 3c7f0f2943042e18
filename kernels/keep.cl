// keep.cl: keeps the pixel as the second picture of masks; no arguments
INLINE pixel filter_keep(pixel p, pixel second, int x, int y, arguments args)
{
    return p;
}
