// trails.cl: bright things leave trails
//!SUMMARY let bright things leave trails
//!KIND point
//!PREVIOUS
//!PARAM length
//!DESC how slowly a trail fades
//!TYPE float
//!RANGE 0 0.98
//!DEFAULT 0.9
//!STEP 0.02

INLINE int trails_channel(int value, int previous, int keep)
{
    return max(value, previous * keep >> 8);
}

INLINE pixel filter_trails(pixel p, pixel previous, int x, int y, arguments args)
{
    p.r = trails_channel(p.r, previous.r, ARG(args, 0));
    p.g = trails_channel(p.g, previous.g, ARG(args, 0));
    p.b = trails_channel(p.b, previous.b, ARG(args, 0));
    return p;
}
