// table.cl: arguments: 256 values, looked up for each channel (gamma)
#ifndef TABLE_CL
#define TABLE_CL
#include "pixel.cl"

INLINE pixel filter_table(pixel p, arguments args)
{
    p.r = args[p.r];
    p.g = args[p.g];
    p.b = args[p.b];
    return p;
}

#ifdef PASS_BEFORE_LINE
#include "vectors.cl"

INLINE void line_table(const uint *from, uint *to, int count, arguments args)
{
    int i = 0;
#ifdef OWN
    const byte_table table = byte_table_of(args);
    for (; i <= count - VECTOR_WORDS; i += VECTOR_WORDS)
        put_colours(look_up(&table, WORDS_AT(from + i)), from + i, to + i);
#endif
    for (; i < count; i++)
        to[i] = pack(filter_table(unpack(from[i]), args));
}
#endif
#endif
