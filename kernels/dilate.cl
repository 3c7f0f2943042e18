// dilate.cl: maximum of a part of a row or column; argument: 1 for a column
INLINE int filter_dilate(view v, arguments args)
{
    int down = ARG(args, 0), value = tap(v, 0, 0);
    for (int i = -RADIUS(v); i <= RADIUS(v); i++)
        value = max(value, tap(v, i - i * down, i * down));
    return value;
}
