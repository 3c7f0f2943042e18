// images.cl: reads and writes each pixel of an image once
#ifndef READ
#define READ read_imageui // or read_imagef, write_imagef, convert_float4
#define WRITE write_imageui
#define TO_PIXEL convert_uint4
#endif
#ifndef EACH
#define EACH 16 // pixels of a work-item
#endif

// A work-group has a block of pixels. Its work-items are at neighbouring pixels at each step.
#define PLACE(i) ((int2)(get_global_id(0), (get_group_id(1) * EACH + (i)) * get_local_size(1) + get_local_id(1)))

// Writes the exclusive or of a work-item's pixels.
__kernel void read(__read_only image2d_t image, __global uint *restrict to)
{
    const sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
    uint4 sum = 0;
#pragma unroll
    for (int i = 0; i < EACH; i++)
        sum ^= as_uint4(READ(image, nearest, PLACE(i)));
    to[get_global_id(1) * get_global_size(0) + get_global_id(0)] = sum.x ^ sum.y ^ sum.z ^ sum.w;
}

// Fills the image with numbers from 1 to 255 that depend on the place.
__kernel void write(__write_only image2d_t image)
{
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int2 at = PLACE(i);
        WRITE(image, at, TO_PIXEL(((uint4)(at.x + 3 * at.y, at.x, at.y, 254) & 255) | 1));
    }
}
