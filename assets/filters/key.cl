// key.cl: replaces a green or blue screen by a picture or a colour
//!SUMMARY replace a green or blue screen by a picture or a colour
//!KIND point
//!PARAM picture
//!DESC image file that replaces the screen
//!TYPE file
//!PARAM screen
//!DESC colour of the screen
//!CHOICES green|blue
//!PARAM tolerance
//!DESC how far the screen's colour must exceed the other two
//!TYPE int
//!RANGE 0 200
//!DEFAULT 40
//!STEP 5
//!PARAM background
//!DESC colour behind the picture, and without one
//!CHOICES black|white|grey|sky|sand
//!DEFAULT grey

INLINE int key_mix(int back, int front, int share)
{
    return (back * (256 - share) + front * share + 128) >> 8;
}

// Returns a mix of two pixels, `share` / 256 of it the front.
INLINE pixel key_over(pixel back, pixel front, int share)
{
    back.r = key_mix(back.r, front.r, share);
    back.g = key_mix(back.g, front.g, share);
    back.b = key_mix(back.b, front.b, share);
    return back;
}

INLINE pixel key_color(pixel p, int number)
{
    p.r = number == 1 ? 255 : number == 2 ? 128 : number == 3 ? 120 : number == 4 ? 214 : 0;
    p.g = number == 1 ? 255 : number == 2 ? 128 : number == 3 ? 180 : number == 4 ? 190 : 0;
    p.b = number == 1 ? 255 : number == 2 ? 128 : number == 3 ? 235 : number == 4 ? 140 : 0;
    return p;
}

INLINE pixel filter_key(pixel p, pixel picture, int x, int y, arguments args)
{
    int green = ARG(args, 1) == 0 ? 1 : 0;
    int excess = green == 1 ? p.g - max(p.r, p.b) : p.b - max(p.r, p.g);
    int share = 256 - clamp((excess - ARG(args, 2)) * 8, 0, 256); // of the front
    pixel back = key_over(key_color(p, ARG(args, 3)), picture, picture.a + (picture.a >> 7));
    // The light of the screen on the edges of the front is removed.
    p.g = green == 1 ? p.g - max(0, excess) : p.g;
    p.b = green == 0 ? p.b - max(0, excess) : p.b;
    return key_over(back, p, share);
}
