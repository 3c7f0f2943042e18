// clahe.cl: equalizes each pixel by the tables of the four nearest tiles
//
// Arguments: the number of tiles in each row and column; the limit; the index of the first column's argument, and of
// the first row's; the tables of the tiles, row by row (equalize_level.cl); one argument per column; one per row. The
// argument of a column: the index of the tile on its left + 32 * the index of the tile on its right + 1024 * the weight
// of the right tile, 0 to 2048. That of a row: likewise with the tiles above and below.
INLINE int clahe_between(int before, int behind, int weight)
{
    return before * (2048 - weight) + behind * weight;
}

INLINE int clahe_end(int sum)
{
    return (sum + (1 << 21)) >> 22;
}

INLINE int clahe_channel(arguments args, int value, int column, int row)
{
    int tiles = ARG(args, 0), left = column & 31, right = column >> 5 & 31;
    int above = 4 + 256 * tiles * (row & 31) + value, below = 4 + 256 * tiles * (row >> 5 & 31) + value;
    int top = clahe_between(ARG(args, above + 256 * left), ARG(args, above + 256 * right), column >> 10);
    int bottom = clahe_between(ARG(args, below + 256 * left), ARG(args, below + 256 * right), column >> 10);
    return clahe_end(clahe_between(top, bottom, row >> 10));
}

INLINE pixel filter_clahe(pixel p, int x, int y, arguments args)
{
    int column = ARG(args, ARG(args, 2) + x), row = ARG(args, ARG(args, 3) + y);
    p.r = clahe_channel(args, p.r, column, row);
    p.g = clahe_channel(args, p.g, column, row);
    p.b = clahe_channel(args, p.b, column, row);
    return p;
}
