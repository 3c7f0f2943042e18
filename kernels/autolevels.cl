// autolevels.cl: looks up each channel; arguments: a table from a histogram (equalize_level.cl), then the cut
INLINE pixel filter_autolevels(pixel p, arguments args)
{
    return looked_up(p, args);
}
