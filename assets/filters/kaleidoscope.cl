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

// 2048 times the sine and the cosine of the angle between two of n mirrors.
INLINE int kaleidoscope_mirror_sine(int n)
{
    return n == 2 ? 2048 : n == 3 ? 1774 : n == 4 ? 1448 : n == 5 ? 1204
           : n == 6 ? 1024 : n == 7 ? 889 : n == 8 ? 784 : n == 9 ? 700
           : n == 10 ? 633 : n == 11 ? 577 : 530;
}

INLINE int kaleidoscope_mirror_cosine(int n)
{
    return n == 2 ? 0 : n == 3 ? 1024 : n == 4 ? 1448 : n == 5 ? 1657
           : n == 6 ? 1774 : n == 7 ? 1845 : n == 8 ? 1892 : n == 9 ? 1924
           : n == 10 ? 1948 : n == 11 ? 1965 : 1978;
}

INLINE place filter_kaleidoscope(place p, arguments args)
{
    int number = ARG(args, 0), right = 256 * (WIDTH(args) - 1), bottom = 256 * (HEIGHT(args) - 1);
    int sine = kaleidoscope_mirror_sine(number), cosine = kaleidoscope_mirror_cosine(number);
    int x = (p.x - right / 2) / 16, y = (p.y - bottom / 2) / 16; // from the middle, in 1/16 pixel
    // Mirrors the point until it lies between the first two mirrors.
    for (int i = 0; i < 7; i++) {
        y = max(y, -y);
        int beyond = max(0, kaleidoscope_part(y, cosine) - kaleidoscope_part(x, sine));
        x = x + kaleidoscope_part(2 * beyond, sine);
        y = y - kaleidoscope_part(2 * beyond, cosine);
    }
    x = x * 256 / ARG(args, 1);
    y = y * 256 / ARG(args, 1);
    int angle = TIME(args) % 60000 * ARG(args, 2) / 15 * 1024 / 1000;
    sine = kaleidoscope_sine(angle);
    cosine = kaleidoscope_sine(angle + 1024);
    int across = kaleidoscope_part(x, cosine) - kaleidoscope_part(y, sine);
    int down = kaleidoscope_part(x, sine) + kaleidoscope_part(y, cosine);
    p.x = kaleidoscope_inside(right / 2 + 16 * across, right);
    p.y = kaleidoscope_inside(bottom / 2 + 16 * down, bottom);
    return p;
}
