// thermal.cl: colours for the brightness, as a thermal camera shows heat
//!SUMMARY colours for the brightness, as in a thermal camera
//!KIND point
//!PARAM palette
//!DESC order of the colours
//!CHOICES iron|rainbow
//!DEFAULT iron

// Rises from 0 to 255 between two levels.
INLINE int thermal_ramp(int level, int from, int to)
{
    return sat8((level - from) * 255 / (to - from));
}

INLINE pixel filter_thermal(pixel p, int x, int y, arguments args)
{
    int level = luma(p);
    if (ARG(args, 0) == 0) {
        p.r = thermal_ramp(level, 30, 160);
        p.g = thermal_ramp(level, 110, 230);
        p.b = level < 110 ? thermal_ramp(level, 0, 90) - thermal_ramp(level, 70, 130) : thermal_ramp(level, 200, 255);
    } else {
        p.r = thermal_ramp(level, 120, 190);
        p.g = thermal_ramp(level, 30, 100) - thermal_ramp(level, 190, 255);
        p.b = 255 - thermal_ramp(level, 80, 140);
    }
    return p;
}
