// table.c: channels looked up in a table
#include "filter/table.h"

void table_point_row(const struct filter_arguments *arguments, uint8_t *rgba, int width)
{
    const int32_t *table = arguments->value;
    for (int x = 0; x < width; x++) {
        uint8_t *p = rgba + 4 * x;
        p[0] = (uint8_t)table[p[0]];
        p[1] = (uint8_t)table[p[1]];
        p[2] = (uint8_t)table[p[2]];
    }
}
