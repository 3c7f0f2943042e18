// veil.cl: makes alpha 0, so that a mask with the pixel before as kept one makes it 255 minus its number
INLINE pixel filter_veil(pixel p, arguments args)
{
    p.a = 0;
    return p;
}
