// matmul_reference.cl: C = A * B, one element per work-item

kernel void matmul_reference(int n, global const float *a, global const float *b, global float *c)
{
    const int column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    if (column >= n || row >= n)
        return;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
