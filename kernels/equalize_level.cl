// equalize_level.cl: results of equalize and autolevels from counts of pixels (docs/pixels.md section 3)
//
// In the kernel language and 64-bit integers (`wide`), so not for GLSL.
enum { EQUALIZE_TENTHS = 10000 }; // the cut of autolevels is in parts of this

// Returns an entry of a table (common.cl) with equal channels.
INLINE int equalize_entry(int level)
{
    return level * 0x010101;
}

// `below`: the pixels up to this level; lowest: those of the lowest level that has any; all: the pixels of the picture.
INLINE int equalize_level(int level, wide below, wide lowest, wide all)
{
    const wide more = below > lowest ? below - lowest : 0, rest = all - lowest;
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
