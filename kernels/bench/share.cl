// share.cl: writes a pattern to an image
__kernel void share(__write_only image2d_t to, uint number)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < get_image_width(to) && y < get_image_height(to))
        write_imagef(to, (int2)(x, y), convert_float4((uint4)(x, y, number, 255) & 255u) / 255.0f);
}
