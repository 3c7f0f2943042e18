// matmul.cl: products of matrices, stored by rows: c = a * b
#ifndef TYPE
#define TYPE float
#define TYPE4 float4
#endif
#ifndef TILE
#define TILE 16 // rows and columns of c that a work-group computes; of each tile in local memory
#endif
#ifndef EACH
#define EACH 1 // tiled: rows of c per work-item; block: rows and columns, a multiple of 4
#endif

// Some drivers allow large work-groups only if the kernel names their shape.
#ifdef GROUP_X
#define GROUP_SHAPE __attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, 1)))
#else
#define GROUP_SHAPE
#endif

// `n`: rows of a, columns of b; `k`: columns of a, rows of b. A work-item computes one number.
__kernel GROUP_SHAPE void naive(__global const TYPE *restrict a, __global const TYPE *restrict b,
                                __global TYPE *restrict c, int n, int k)
{
    const int x = get_global_id(0), y = get_global_id(1);
    TYPE sum = 0;
    for (int i = 0; i < k; i++)
        sum += a[y * k + i] * b[i * n + x];
    c[y * n + x] = sum;
}

// The work-group, of TILE * (TILE / EACH) work-items, copies tiles of both matrices to local memory.
__kernel GROUP_SHAPE void tiled(__global const TYPE *restrict a, __global const TYPE *restrict b,
                                __global TYPE *restrict c, int n, int k)
{
    __local TYPE left[TILE][TILE], right[TILE][TILE];
    const int x = get_local_id(0), y = get_local_id(1);
    const int column = get_group_id(0) * TILE + x, row = get_group_id(1) * TILE + y;
    TYPE sum[EACH];
    for (int e = 0; e < EACH; e++)
        sum[e] = 0;
    for (int at = 0; at < k; at += TILE) {
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const int skip = e * (TILE / EACH);
            left[y + skip][x] = a[(row + skip) * k + at + x];
            right[y + skip][x] = b[(at + y + skip) * n + column];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 8
        for (int i = 0; i < TILE; i++) {
            const TYPE factor = right[i][x];
#pragma unroll
            for (int e = 0; e < EACH; e++)
                sum[e] += left[y + e * (TILE / EACH)][i] * factor;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int e = 0; e < EACH; e++)
        c[(row + e * (TILE / EACH)) * n + column] = sum[e];
}

// 16 x 16 work-items compute a square of SIDE x SIDE numbers, each EACH x EACH of them: squares of 4 x 4 that are 64
// apart. A number in local memory serves EACH multiplications. Each work-item copies four numbers of each tile. It
// loads the numbers of the next tiles before the arithmetic. Both tiles have two buffers, so one barrier is enough.
#define SIDE (16 * EACH)
#define DEPTH (EACH < 4 ? 16 : 64 / EACH)
#define SQUARES (EACH < 4 ? 1 : EACH / 4)
#define CELLS (4 * SQUARES)
#ifdef IN_ORDER
#define UNROLL_DEPTH _Pragma("unroll 4") // CPUs have few registers
#else
#define UNROLL_DEPTH _Pragma("unroll")
#endif
#define COLUMN (SIDE + 4) // of `left`; with 4 more, the work-items that store at the same time use different banks
__kernel GROUP_SHAPE void block(__global const TYPE *restrict a, __global const TYPE *restrict b,
                                __global TYPE *restrict c, uint n, uint k)
{
    // left: a's tile, columns first
    __local TYPE4 left[2][DEPTH * COLUMN / 4], right[2][DEPTH * SIDE / 4];
    const uint item = get_local_id(1) * 16 + get_local_id(0);
    // GPUs run 32 work-items together. As 8 x 4 squares, they read less local memory than as 16 x 2.
    const uint x = item / 32 % 2 * 8 + item % 8, y = item / 64 * 4 + item / 8 % 4;
    const uint column = get_group_id(0) * SIDE, row = get_group_id(1) * SIDE;
    const uint left_row = item / 2 % SIDE, left_at = item / (2 * SIDE) * 8 + item % 2 * 4;
    const uint right_row = item / (SIDE / 4), right_at = item % (SIDE / 4) * 4;
    __global const TYPE *from_a = a + (row + left_row) * k + left_at;
    __global const TYPE *from_b = b + right_row * n + column + right_at;
    TYPE4 next_left = *(__global const TYPE4 *)from_a, next_right = *(__global const TYPE4 *)from_b;
    TYPE4 sum[CELLS][SQUARES];
#pragma unroll
    for (int e = 0; e < CELLS; e++)
#pragma unroll
        for (int s = 0; s < SQUARES; s++)
            sum[e][s] = 0;
    for (uint at = 0; at < k; at += DEPTH) {
        const uint now = at / DEPTH % 2;
        __local TYPE *to = (__local TYPE *)left[now] + left_at * COLUMN + left_row;
        to[0] = next_left.x;
        to[COLUMN] = next_left.y;
        to[2 * COLUMN] = next_left.z;
        to[3 * COLUMN] = next_left.w;
        right[now][item] = next_right;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (at + DEPTH < k) {
            from_a += DEPTH;
            from_b += DEPTH * n;
            next_left = *(__global const TYPE4 *)from_a;
            next_right = *(__global const TYPE4 *)from_b;
        }
        UNROLL_DEPTH
        for (int i = 0; i < DEPTH; i++) {
            TYPE4 factor[SQUARES];
#pragma unroll
            for (int s = 0; s < SQUARES; s++)
                factor[s] = right[now][i * SIDE / 4 + s * 16 + x];
#pragma unroll
            for (int s = 0; s < SQUARES; s++) {
                const TYPE4 lines = left[now][i * COLUMN / 4 + s * 16 + y];
#pragma unroll
                for (int t = 0; t < SQUARES; t++) {
                    sum[4 * s][t] += lines.x * factor[t];
                    sum[4 * s + 1][t] += lines.y * factor[t];
                    sum[4 * s + 2][t] += lines.z * factor[t];
                    sum[4 * s + 3][t] += lines.w * factor[t];
                }
            }
        }
    }
#pragma unroll
    for (int e = 0; e < CELLS; e++)
#pragma unroll
        for (int s = 0; s < SQUARES; s++)
            *(__global TYPE4 *)(c + (row + e / 4 * 64 + y * 4 + e % 4) * n + column + s * 64 + x * 4) = sum[e][s];
}
