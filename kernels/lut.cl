// lut.cl: looks up colours in a table, and interpolates in tetrahedrons
//
// Arguments: n, the entries on a side. If n is 0, the packed tables of looked_up follow. Else for each value of red,
// then of green, then of blue: 512 times the entry below it, plus 0 to 256 towards the next one. Then the n^3 entries,
// red fastest, in 1/1020: red + 2^10 green + 2^20 blue.
INLINE pixel filter_lut(pixel p, arguments args)
{
    int n = ARG(args, 0);
    if (n == 0)
        return looked_up(p, args + 1);
    int r = ARG(args, 1 + p.r), g = ARG(args, 257 + p.g), b = ARG(args, 513 + p.b);
    int at = 769 + (r >> 9) + n * ((g >> 9) + n * (b >> 9));
    // The path from the entry to the opposite one goes along the axis of the largest part first.
    r = r & 511;
    g = g & 511;
    b = b & 511;
    int most = max(r, max(g, b)), least = min(r, min(g, b)), middle = r + g + b - most - least;
    int first = most == r ? 1 : most == g ? n : n * n, last = least == b ? n * n : least == g ? n : 1;
    int e0 = ARG(args, at), e3 = ARG(args, at + 1 + n + n * n);
    int e1 = ARG(args, at + first), e2 = ARG(args, at + 1 + n + n * n - last);
    int w0 = 256 - most, w1 = most - middle, w2 = middle - least;
    p.r = (w0 * (e0 & 1023) + w1 * (e1 & 1023) + w2 * (e2 & 1023) + least * (e3 & 1023) + 512) >> 10;
    p.g =
        (w0 * (e0 >> 10 & 1023) + w1 * (e1 >> 10 & 1023) + w2 * (e2 >> 10 & 1023) + least * (e3 >> 10 & 1023) + 512) >>
        10;
    p.b = (w0 * (e0 >> 20) + w1 * (e1 >> 20) + w2 * (e2 >> 20) + least * (e3 >> 20) + 512) >> 10;
    return p;
}
