// unsharp.cl: moves a pixel away from the mean around it
//
// Arguments: as of convolve.cl, then the least change.
INLINE int filter_unsharp(view v, arguments args)
{
    int c = tap(v, 0, 0), sum = ARG(args, 1), i = 3;
    for (int dy = -RADIUS(v); dy <= RADIUS(v); dy++) {
        for (int dx = -RADIUS(v); dx <= RADIUS(v); dx++, i++)
            sum += ARG(args, i) * tap(v, dx, dy);
    }
    sum = sum >> ARG(args, 0);
    return max(sum - c, c - sum) < ARG(args, i) ? c : sat8(sum);
}
