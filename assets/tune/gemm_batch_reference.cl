// gemm_batch_reference.cl: the products of many small matrices; each work-item computes a number

kernel void gemm_batch_reference(int count, global const float *a, global const float *b, global float *c)
{
    const int x = get_global_id(0), y = get_global_id(1), number = get_global_id(2);
    float sum = 0;
    for (int k = 0; k < K; k++)
        sum += a[(number * M + y) * K + k] * b[(number * K + k) * N + x];
    c[(number * M + y) * N + x] = sum;
}
