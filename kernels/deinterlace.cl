// deinterlace.cl: blends each row with the rows above and below, which are of the other field
INLINE int filter_deinterlace(view v, arguments args)
{
    return (tap(v, 0, -1) + 2 * tap(v, 0, 0) + tap(v, 0, 1) + 2) >> 2;
}
