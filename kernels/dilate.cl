// dilate.cl: maximum of a part of a row or column, or of a disc
//
// Arguments: 0 for a row, 1 for a column, 2 for a disc. Those of a disc go on with half its width in each row, from its
// centre on.
INLINE int dilate_disc(view v, arguments args)
{
    int value = tap(v, 0, 0);
    for (int dy = -RADIUS(v); dy <= RADIUS(v); dy++) {
        int reach = ARG(args, 1 + max(dy, -dy));
        for (int dx = -reach; dx <= reach; dx++)
            value = max(value, tap(v, dx, dy));
    }
    return value;
}

INLINE int filter_dilate(view v, arguments args)
{
    int down = ARG(args, 0), value = tap(v, 0, 0);
    if (down == 2)
        return dilate_disc(v, args);
    UNROLL
    for (int i = -RADIUS(v); i <= RADIUS(v); i++)
        value = max(value, tap(v, i - i * down, i * down));
    return value;
}
