// otsu_level.c: the level of Otsu's method on the host (docs/pixels.md section 3)
#include "filter/otsu_level.h"

#include "filter/filter_kernels.h"

void otsu_level(const uint32_t *histogram, int32_t *numbers)
{
    wide count0 = 0, sum0 = 0, count1 = 0, sum1 = 0;
    for (int i = 0; i < FILTER_LEVELS; i++) {
        count1 += histogram[i];
        sum1 += (wide)i * histogram[i];
    }
    struct otsu_split best = otsu_split_of(0, 0, 0, count1, sum1);
    for (int i = 0; i < FILTER_LEVELS; i++) {
        if (histogram[i] == 0)
            continue; // the same classes as before
        count0 += histogram[i];
        sum0 += (wide)i * histogram[i];
        count1 -= histogram[i];
        sum1 -= (wide)i * histogram[i];
        const struct otsu_split split = otsu_split_of(i, count0, sum0, count1, sum1);
        best = otsu_better(split, best) ? split : best;
    }
    numbers[0] = best.level + 1;
}
