// otsu_level.cl: Otsu's threshold: compares the splits of a histogram in exact fractions (docs/pixels.md section 3)
//
// In the kernel language and 64-bit integers (`wide`), so not for GLSL. The values need up to 128 bits.
struct otsu_product {
    wide high, low;
};

INLINE struct otsu_product otsu_multiply(wide a, wide b)
{
    const wide mask = 0xffffffff;
    const wide low = (a & mask) * (b & mask);
    const wide cross = (a >> 32) * (b & mask) + (low >> 32);
    const wide middle = (a & mask) * (b >> 32) + (cross & mask);
    struct otsu_product product;
    product.high = (a >> 32) * (b >> 32) + (cross >> 32) + (middle >> 32);
    product.low = middle << 32 | (low & mask);
    return product;
}

// A split of a histogram behind `level`. Its variance is high * 2^64 + low + rest / divisor; 0 if a class is empty.
struct otsu_split {
    int level;
    wide high, low, rest, divisor;
};

// Returns the split whose classes have these numbers of pixels and these sums of values.
INLINE struct otsu_split otsu_split_of(int level, wide count0, wide sum0, wide count1, wide sum1)
{
    const wide upper = sum1 * count0, lower = sum0 * count1;
    const struct otsu_product square = otsu_multiply(upper - lower, upper - lower);
    struct otsu_split split;
    split.level = level;
    split.divisor = count0 == 0 || count1 == 0 ? 1 : count0 * count1;
    split.high = square.high / split.divisor;
    split.low = 0;
    split.rest = square.high % split.divisor;
    for (wide bit = (wide)1 << 63; bit > 0; bit >>= 1) {
        split.rest = 2 * split.rest + ((square.low & bit) != 0);
        if (split.rest >= split.divisor) {
            split.rest -= split.divisor;
            split.low |= bit;
        }
    }
    return split;
}

// Returns 1 if the split `a` has the larger variance, or the same variance and the lower level.
INLINE int otsu_better(struct otsu_split a, struct otsu_split b)
{
    const struct otsu_product x = otsu_multiply(a.rest, b.divisor), y = otsu_multiply(b.rest, a.divisor);
    if (a.high != b.high)
        return a.high > b.high;
    if (a.low != b.low)
        return a.low > b.low;
    if (x.high != y.high)
        return x.high > y.high;
    return x.low != y.low ? x.low > y.low : a.level < b.level;
}
