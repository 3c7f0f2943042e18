// key.cl: replaces a green or blue screen by a colour
//!SUMMARY replace a green or blue screen by a colour
//!KIND point
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
//!DESC the colour that replaces the screen
//!CHOICES black|white|grey|sky|sand
//!DEFAULT grey

INLINE pixel key_background(int number, pixel p)
{
    p.r = number == 1 ? 255 : number == 2 ? 128 : number == 3 ? 120 : number == 4 ? 214 : 0;
    p.g = number == 1 ? 255 : number == 2 ? 128 : number == 3 ? 180 : number == 4 ? 190 : 0;
    p.b = number == 1 ? 255 : number == 2 ? 128 : number == 3 ? 235 : number == 4 ? 140 : 0;
    return p;
}

INLINE int key_mix(int front, int back, int share)
{
    return (front * (256 - share) + back * share + 128) >> 8;
}

INLINE pixel filter_key(pixel p, int x, int y, arguments args)
{
    int green = ARG(args, 0) == 0 ? 1 : 0;
    int excess = green == 1 ? p.g - max(p.r, p.b) : p.b - max(p.r, p.g);
    int share = clamp((excess - ARG(args, 1)) * 8, 0, 256); // of the background
    pixel back = key_background(ARG(args, 2), p);
    // The light of the screen on the edges of the front is removed.
    p.g = green == 1 ? p.g - max(0, excess) : p.g;
    p.b = green == 0 ? p.b - max(0, excess) : p.b;
    p.r = key_mix(p.r, back.r, share);
    p.g = key_mix(p.g, back.g, share);
    p.b = key_mix(p.b, back.b, share);
    return p;
}
