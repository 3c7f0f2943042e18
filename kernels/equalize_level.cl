// equalize_level.cl: results of equalize, autolevels, clahe and grayworld from counts of pixels (docs/pixels.md
// section 3)
//
// In the kernel language and 64-bit integers (`wide`), so not for GLSL.
enum {
    EQUALIZE_TENTHS = 10000, // the cut of autolevels is in parts of this
    CLAHE_LEVELS = 256,
    CLAHE_TABLES = 4, // the arguments of clahe before its tables
};

// Returns an entry of a table (common.cl) with equal channels.
INLINE int equalize_entry(int level)
{
    return level * 0x010101;
}

// cumulative: the count of all levels from 0 to this one; lowest: that of the lowest level that has pixels; all: the
// pixels of the picture.
INLINE int equalize_level(int level, wide cumulative, wide lowest, wide all)
{
    const wide more = cumulative > lowest ? cumulative - lowest : 0, rest = all - lowest;
    return equalize_entry(rest == 0 ? level : (int)((510 * more + rest) / (2 * rest)));
}

// Returns 1 if so few pixels may be cut off at one end.
INLINE int equalize_cuts(wide pixels, wide all, int cut)
{
    return pixels * EQUALIZE_TENTHS <= all * (wide)cut;
}

// low, high: the levels that become 0 and 255.
INLINE int equalize_stretch(int level, int low, int high)
{
    const int width = high - low, above = clamp(level - low, 0, width);
    return equalize_entry(width <= 0 ? level : (510 * above + width) / (2 * width));
}

// Returns the pixel of a row or column of `count` pixels for a place that may lie beyond its end: the row is mirrored
// at its last and first pixels.
INLINE int equalize_mirrored(int at, int count)
{
    if (at < count || count == 1)
        return min(at, count - 1);
    const int period = 2 * (count - 1), within = at % period;
    return within < count ? within : period - within;
}

// Returns the largest count of a level that clahe keeps. `clip`: in 1/100 of the mean count; 0: no limit.
INLINE wide clahe_limit(wide all, int clip)
{
    const wide limit = all * (wide)clip / (100 * CLAHE_LEVELS);
    return clip == 0 ? all : limit > 0 ? limit : 1;
}

INLINE wide clahe_over(wide pixels, wide limit)
{
    return pixels > limit ? pixels - limit : 0;
}

// Returns the limited count of a level plus its part of `over`, the pixels of all levels above the limit.
INLINE wide clahe_limited(int level, wide pixels, wide limit, wide over)
{
    const int rest = (int)(over % CLAHE_LEVELS), step = CLAHE_LEVELS / max(rest, 1);
    return pixels - clahe_over(pixels, limit) + over / CLAHE_LEVELS + (level % step == 0 && level / step < rest);
}

// cumulative: the limited counts of all levels from 0 to this one.
INLINE int clahe_entry(wide cumulative, wide all)
{
    return (int)((510 * cumulative + all) / (2 * all));
}

// Returns a value of a channel, scaled so that the channel's sum over the picture, `sum`, becomes the mean of the three
// channels' sums; `sums` is their total.
INLINE int grayworld_level(int level, wide sum, wide sums)
{
    const wide balanced = sum == 0 ? (wide)level : (2 * (wide)level * sums + 3 * sum) / (6 * sum);
    return balanced > 255 ? 255 : (int)balanced;
}
