// reduction.cl: the sum of a list: each work-group adds a part of it, then one adds the parts, or each pass writes a
// list that is shorter by GROUP * VECTOR times
//
// Parameters: PASSES (1: passes), GROUP (work-items of a work-group), GROUPS (work-groups), VECTOR (floats per load, or
// per work-item of a pass), STRIDED (1: adjacent work-items read adjacent vectors; 0: each work-item reads a range of
// its own).

#if VECTOR == 1
#define LOAD(p, i) (p)[i]
#elif VECTOR == 2
#define LOAD(p, i) pair_sum(vload2(i, p))
#else
#define LOAD(p, i) (pair_sum(vload4(i, p).lo) + pair_sum(vload4(i, p).hi))
#endif

static float pair_sum(float2 pair)
{
    return pair.x + pair.y;
}

// Returns the sum over the work-group to its first work-item.
static float group_sum(float own, local float *part, int size)
{
    const int item = get_local_id(0);
    part[item] = own;
    for (int half_size = size / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_size)
            part[item] += part[item + half_size];
    }
    return part[0];
}

kernel void add_parts(int count, global const float *list, global float *sums)
{
    local float part[GROUP];
    const int vectors = count / VECTOR, items = GROUP * GROUPS, item = get_global_id(0);
    const int range = (vectors + items - 1) / items;
    const int from = STRIDED ? item : item * range, step = STRIDED ? items : 1;
    const int to = STRIDED ? vectors : min(from + range, vectors);
    float sum = 0;
    for (int i = from; i < to; i += step)
        sum += LOAD(list, i);
    if (item == 0)
        for (int i = vectors * VECTOR; i < count; i++)
            sum += list[i];
    sum = group_sum(sum, part, GROUP);
    if (get_local_id(0) == 0)
        sums[get_group_id(0)] = sum;
}

kernel void add_sums(global const float *sums, global float *total)
{
    local float part[GROUP];
    float sum = 0;
    for (int i = get_local_id(0); i < GROUPS; i += GROUP)
        sum += sums[i];
    sum = group_sum(sum, part, GROUP);
    if (get_local_id(0) == 0)
        *total = sum;
}

// Each work-group adds GROUP * VECTOR numbers.
kernel void add_pass(int count, global const float *from, global float *to, global float *total)
{
    local float part[GROUP];
    float sum = 0;
    for (int k = 0, i = get_group_id(0) * GROUP * VECTOR + get_local_id(0); k < VECTOR; k++, i += GROUP)
        sum += i < count ? from[i] : 0;
    sum = group_sum(sum, part, GROUP);
    if (get_local_id(0) == 0)
        *(get_num_groups(0) == 1 ? total : to + get_group_id(0)) = sum;
}
