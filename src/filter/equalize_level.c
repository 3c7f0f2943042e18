// equalize_level.c: the tables of equalize and autolevels on the host (docs/pixels.md section 3)
#include "filter/equalize_level.h"

#include "filter/filter_kernels.h"

void equalize_measure(const uint32_t histogram[FILTER_LEVELS], int32_t *table)
{
    uint64_t all = 0, lowest = 0, below = 0;
    for (int i = FILTER_LEVELS - 1; i >= 0; i--) {
        all += histogram[i];
        lowest = histogram[i] > 0 ? histogram[i] : lowest;
    }
    for (int i = 0; i < FILTER_LEVELS; i++) {
        below += histogram[i];
        table[i] = equalize_level(i, below, lowest, all);
    }
}

void autolevels_measure(const uint32_t histogram[FILTER_LEVELS], int32_t *table)
{
    const int cut = table[FILTER_LEVELS];
    int low = 0, high = FILTER_LEVELS - 1;
    uint64_t all = 0, below = histogram[0], above = histogram[high];
    for (int i = 0; i < FILTER_LEVELS; i++)
        all += histogram[i];
    for (; low < FILTER_LEVELS - 1 && equalize_cuts(below, all, cut); below += histogram[low])
        low++;
    for (; high > 0 && equalize_cuts(above, all, cut); above += histogram[high])
        high--;
    for (int i = 0; i < FILTER_LEVELS; i++)
        table[i] = equalize_stretch(i, low, high);
}
