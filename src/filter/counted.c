// counted.c: the parts of an input whose pixels are counted (docs/pixels.md section 3, clahe)
#include "filter/counted.h"

#include "filter/filter_kernels.h"

struct counted counted_of(bool colors, int tiles, int width, int height)
{
    const int side = tiles > 1 ? tiles : 1, more = width % side != 0 || height % side != 0;
    return (struct counted){.colors = colors,
                            .parts = colors ? COUNTED_CHANNELS : side * side,
                            .tiles = side,
                            .width = width / side + more,
                            .height = height / side + more};
}

int counted_mirrored(int at, int count)
{
    return equalize_mirrored(at, count);
}
