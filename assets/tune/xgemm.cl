// xgemm.cl: copies matrices to and from the sizes that gemm.cl needs
//
// Parameters: those of gemm.cl, and PAD_X, PAD_Y (work-group).

// Copies a matrix to a larger one, with zeros around it.
kernel void pad(int width, int height, int padded, global const float *from, global float *to)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < padded)
        to[y * padded + x] = x < width && y < height ? from[y * width + x] : 0;
}

// C = ALPHA times the part of a product that is the result, + BETA C.
kernel void add_product(int m, int n, int padded, global const float *product, global float *c)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < m && y < n)
        c[y * m + x] = ALPHA * product[y * padded + x] + BETA * c[y * m + x];
}
