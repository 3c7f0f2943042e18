// measures.cl: the measures of a result (src/path/path.h), as three kernels that add to zeros
//
// The host puts the language before this file (src/path/opencl_results.c). `size`: width, height, words from a row of
// RGBA pixels to the next, strips. `first`: index of the kernel's first value.
enum {
    LEVELS = 256,
    CHANNELS = 3,
    COPIES = 4,       // of each counter: neighbouring work-items rarely add to the same one
    PART_ROWS = 32,   // rows of a column that a work-item adds
    SUMMED_SHIFT = 8, // of the summed channel, green
};

// Counts the values of each channel. Each work-group counts some rows.
__kernel void count_channels(__global const uint *restrict pixels, int4 size, __global uint *restrict values, int first)
{
    __local uint own[CHANNELS * LEVELS * COPIES];
    const int item = get_local_id(0), items = get_local_size(0), copy = item % COPIES;
    for (int i = item; i < CHANNELS * LEVELS * COPIES; i += items)
        own[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int y = get_group_id(0); y < size.y; y += get_num_groups(0)) {
        for (int x = item; x < size.x; x += items) {
            const uint word = pixels[y * size.z + x];
            for (int i = 0; i < CHANNELS; i++)
                atomic_inc(own + (i * LEVELS + (int)(word >> 8 * i & 255)) * COPIES + copy);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < CHANNELS * LEVELS; i += items) {
        uint sum = 0;
        for (int k = 0; k < COPIES; k++)
            sum += own[i * COPIES + k];
        if (sum > 0)
            atomic_add(values + first + i, sum);
    }
}

// Adds a part of a column to the sum of each strip that it meets.
__kernel void sum_columns(__global const uint *restrict pixels, int4 size, __global uint *restrict values, int first)
{
    const int x = get_global_id(0), strips = size.w;
    int y = (int)get_global_id(1) * PART_ROWS;
    const int end = min(y + PART_ROWS, size.y);
    if (x >= size.x)
        return;
    for (int strip = 0; strip < strips && y < end; strip++) {
        const int strip_end = min((int)((long)size.y * (strip + 1) / strips), end);
        uint sum = 0;
        const int begin = y;
        for (; y < strip_end; y++)
            sum += pixels[y * size.z + x] >> SUMMED_SHIFT & 255;
        if (y > begin)
            atomic_add(values + first + strip * size.x + x, sum);
    }
}

// Adds a row in each work-group.
__kernel void sum_rows(__global const uint *restrict pixels, int4 size, __global uint *restrict values, int first)
{
    __local uint total;
    const int y = get_group_id(0);
    uint sum = 0;
    if (get_local_id(0) == 0)
        total = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int x = get_local_id(0); x < size.x; x += get_local_size(0))
        sum += pixels[y * size.z + x] >> SUMMED_SHIFT & 255;
    atomic_add(&total, sum);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        values[first + y] = total;
}
