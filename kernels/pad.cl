// pad.cl: paints the pixels around the image
//
// Arguments: the first column and row of the image, the column and row after its last ones, and the colour as red,
// green and blue.
INLINE pixel filter_pad(pixel p, int x, int y, arguments args)
{
    int inside = x >= ARG(args, 0) && y >= ARG(args, 1) && x < ARG(args, 2) && y < ARG(args, 3) ? 1 : 0;
    p.r = inside == 1 ? p.r : ARG(args, 4);
    p.g = inside == 1 ? p.g : ARG(args, 5);
    p.b = inside == 1 ? p.b : ARG(args, 6);
    p.a = inside == 1 ? p.a : 255;
    return p;
}
