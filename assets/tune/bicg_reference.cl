// bicg_reference.cl: q = A p, and s = A' r; each work-item computes an element of both

kernel void bicg_reference(int rows, int columns, global const float *a, global const float *p, global const float *r,
                           global float *q, global float *s)
{
    const int i = get_global_id(0);
    float row = 0, column = 0;
    for (int x = 0; i < rows && x < columns; x++)
        row += a[i * columns + x] * p[x];
    for (int y = 0; i < columns && y < rows; y++)
        column += a[y * columns + i] * r[y];
    if (i < rows)
        q[i] = row;
    if (i < columns)
        s[i] = column;
}
