// median.cl: median of the 3x3 square
#include "pixel.cl"

#ifndef PASS_LINES

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

#else
#include "lines.cl"

typedef char lines_state; // none

INLINE void lines_begin(lines_state *state, arguments args) {}

INLINE void lines_take(lines_state *state, const lines_rows *rows, int first, int end) {}

// Twice as many bytes as the language's vectors have, where compilers take them: as many as registers hold.
#ifdef __clang__
typedef uchar bytes __attribute__((ext_vector_type(32)));
#else
typedef uchar16 bytes;
#endif
typedef bytes __attribute__((aligned(1))) bytes_anywhere;
enum { MEDIAN_STEP = sizeof(bytes) / sizeof(uint) }; // pixels

INLINE bytes bytes_at(const uchar *from)
{
    return *(const bytes_anywhere *)from;
}

// Not the language's functions, of which compilers know less than of choices.
INLINE bytes lower(bytes a, bytes b)
{
    return a < b ? a : b;
}

INLINE bytes upper(bytes a, bytes b)
{
    return a > b ? a : b;
}

INLINE bytes middle(bytes a, bytes b, bytes c)
{
    return upper(lower(a, b), lower(upper(a, b), c));
}

INLINE void lines_make(lines_state *state, const lines_rows *rows, int first, int end)
{
    const uint *centre = lines_centre(rows, 0);
    uint *line = rows->to[0];
    const uchar *a = (const uchar *)(rows->row[1] + LINE_LEFT), *b = (const uchar *)(rows->row[2] + LINE_LEFT);
    const uchar *c = (const uchar *)(rows->row[3] + LINE_LEFT);
    for (int i = first; i < end; i += MEDIAN_STEP) {
        bytes low[3], mid[3], high[3];
#pragma unroll
        for (int k = 0; k < 3; k++) {
            const int at = sizeof(uint) * (i + k);
            const bytes x = bytes_at(a + at), y = bytes_at(b + at), z = bytes_at(c + at);
            const bytes less = lower(x, y), more = upper(x, y), rest = lower(more, z);
            low[k] = lower(less, z);
            mid[k] = upper(less, rest);
            high[k] = upper(more, z);
        }
        const bytes most = upper(upper(low[0], low[1]), low[2]), least = lower(lower(high[0], high[1]), high[2]);
        *(bytes_anywhere *)(line + i - first) = middle(most, middle(mid[0], mid[1], mid[2]), least);
    }
    for (int i = first; i < end; i++)
        line[i - first] = (line[i - first] & 0xffffffu) | (centre[i] & 0xff000000u);
}
#endif
