// sort.cl: sorts keys by BITS bits at a time, from the lowest (radix sort): count, scan and move for each digit
//
// Parameters: BITS (of a digit), GROUP (work-items of a work-group), ITEMS (keys per work-item), SCAN (work-items of
// the scan). Each work-group has a tile of GROUP * ITEMS keys. count[digit * groups + group] becomes the place of the
// first such key of the tile.

#define DIGITS (1 << BITS)
#define DIGIT(key, shift) ((key) >> (shift) & (DIGITS - 1))

kernel void count_digits(int keys, int shift, global const uint *from, global uint *count)
{
    local uint own[DIGITS];
    const int item = get_local_id(0), groups = get_num_groups(0), first = get_group_id(0) * GROUP * ITEMS;
    for (int digit = item; digit < DIGITS; digit += GROUP)
        own[digit] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = first + item; i < min(first + GROUP * ITEMS, keys); i += GROUP)
        atomic_inc(&own[DIGIT(from[i], shift)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int digit = item; digit < DIGITS; digit += GROUP)
        count[digit * groups + get_group_id(0)] = own[digit];
}

// Returns the sum of the values of the work-items before this one.
static uint sum_before(uint own, local uint *sums, int size)
{
    const int item = get_local_id(0);
    sums[item] = own;
    for (int distance = 1; distance < size; distance *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint before = item >= distance ? sums[item - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[item] += before;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return sums[item] - own;
}

// One work-group replaces each count by the sum of those before it.
kernel void scan_counts(int counts, global uint *count)
{
    local uint sums[SCAN];
    const int each = (counts + SCAN - 1) / SCAN, from = get_local_id(0) * each, to = min(from + each, counts);
    uint sum = 0;
    for (int i = from; i < to; i++)
        sum += count[i];
    sum = sum_before(sum, sums, SCAN);
    for (int i = from; i < to; i++) {
        const uint own = count[i];
        count[i] = sum;
        sum += own;
    }
}

// Each work-item moves ITEMS adjacent keys, so that equal digits keep their order.
kernel void move_keys(int keys, int shift, global const uint *from, global const uint *count, global uint *to)
{
    local ushort own[DIGITS][GROUP];
    const int item = get_local_id(0), groups = get_num_groups(0);
    const int first = (get_group_id(0) * GROUP + item) * ITEMS, end = min(first + ITEMS, keys);
    for (int digit = 0; digit < DIGITS; digit++)
        own[digit][item] = 0;
    for (int i = first; i < end; i++)
        own[DIGIT(from[i], shift)][item]++;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int digit = item; digit < DIGITS; digit += GROUP) {
        ushort sum = 0;
        for (int i = 0; i < GROUP; i++) {
            const ushort before = own[digit][i];
            own[digit][i] = sum;
            sum += before;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = first; i < end; i++) {
        const uint key = from[i], digit = DIGIT(key, shift);
        to[count[digit * groups + get_group_id(0)] + own[digit][item]++] = key;
    }
}
