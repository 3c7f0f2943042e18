// gemm_reference.cl: C = ALPHA A' B + BETA C; each work-item computes a number

#ifndef ALPHA
#define ALPHA 1
#define BETA 0
#endif

kernel void gemm_reference(int m, int n, int k, global const float *a, global const float *b, global float *c)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int i = 0; x < m && y < n && i < k; i++)
        sum += a[i * m + x] * b[i * n + y];
    if (x < m && y < n)
        c[y * m + x] = ALPHA * sum + BETA * c[y * m + x];
}
