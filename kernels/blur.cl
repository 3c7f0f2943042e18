// blur.cl: mean of a square
INLINE int filter_blur(view v, arguments args)
{
    int side = 2 * RADIUS(v) + 1, area = side * side, sum = area / 2;
    UNROLL
    for (int dy = -RADIUS(v); dy <= RADIUS(v); dy++) {
        UNROLL
        for (int dx = -RADIUS(v); dx <= RADIUS(v); dx++)
            sum += tap(v, dx, dy);
    }
    return sum / area;
}
