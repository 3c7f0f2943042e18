// bilateral.cl: mean of a square, weighted by distance and difference
//
// Arguments: the weights of the differences 0 to 255, then those of the distances from 0 on.
INLINE int filter_bilateral(view v, arguments args)
{
    int c = tap(v, 0, 0), weights = 0, sum = 0;
    for (int dy = -RADIUS(v); dy <= RADIUS(v); dy++) {
        int down = ARG(args, 256 + max(dy, -dy));
        UNROLL
        for (int dx = -RADIUS(v); dx <= RADIUS(v); dx++) {
            int n = tap(v, dx, dy), near = (down * ARG(args, 256 + max(dx, -dx)) + 4096) >> 13;
            int weight = near * ARG(args, max(n - c, c - n));
            weights += weight;
            sum += weight * n;
        }
    }
    return (sum + weights / 2) / weights;
}
