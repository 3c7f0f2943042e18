// matmul.cl: C = A * B for square matrices, with tiles in local memory; a work-item computes WORK_X * WORK_Y elements
//
// Parameters: GROUP_X, GROUP_Y (work-group), WORK_X, WORK_Y (elements per work-item), TILE_K (depth of a tile),
// PAD (columns that are added to a tile, so that its rows are in different banks).

#define TILE_X (GROUP_X * WORK_X)
#define TILE_Y (GROUP_Y * WORK_Y)
#define ITEMS (GROUP_X * GROUP_Y)

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, 1))) kernel void matmul(int n, global const float *a,
                                                                              global const float *b, global float *c)
{
    local float tile_a[TILE_Y][TILE_K + PAD], tile_b[TILE_K][TILE_X + PAD];
    const int x0 = get_group_id(0) * TILE_X, y0 = get_group_id(1) * TILE_Y;
    const int x = get_local_id(0), y = get_local_id(1), item = y * GROUP_X + x;
    float sum[WORK_Y][WORK_X] = {{0}};
    for (int k0 = 0; k0 < n; k0 += TILE_K) {
        for (int i = item; i < TILE_Y * TILE_K; i += ITEMS) {
            const int row = y0 + i / TILE_K, column = k0 + i % TILE_K;
            tile_a[i / TILE_K][i % TILE_K] = row < n && column < n ? a[row * n + column] : 0;
        }
        for (int i = item; i < TILE_K * TILE_X; i += ITEMS) {
            const int row = k0 + i / TILE_X, column = x0 + i % TILE_X;
            tile_b[i / TILE_X][i % TILE_X] = row < n && column < n ? b[row * n + column] : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE_K; k++)
            for (int j = 0; j < WORK_Y; j++)
                for (int i = 0; i < WORK_X; i++)
                    sum[j][i] += tile_a[y + j * GROUP_Y][k] * tile_b[k][x + i * GROUP_X];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int j = 0; j < WORK_Y; j++) {
        for (int i = 0; i < WORK_X; i++) {
            const int row = y0 + y + j * GROUP_Y, column = x0 + x + i * GROUP_X;
            if (row < n && column < n)
                c[row * n + column] = sum[j][i];
        }
    }
}
