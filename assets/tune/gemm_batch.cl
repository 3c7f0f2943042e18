// gemm_batch.cl: the products C = A B of many small matrices: A has M times K numbers, B has K times N
//
// Parameters: BATCH (products of a work-group), ROWS (rows of C per work-item), LOCAL_A, LOCAL_B (1: in local memory),
// PAD (1: a number more in each row there). Macros: M, N, K.

#define STRIDE_A (K + PAD)
#define STRIDE_B (N + PAD)

kernel void gemm_batch(int count, global const float *a, global const float *b, global float *c)
{
    const int column = get_local_id(0), row = get_local_id(1) * ROWS, slot = get_local_id(2);
    const int number = get_group_id(2) * BATCH + slot, item = get_local_id(1) * N + column, items = N * (M / ROWS);
    const bool inside = number < count;
    a += inside ? number * M * K : 0;
    b += inside ? number * K * N : 0;
#if LOCAL_A
    local float own_a[BATCH][M * STRIDE_A];
    for (int i = item; i < M * K; i += items)
        own_a[slot][i / K * STRIDE_A + i % K] = a[i];
#define A(y, k) own_a[slot][(y) * STRIDE_A + (k)]
#else
#define A(y, k) a[(y) * K + (k)]
#endif
#if LOCAL_B
    local float own_b[BATCH][K * STRIDE_B];
    for (int i = item; i < K * N; i += items)
        own_b[slot][i / N * STRIDE_B + i % N] = b[i];
#define B(k, x) own_b[slot][(k) * STRIDE_B + (x)]
#else
#define B(k, x) b[(k) * N + (x)]
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum[ROWS];
    for (int i = 0; i < ROWS; i++)
        sum[i] = 0;
    for (int k = 0; k < K; k++) {
        const float value = B(k, column);
        for (int i = 0; i < ROWS; i++)
            sum[i] += A(row + i, k) * value;
    }
    for (int i = 0; inside && i < ROWS; i++)
        c[(number * M + row + i) * N + column] = sum[i];
}
