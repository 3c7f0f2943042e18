// common.cl: functions that filters share, in the kernel language

// Saturates a value to 0..255.
INLINE int sat8(int value)
{
    return clamp(value, 0, 255);
}

// A place in a picture, in 1/256 pixel. The centres of pixels are at multiples of 256.
STRUCT(place)
struct place {
    int x, y;
};

// Rec. 601 luma (docs/pixels.md section 3).
INLINE int luma(pixel p)
{
    return (77 * p.r + 150 * p.g + 29 * p.b + 128) >> 8;
}
