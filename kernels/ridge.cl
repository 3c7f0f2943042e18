// ridge.cl: a bright bar between darker sides, in one row; the radius is the reach of all three: width + width / 2
INLINE int filter_ridge(view v, arguments args)
{
    int width = (2 * RADIUS(v) + 1) / 3, left = 0, centre = 0, right = 0;
    UNROLL
    for (int dx = 0; dx < width; dx++) {
        left += tap(v, dx - width / 2 - width, 0);
        centre += tap(v, dx - width / 2, 0);
        right += tap(v, dx - width / 2 + width, 0);
    }
    return max(centre - max(left, right), 0) / width;
}
