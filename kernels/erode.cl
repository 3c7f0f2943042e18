// erode.cl: minimum of a part of a row or column; argument: 1 for a column
INLINE int filter_erode(view v, arguments args)
{
    int down = ARG(args, 0), value = tap(v, 0, 0);
    for (int i = -RADIUS(v); i <= RADIUS(v); i++)
        value = min(value, tap(v, i - i * down, i * down));
    return value;
}
