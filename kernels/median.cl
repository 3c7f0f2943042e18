// median.cl: median of a square
INLINE int median_low(int a, int b, int c)
{
    return min(a, min(b, c));
}

INLINE int median_high(int a, int b, int c)
{
    return max(a, max(b, c));
}

INLINE int median_middle(int a, int b, int c)
{
    return max(min(a, b), min(max(a, b), c));
}

// Sorts each column. The median of the nine values is then the middle one of three: the largest of the lows, the middle
// one of the middles, the smallest of the highs.
INLINE int median_sorted(view v)
{
    int nw = tap(v, -1, -1), n = tap(v, 0, -1), ne = tap(v, 1, -1), w = tap(v, -1, 0), c = tap(v, 0, 0);
    int e = tap(v, 1, 0), sw = tap(v, -1, 1), s = tap(v, 0, 1), se = tap(v, 1, 1);
    return median_middle(median_high(median_low(nw, w, sw), median_low(n, c, s), median_low(ne, e, se)),
                         median_middle(median_middle(nw, w, sw), median_middle(n, c, s), median_middle(ne, e, se)),
                         median_low(median_high(nw, w, sw), median_high(n, c, s), median_high(ne, e, se)));
}

// Searches the median bit by bit: it is the largest value that at most half of the square is below.
INLINE int median_searched(view v)
{
    int side = 2 * RADIUS(v) + 1, found = 0;
    for (int bit = 128; bit > 0; bit /= 2) {
        int below = 0, value = found + bit;
        for (int dy = -RADIUS(v); dy <= RADIUS(v); dy++) {
            UNROLL
            for (int dx = -RADIUS(v); dx <= RADIUS(v); dx++)
                below += tap(v, dx, dy) < value ? 1 : 0;
        }
        found = below <= side * side / 2 ? value : found;
    }
    return found;
}

INLINE int filter_median(view v, arguments args)
{
    if (RADIUS(v) == 1)
        return median_sorted(v);
    return median_searched(v);
}
