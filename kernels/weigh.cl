// weigh.cl: multiplies the colours by a mask's number: 255 minus the alpha of the kept pixel; no arguments
INLINE pixel filter_weigh(pixel p, pixel second, int x, int y, arguments args)
{
    p.a = 255 - second.a;
    return premultiplied(p);
}
