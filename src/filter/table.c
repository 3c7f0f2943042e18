// table.c: channels looked up in a table
#include "filter/table.h"

void table_point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width)
{
    const int32_t *table = arguments->value;
    for (int x = 0; x < width; x++, from += 4, to += 4) {
        to[0] = (uint8_t)table[from[0]];
        to[1] = (uint8_t)table[from[1]];
        to[2] = (uint8_t)table[from[2]];
        to[3] = from[3];
    }
}
