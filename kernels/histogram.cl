// histogram.cl: the histogram of a picture between two passes, and filters' arguments from it
//
// The host puts the language before this file (src/path/opencl_histogram.c).
#include "equalize_level.cl"
#include "otsu_level.cl"
#include "source.cl"

enum {
    LEVELS = 256,
    COPIES = 8, // of each counter: neighbouring work-items rarely add to the same one
};

INLINE void count(__local uint *counts, int level)
{
    atomic_inc(counts + level * COPIES + (int)get_local_id(0) % COPIES);
}

// Adds the luma of the pixels to `counts`. Each work-group counts some rows. `layout` as in pass_io.cl; grey: one byte
// per pixel.
__kernel void count_luma(__global const uchar *restrict bytes, int8 layout, int grey, __global uint *restrict counts)
{
    __local uint own[LEVELS * COPIES];
    const int item = get_local_id(0), items = get_local_size(0), width = layout.s0;
    for (int i = item; i < LEVELS * COPIES; i += items)
        own[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int y = get_group_id(0); y < layout.s1; y += get_num_groups(0)) {
        __global const uint *row = (__global const uint *)(bytes + y * layout.s2);
        if (grey) {
            for (int x = 4 * item; x < width; x += 4 * items) {
                const uint values = row[x / 4];
                for (int i = 0; i < 4 && x + i < width; i++)
                    count(own, values >> 8 * i & 255);
            }
        } else {
            for (int x = item; x < width; x += items)
                count(own, luma(unpack(row[x])));
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int level = item; level < LEVELS; level += items) {
        uint sum = 0;
        for (int copy = 0; copy < COPIES; copy++)
            sum += own[level * COPIES + copy];
        if (sum > 0)
            atomic_add(counts + level, sum);
    }
}

// Takes the histogram from `counts`, which becomes 0. The work-group then waits for all items.
INLINE void take(__global uint *counts, __local uint *histogram)
{
    for (int i = get_local_id(0); i < LEVELS; i += get_local_size(0)) {
        histogram[i] = counts[i];
        counts[i] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// Returns the pixels of the levels first to last.
INLINE wide pixels_of(__local const uint *histogram, int first, int last)
{
    wide pixels = 0;
    for (int i = first; i <= last; i++)
        pixels += histogram[i];
    return pixels;
}

// Compute the arguments of the filters `equalize` and `autolevels`, as their files do on the host.
__kernel void equalize(__global uint *restrict counts, __global int *restrict args)
{
    __local uint histogram[LEVELS];
    take(counts, histogram);
    int lowest = 0;
    while (lowest < LEVELS - 1 && histogram[lowest] == 0)
        lowest++;
    const wide all = pixels_of(histogram, 0, LEVELS - 1);
    for (int level = get_local_id(0); level < LEVELS; level += get_local_size(0))
        args[level] = equalize_level(level, pixels_of(histogram, 0, level), histogram[lowest], all);
}

__kernel void autolevels(__global uint *restrict counts, __global int *restrict args)
{
    __local uint histogram[LEVELS];
    take(counts, histogram);
    const int cut = args[LEVELS];
    const wide all = pixels_of(histogram, 0, LEVELS - 1);
    int low = 0, high = LEVELS - 1;
    while (low < LEVELS - 1 && equalize_cuts(pixels_of(histogram, 0, low), all, cut))
        low++;
    while (high > 0 && equalize_cuts(pixels_of(histogram, high, LEVELS - 1), all, cut))
        high--;
    for (int level = get_local_id(0); level < LEVELS; level += get_local_size(0))
        args[level] = equalize_stretch(level, low, high);
}

// Returns the split of a histogram behind `level`.
INLINE struct otsu_split otsu_split_at(__local const uint *histogram, int level)
{
    wide count0 = 0, sum0 = 0, count1 = 0, sum1 = 0;
    for (int i = 0; i < LEVELS; i++) {
        const wide pixels = histogram[i];
        if (i <= level) {
            count0 += pixels;
            sum0 += (wide)i * pixels;
        } else {
            count1 += pixels;
            sum1 += (wide)i * pixels;
        }
    }
    return otsu_split_of(level, count0, sum0, count1, sum1);
}

// Computes the argument of the filter `otsu`, and clears `counts`. One work-group; its size is a power of two, at most
// LEVELS.
__kernel void otsu(__global uint *restrict counts, __global int *restrict args)
{
    __local uint histogram[LEVELS];
    __local struct otsu_split best[LEVELS];
    const int item = get_local_id(0), items = get_local_size(0);
    take(counts, histogram);
    best[item] = otsu_split_at(histogram, item);
    for (int level = item + items; level < LEVELS; level += items) {
        const struct otsu_split split = otsu_split_at(histogram, level);
        if (otsu_better(split, best[item]))
            best[item] = split;
    }
    for (int step = items / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < step && otsu_better(best[item + step], best[item]))
            best[item] = best[item + step];
    }
    if (item == 0)
        args[0] = best[0].level + 1;
}
