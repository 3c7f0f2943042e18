// convolution_reference.cl: a 7x7 convolution, one pixel per work-item; outside the image, the nearest pixel

kernel void convolution_reference(int width, int height, global const float *in, constant float *factor,
                                  global float *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    if (x >= width || y >= height)
        return;
    for (int dy = 0; dy < 7; dy++)
        for (int dx = 0; dx < 7; dx++)
            sum += factor[dy * 7 + dx] * in[clamp(y + dy - 3, 0, height - 1) * width + clamp(x + dx - 3, 0, width - 1)];
    out[y * width + x] = sum;
}
