// kaleidoscope.cl: the picture between mirrors that meet in its middle
//!SUMMARY show the picture between mirrors that meet in its middle
//!KIND warp
//!PARAM mirrors
//!DESC number of mirrors
//!TYPE int
//!RANGE 2 12
//!DEFAULT 6
//!PARAM zoom
//!DESC size of what the mirrors show
//!TYPE float
//!RANGE 0.25 4
//!DEFAULT 1
//!STEP 0.125
//!PARAM speed
//!DESC turns of the picture per minute
//!TYPE int
//!RANGE -60 60
//!DEFAULT 0

// Returns the product of a length and a sine or cosine times 2048.
INLINE int kaleidoscope_part(int length, int sine)
{
    return (length * sine + 1024) >> 11;
}

// Returns about 2048 times the sine of an angle; a turn is 4096.
INLINE int kaleidoscope_sine(int angle)
{
    int part = angle & 2047; // of half a turn
    int arc = part * (2048 - part) / 512; // a parabola, 0 to 2048
    int sine = (1587 * arc + 461 * (arc * arc / 2048) + 1024) / 2048;
    return (angle & 2048) == 0 ? sine : -sine;
}

// Returns a place inside 0..most; the edges of the picture are mirrors, too.
INLINE int kaleidoscope_inside(int at, int most)
{
    at = at < 0 ? -at : at;
    return at > most ? 2 * most - at : at;
}

// Mirrors a point at the first mirror, and then at the second one if it is beyond that.
INLINE place kaleidoscope_mirror(place p, int sine, int cosine)
{
    p.y = max(p.y, -p.y);
    int beyond = max(0, kaleidoscope_part(p.y, cosine) - kaleidoscope_part(p.x, sine));
    p.x = p.x + kaleidoscope_part(2 * beyond, sine);
    p.y = p.y - kaleidoscope_part(2 * beyond, cosine);
    return p;
}

// Mirrors a point until it is between the first two of at most 12 mirrors. Without a loop, compilers make vectors.
INLINE place kaleidoscope_between(place p, int sine, int cosine)
{
    p = kaleidoscope_mirror(p, sine, cosine);
    p = kaleidoscope_mirror(p, sine, cosine);
    p = kaleidoscope_mirror(p, sine, cosine);
    p = kaleidoscope_mirror(p, sine, cosine);
    p = kaleidoscope_mirror(p, sine, cosine);
    p = kaleidoscope_mirror(p, sine, cosine);
    p.y = max(p.y, -p.y);
    return p;
}

INLINE place filter_kaleidoscope(place p, arguments args)
{
    int mirror = (2048 + ARG(args, 0) / 2) / ARG(args, 0); // the angle between two mirrors
    int right = 256 * (WIDTH(args) - 1), bottom = 256 * (HEIGHT(args) - 1);
    int angle = TIME(args) % 60000 * ARG(args, 2) / 15 * 1024 / 1000, part = 65536 / ARG(args, 1);
    int sine = kaleidoscope_sine(angle), cosine = kaleidoscope_sine(1024 - angle);
    p.x = (p.x - right / 2) / 16; // from the middle, in 1/16 pixel
    p.y = (p.y - bottom / 2) / 16;
    p = kaleidoscope_between(p, kaleidoscope_sine(mirror), kaleidoscope_sine(1024 - mirror));
    int x = p.x * part / 256, y = p.y * part / 256;
    p.x = kaleidoscope_inside(right / 2 + 16 * (kaleidoscope_part(x, cosine) - kaleidoscope_part(y, sine)), right);
    p.y = kaleidoscope_inside(bottom / 2 + 16 * (kaleidoscope_part(x, sine) + kaleidoscope_part(y, cosine)), bottom);
    return p;
}
