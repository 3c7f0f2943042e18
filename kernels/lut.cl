// lut.cl: looks up colours in a table, and interpolates in tetrahedrons
//
// Arguments: n, the entries on a side. If n is 0, the packed tables of looked_up follow. Else for each value of red,
// then of green, then of blue: 512 times the entry below it, plus 0 to 256 towards the next one. Then the n^3 entries,
// red fastest, in 1/1020: red + 2^10 green + 2^20 blue. If an entry is outside 0..1, n is negative, and an entry is
// three numbers: red, green and blue.
INLINE int lut_between(int e0, int e1, int e2, int e3, int most, int middle, int least)
{
    return ((256 - most) * e0 + (most - middle) * e1 + (middle - least) * e2 + least * e3 + 512) >> 10;
}

INLINE int lut_channel(arguments args, int a0, int a1, int a2, int a3, int most, int middle, int least)
{
    return sat8(
        lut_between(ARG(args, 3 * a0), ARG(args, 3 * a1), ARG(args, 3 * a2), ARG(args, 3 * a3), most, middle, least));
}

INLINE pixel filter_lut(pixel p, arguments args)
{
    int n = max(ARG(args, 0), -ARG(args, 0));
    if (n == 0)
        return looked_up(p, args + 1);
    int r = ARG(args, 1 + p.r), g = ARG(args, 257 + p.g), b = ARG(args, 513 + p.b);
    int a0 = (r >> 9) + n * ((g >> 9) + n * (b >> 9)), a3 = a0 + 1 + n + n * n;
    // The path from the entry to the opposite one goes along the axis of the largest part first.
    r = r & 511;
    g = g & 511;
    b = b & 511;
    int most = max(r, max(g, b)), least = min(r, min(g, b)), middle = r + g + b - most - least;
    int first = most == r ? 1 : most == g ? n : n * n, last = least == b ? n * n : least == g ? n : 1;
    int a1 = a0 + first, a2 = a3 - last;
    if (ARG(args, 0) > 0) {
        int e0 = ARG(args, 769 + a0), e1 = ARG(args, 769 + a1), e2 = ARG(args, 769 + a2), e3 = ARG(args, 769 + a3);
        p.r = lut_between(e0 & 1023, e1 & 1023, e2 & 1023, e3 & 1023, most, middle, least);
        p.g = lut_between(e0 >> 10 & 1023, e1 >> 10 & 1023, e2 >> 10 & 1023, e3 >> 10 & 1023, most, middle, least);
        p.b = lut_between(e0 >> 20, e1 >> 20, e2 >> 20, e3 >> 20, most, middle, least);
        return p;
    }
    p.r = lut_channel(args + 769, a0, a1, a2, a3, most, middle, least);
    p.g = lut_channel(args + 770, a0, a1, a2, a3, most, middle, least);
    p.b = lut_channel(args + 771, a0, a1, a2, a3, most, middle, least);
    return p;
}
