// equalize.cl: looks up each channel; arguments: a table from a histogram (equalize_level.cl)
INLINE pixel filter_equalize(pixel p, arguments args)
{
    return looked_up(p, args);
}
