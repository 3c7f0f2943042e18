// histogram.cl: histograms of a picture between two passes, and filters' arguments from them
//
// The host puts the language before this file (src/path/opencl_chain.c).
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

// Returns a channel of a pixel; channel -1: its luma.
INLINE int level_at(__global const uchar *bytes, int8 layout, int grey, int channel, int x, int y)
{
    if (grey)
        return bytes[y * layout.s2 + x];
    const uint word = ((__global const uint *)(bytes + y * layout.s2))[x];
    return channel < 0 ? luma(unpack(word)) : (int)(word >> 8 * channel & 255);
}

// Adds the pixels of the input's parts (src/filter/counted.h) to `counts`. Each row of work-groups counts one part,
// each work-group some rows of it. `layout` as in pass_io.cl; `grey`: 1 if the input has one byte per pixel; `counted`:
// 1 if the parts are the channels, the number of tiles in a row, their width, their height.
__kernel void count_levels(__global const uchar *restrict bytes, int8 layout, int grey, int4 counted,
                           __global uint *restrict counts)
{
    __local uint own[LEVELS * COPIES];
    const int item = get_local_id(0), items = get_local_size(0), part = get_group_id(1);
    const int channel = counted.s0 ? part : -1, tile = counted.s0 ? 0 : part;
    const int left = tile % counted.s1 * counted.s2, top = tile / counted.s1 * counted.s3;
    for (int i = item; i < LEVELS * COPIES; i += items)
        own[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_group_id(0); i < counted.s3; i += get_num_groups(0)) {
        const int y = equalize_mirrored(top + i, layout.s1);
        for (int x = left + item; x < left + counted.s2; x += items)
            count(own, level_at(bytes, layout, grey, channel, equalize_mirrored(x, layout.s0), y));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int level = item; level < LEVELS; level += items) {
        uint sum = 0;
        for (int copy = 0; copy < COPIES; copy++)
            sum += own[level * COPIES + copy];
        if (sum > 0)
            atomic_add(counts + part * LEVELS + level, sum);
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

// Each work-group computes the table of one tile.
__kernel void clahe(__global uint *restrict counts, __global int *restrict args)
{
    __local uint histogram[LEVELS];
    const int part = get_group_id(0), items = get_local_size(0);
    take(counts + part * LEVELS, histogram);
    const wide all = pixels_of(histogram, 0, LEVELS - 1), limit = clahe_limit(all, args[1]);
    wide over = 0;
    for (int level = 0; level < LEVELS; level++)
        over += clahe_over(histogram[level], limit);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int level = get_local_id(0); level < LEVELS; level += items)
        histogram[level] = clahe_limited(level, histogram[level], limit, over);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int level = get_local_id(0); level < LEVELS; level += items)
        args[CLAHE_TABLES + part * LEVELS + level] = clahe_entry(pixels_of(histogram, 0, level), all);
}

__kernel void grayworld(__global uint *restrict counts, __global int *restrict args)
{
    __local uint histogram[LEVELS];
    wide sum[] = {0, 0, 0};
    for (int channel = 0; channel < 3; channel++) {
        take(counts + channel * LEVELS, histogram);
        for (int level = 0; level < LEVELS; level++)
            sum[channel] += (wide)level * histogram[level];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const wide sums = sum[0] + sum[1] + sum[2];
    for (int level = get_local_id(0); level < LEVELS; level += get_local_size(0))
        args[level] = grayworld_level(level, sum[0], sums) | grayworld_level(level, sum[1], sums) << 8 |
                      grayworld_level(level, sum[2], sums) << 16;
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
