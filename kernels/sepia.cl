// sepia.cl: brown tone
INLINE pixel filter_sepia(pixel p, arguments args)
{
    pixel q = p;
    q.r = sat8((50 * p.r + 98 * p.g + 24 * p.b + 64) >> 7);
    q.g = sat8((45 * p.r + 88 * p.g + 22 * p.b + 64) >> 7);
    q.b = sat8((35 * p.r + 68 * p.g + 17 * p.b + 64) >> 7);
    return q;
}
