// convolution.cl: the sum of 5 x 5 pixels times weights, divided by 16; outside the image, the nearest pixel counts
#ifndef TYPE
#define TYPE uchar // or uchar4
#define SUM int
#define TO_SUM convert_int
#define TO_TYPE convert_uchar_sat
#endif
#ifndef GROUP
#define GROUP 16 // rows and columns of a work-group
#endif

#define PIXEL(x, y) TO_SUM(from[clamp((int)(y), 0, height - 1) * width + clamp((int)(x), 0, width - 1)])

__kernel void plain(__global const TYPE *restrict from, __global TYPE *restrict to, __constant int *weights, int width,
                    int height)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    SUM sum = 0;
#pragma unroll
    for (int j = 0; j < 5; j++)
#pragma unroll
        for (int i = 0; i < 5; i++)
            sum += PIXEL(x + i - 2, y + j - 2) * weights[j * 5 + i];
    to[y * width + x] = TO_TYPE(sum >> 4);
}

// The work-group copies its pixels and those around them to local memory.
__kernel void tile(__global const TYPE *restrict from, __global TYPE *restrict to, __constant int *weights, int width,
                   int height)
{
    __local TYPE copy[GROUP + 4][GROUP + 4];
    const int x = get_global_id(0), y = get_global_id(1), left = get_local_id(0), top = get_local_id(1);
    for (int j = top; j < GROUP + 4; j += GROUP)
        for (int i = left; i < GROUP + 4; i += GROUP)
            copy[j][i] = from[clamp(y + j - top - 2, 0, height - 1) * width + clamp(x + i - left - 2, 0, width - 1)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x >= width || y >= height)
        return;
    SUM sum = 0;
#pragma unroll
    for (int j = 0; j < 5; j++)
#pragma unroll
        for (int i = 0; i < 5; i++)
            sum += TO_SUM(copy[top + j][left + i]) * weights[j * 5 + i];
    to[y * width + x] = TO_TYPE(sum >> 4);
}

// A work-item makes four pixels, one below the other, and reads each pixel once.
__kernel void rows(__global const TYPE *restrict from, __global TYPE *restrict to, __constant int *weights, int width,
                   int height)
{
    const int x = get_global_id(0), y = get_global_id(1) * 4;
    if (x >= width || y >= height)
        return;
    SUM sum[4];
#pragma unroll
    for (int e = 0; e < 4; e++)
        sum[e] = 0;
#pragma unroll
    for (int j = 0; j < 8; j++) {
#pragma unroll
        for (int i = 0; i < 5; i++) {
            const SUM pixel = PIXEL(x + i - 2, y + j - 2);
#pragma unroll
            for (int e = 0; e < 4; e++)
                if (j >= e && j - e < 5)
                    sum[e] += pixel * weights[(j - e) * 5 + i];
        }
    }
#pragma unroll
    for (int e = 0; e < 4; e++)
        if (y + e < height)
            to[(y + e) * width + x] = TO_TYPE(sum[e] >> 4);
}
