// read_line.cl: pixels that come into a line, once each: loaded, converted, filtered
#ifndef READ_LINE_CL
#define READ_LINE_CL
#include "pass_io.cl"
#include "wide.cl"

enum { CACHE_LINE = 64 }; // bytes

// Point filters ahead of the stencil, or all of them, from one line to another, or in place.
#ifndef PASS_BEFORE_LINE
#define PASS_BEFORE_LINE(from, to, count, args) copy_line(from, to, count);
#endif

INLINE void copy_line(const uint *from, uint *to, int count)
{
    int i = 0;
    if (from == to)
        return;
    for (; i <= count - VECTOR_WORDS; i += VECTOR_WORDS)
        PUT_WORDS(WORDS_AT(from + i), to + i);
    for (; i < count; i++)
        to[i] = from[i];
}

// Asks for pixels `first` to `end` - 1 of row y, which processors do not see coming.
INLINE void ask_for_row(struct source source, int y, int first, int end)
{
#ifdef LOAD_BYTES
    __global const uchar *row = source.bytes + PASS_LOAD_Y(y, source.height) * source.stride0;
    for (int i = first; i < end; i += CACHE_LINE / LOAD_BYTES)
        ASK_FOR(row + PASS_LOAD_X(i, source.width) * LOAD_BYTES, 0);
#endif
}

// Pixels `first` to `end` - 1 of a line that begins at (left, y); the picture's edge repeats. Both begin at even ones.
// `next` is a row that is needed soon.
INLINE void read_line(struct source source, arguments args, int left, int y, int next, int first, int end, uint *line)
{
    const int begin = max(first, -left), stop = min(end, source.width - left);
    y = clamp(y, 0, source.height - 1);
    ask_for_row(source, next, left + begin, left + stop);
#if defined(ONE_MEMORY) && defined(LOAD_BYTES) && !defined(PASS_LOAD_MIRROR)
    const uint *row = (const uint *)(uintptr_t)(source.bytes + PASS_LOAD_Y(y, source.height) * source.stride0);
    PASS_BEFORE_LINE(row + left + begin, line + begin, stop - begin, args)
#else
    int i = begin;
#ifdef PASS_WIDE
    for (; i <= stop - WIDE; i += WIDE) {
        const words16 words = load_words16(source, args, left + i, PASS_LOAD_Y(y, source.height));
        vstore8(words.lower, 0, line + i);
        vstore8(words.upper, 1, line + i);
    }
#endif
    for (; i < stop; i++)
        line[i] = pack(load(source, args, PASS_LOAD_X(left + i, source.width), PASS_LOAD_Y(y, source.height)));
    PASS_BEFORE_LINE(line + begin, line + begin, stop - begin, args)
#endif
    for (int i = first; i < begin; i++)
        line[i] = line[begin];
    for (int i = max(first, stop); i < end; i++)
        line[i] = line[source.width - left - 1];
}

#endif
