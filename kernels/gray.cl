// gray.cl: grey value; argument: 0 luma, 1 average, 2 paint
INLINE pixel filter_gray(pixel p, arguments args)
{
    // Division by 3: 21846 / 65536 exceeds 1 / 3 by 1 / 98304. The sum is at most 766, so the quotient is exact.
    int average = ((p.r + p.g + p.b + 1) * 21846) >> 16, paint = sat8(((2 * p.g + p.r + 256 - p.b) >> 1) - 128);
    int y = ARG(args, 0) == 0 ? luma(p) : ARG(args, 0) == 1 ? average : paint;
    p.r = y;
    p.g = y;
    p.b = y;
    return p;
}
