// text.cl: writes a text on the image, which the host draws as a picture
INLINE pixel filter_text(pixel p, int x, int y, arguments args)
{
    return overlaid(p, x, y, args);
}
