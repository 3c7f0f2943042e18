// unsharp.cl: moves a pixel away from the mean around it
//
// Arguments: the amount, with 8 fraction bits; the smallest difference from the mean that changes a pixel, with 4
// fraction bits; the weights of a row from the centre on. The weights of the whole row add up to 4^radius.
INLINE int filter_unsharp(view v, arguments args)
{
    int c = tap(v, 0, 0), shift = 4 * RADIUS(v), sum = 0;
    for (int dy = -RADIUS(v); dy <= RADIUS(v); dy++) {
        int row = 0;
        for (int dx = -RADIUS(v); dx <= RADIUS(v); dx++)
            row += ARG(args, 2 + max(dx, -dx)) * tap(v, dx, dy);
        sum += ARG(args, 2 + max(dy, -dy)) * row;
    }
    int away = 16 * c - ((16 * sum + (1 << shift >> 1)) >> shift);
    return max(away, -away) < ARG(args, 1) ? c : sat8(c + ((ARG(args, 0) * away + 2048) >> 12));
}
