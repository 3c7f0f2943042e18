// gaussian.cl: weighted mean of a part of a row or column
//
// Arguments: 1 for a column, then the weights from the centre on, with 14 fraction bits.
INLINE int filter_gaussian(view v, arguments args)
{
    int down = ARG(args, 0), sum = 8192 + ARG(args, 1) * tap(v, 0, 0);
    UNROLL
    for (int i = 1; i <= RADIUS(v); i++) {
        int dy = i * down, dx = i - dy;
        sum += ARG(args, i + 1) * (tap(v, dx, dy) + tap(v, -dx, -dy));
    }
    return sum >> 14;
}
