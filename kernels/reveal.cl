// reveal.cl: mixes a pixel with the kept one, by a mask's number: 255 minus the alpha of the kept pixel; no arguments
INLINE pixel filter_reveal(pixel p, pixel second, int x, int y, arguments args)
{
    int share = 255 - second.a;
    second.a = 255;
    return mixed(p, second, share);
}
