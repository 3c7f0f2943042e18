// overlay.cl: puts a picture on the image
INLINE pixel filter_overlay(pixel p, int x, int y, arguments args)
{
    return overlaid(p, x, y, args);
}
