// histogram.c: the parts of an input whose pixels are counted, and the tables and levels that filters make from the
// counts on the host (docs/pixels.md section 3)
#include "filter/histogram.h"

#include "filter/filter_kernels.h"

struct histogram_parts histogram_parts_of(bool colors, int tiles, int width, int height)
{
    const int side = tiles > 1 ? tiles : 1, more = width % side != 0 || height % side != 0;
    return (struct histogram_parts){.colors = colors,
                                    .parts = colors ? HISTOGRAM_CHANNELS : side * side,
                                    .tiles = side,
                                    .width = width / side + more,
                                    .height = height / side + more};
}

int histogram_mirrored(int at, int count)
{
    return equalize_mirrored(at, count);
}

void otsu_measure(const uint32_t *histogram, int32_t *numbers)
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

void equalize_measure(const uint32_t *histogram, int32_t *table)
{
    uint64_t all = 0, lowest = 0, cumulative = 0;
    for (int i = FILTER_LEVELS - 1; i >= 0; i--) {
        all += histogram[i];
        lowest = histogram[i] > 0 ? histogram[i] : lowest;
    }
    for (int i = 0; i < FILTER_LEVELS; i++) {
        cumulative += histogram[i];
        table[i] = equalize_level(i, cumulative, lowest, all);
    }
}

void autolevels_measure(const uint32_t *histogram, int32_t *table)
{
    const int cut = table[FILTER_LEVELS];
    int low = 0, high = FILTER_LEVELS - 1;
    uint64_t all = 0, cumulative = histogram[0], above = histogram[high];
    for (int i = 0; i < FILTER_LEVELS; i++)
        all += histogram[i];
    for (; low < FILTER_LEVELS - 1 && equalize_cuts(cumulative, all, cut); cumulative += histogram[low])
        low++;
    for (; high > 0 && equalize_cuts(above, all, cut); above += histogram[high])
        high--;
    for (int i = 0; i < FILTER_LEVELS; i++)
        table[i] = equalize_stretch(i, low, high);
}

static void make_tile(const uint32_t *histogram, int clip, int32_t *table)
{
    uint64_t all = 0, over = 0, cumulative = 0;
    for (int i = 0; i < FILTER_LEVELS; i++)
        all += histogram[i];
    const uint64_t limit = clahe_limit(all, clip);
    for (int i = 0; i < FILTER_LEVELS; i++)
        over += clahe_over(histogram[i], limit);
    for (int i = 0; i < FILTER_LEVELS; i++) {
        cumulative += clahe_limited(i, histogram[i], limit, over);
        table[i] = clahe_entry(cumulative, all);
    }
}

void clahe_measure(const uint32_t *counts, int32_t *numbers)
{
    const int tiles = numbers[CLAHE_TILES_AT] * numbers[CLAHE_TILES_AT];
    for (int i = 0; i < tiles; i++)
        make_tile(counts + i * FILTER_LEVELS, numbers[CLAHE_CLIP_AT], numbers + CLAHE_TABLES_AT + i * FILTER_LEVELS);
}

void grayworld_measure(const uint32_t *counts, int32_t *table)
{
    uint64_t sum[HISTOGRAM_CHANNELS] = {0}, sums = 0;
    for (int k = 0; k < HISTOGRAM_CHANNELS; k++) {
        for (int i = 0; i < FILTER_LEVELS; i++)
            sum[k] += (uint64_t)i * counts[k * FILTER_LEVELS + i];
        sums += sum[k];
    }
    for (int i = 0; i < FILTER_LEVELS; i++) {
        table[i] = 0;
        for (int k = 0; k < HISTOGRAM_CHANNELS; k++)
            table[i] |= grayworld_level(i, sum[k], sums) << 8 * k;
    }
}
