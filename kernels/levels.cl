// levels.cl: looks up each channel in its own table; arguments: the packed tables
INLINE pixel filter_levels(pixel p, arguments args)
{
    return looked_up(p, args);
}
