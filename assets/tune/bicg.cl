// bicg.cl: a kernel of the biconjugate gradient method: q = A p, and s = A' r, for a matrix A of `rows` times `columns`
//
// Parameters: FUSED (1: one kernel reads A once; 0: a kernel for each product), GROUP (work-items of a work-group),
// ROWS (rows of a part of s), CHUNK (rows whose products the fused kernel keeps in local memory), QUEUES (2: kernels
// may run at the same time).

// The sum over a row, by one work-group.
kernel void multiply_rows(int rows, int columns, global const float *a, global const float *p, global float *q)
{
    local float part[GROUP];
    const int row = get_group_id(0), item = get_local_id(0);
    float sum = 0;
    for (int x = item; x < columns; x += GROUP)
        sum += a[row * columns + x] * p[x];
    part[item] = sum;
    for (int half_size = GROUP / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_size)
            part[item] += part[item + half_size];
    }
    if (item == 0)
        q[row] = part[0];
}

// The sums over the columns of ROWS rows: a part of s.
kernel void multiply_columns(int rows, int columns, global const float *a, global const float *r, global float *s_parts)
{
    const int x = get_global_id(0), first = get_group_id(1) * ROWS;
    float sum = 0;
    for (int y = first; x < columns && y < min(first + ROWS, rows); y++)
        sum += a[y * columns + x] * r[y];
    if (x < columns)
        s_parts[get_group_id(1) * columns + x] = sum;
}

// Both, for GROUP columns: a part of q, and a part of s.
kernel void multiply_both(int rows, int columns, global const float *a, global const float *p, global const float *r,
                          global float *q_parts, global float *s_parts)
{
    local float product[CHUNK][GROUP + 1];
    const int x = get_global_id(0), item = get_local_id(0), first = get_group_id(1) * ROWS;
    const int end = min(first + ROWS, rows);
    const float own = x < columns ? p[x] : 0;
    float sum = 0;
    for (int y0 = first; y0 < end; y0 += CHUNK) {
        for (int k = 0; k < CHUNK; k++) {
            const float value = x < columns && y0 + k < end ? a[(y0 + k) * columns + x] : 0;
            sum += y0 + k < end ? value * r[y0 + k] : 0;
            product[k][item] = value * own;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = item; k < CHUNK; k += GROUP) {
            float row = 0;
            for (int i = 0; i < GROUP; i++)
                row += product[k][i];
            if (y0 + k < end)
                q_parts[get_group_id(0) * rows + y0 + k] = row;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (x < columns)
        s_parts[get_group_id(1) * columns + x] = sum;
}

// Adds the parts of a vector.
kernel void add_parts(int length, int parts, global const float *part, global float *sum)
{
    const int i = get_global_id(0);
    float all = 0;
    for (int k = 0; i < length && k < parts; k++)
        all += part[k * length + i];
    if (i < length)
        sum[i] = all;
}
