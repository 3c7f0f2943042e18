// median.cl: median of the 3x3 square
#include "pixel.cl"

INLINE int middle(int a, int b, int c)
{
    return max(min(a, b), min(max(a, b), c));
}

INLINE int low(int a, int b, int c)
{
    return min(a, min(b, c));
}

INLINE int high(int a, int b, int c)
{
    return max(a, max(b, c));
}

// With each column sorted, the median of nine is the middle of: the largest low, the middle middle, the smallest high.
#define MEDIAN(c)                                                                                                      \
    middle(high(low(nw.c, w.c, sw.c), low(n.c, p.c, s.c), low(ne.c, e.c, se.c)),                                       \
           middle(middle(nw.c, w.c, sw.c), middle(n.c, p.c, s.c), middle(ne.c, e.c, se.c)),                            \
           low(high(nw.c, w.c, sw.c), high(n.c, p.c, s.c), high(ne.c, e.c, se.c)))

INLINE pixel filter_median(struct view view, arguments args)
{
    const pixel nw = tap(view, -1, -1), n = tap(view, 0, -1), ne = tap(view, 1, -1);
    const pixel w = tap(view, -1, 0), p = tap(view, 0, 0), e = tap(view, 1, 0);
    const pixel sw = tap(view, -1, 1), s = tap(view, 0, 1), se = tap(view, 1, 1);
    pixel result = p;
    result.r = MEDIAN(r);
    result.g = MEDIAN(g);
    result.b = MEDIAN(b);
    return result;
}
