// nightvision.cl: the picture of a night vision device
//!SUMMARY show green light and noise, as a night vision device
//!KIND point
//!PARAM gain
//!DESC factor of the brightness
//!TYPE float
//!RANGE 1 8
//!DEFAULT 2
//!STEP 0.25
//!PARAM noise
//!DESC greatest change of a pixel by noise
//!TYPE int
//!RANGE 0 128
//!DEFAULT 32
//!STEP 4

// Returns -128 to 127, another number for each pixel and frame.
INLINE int nightvision_noise(int x, int y, int frame)
{
    int n = (x * 1619 + y * 31337 + (frame & 1023) * 6971) & 65535;
    for (int i = 0; i < 3; i++) {
        n = (n * 1103 + 12345) & 65535;
        n = n ^ n >> 5;
    }
    return (n >> 8) - 128;
}

INLINE pixel filter_nightvision(pixel p, int x, int y, arguments args)
{
    int level = luma(p) * ARG(args, 0) >> 8;
    level = sat8(level + nightvision_noise(x, y, FRAME(args)) * ARG(args, 1) / 128);
    level = level * (y % 3 == 0 ? 192 : 256) >> 8; // lines of the screen
    p.r = level / 5;
    p.g = level;
    p.b = level / 4;
    return p;
}
