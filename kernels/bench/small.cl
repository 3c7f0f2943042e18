// small.cl: emboss with light from the north-west, for one image or for many images in one launch
#ifndef ROWS
#define ROWS 16 // of work-items per image, in `packed`
#endif

// The table has the offset in pixels, the width and the height of each image.
void emboss(__global const uchar4 *from, __global uchar4 *to, int4 image, int x, int y)
{
    const int left = max(x - 1, 0), right = min(x + 1, image.y - 1);
    const int row = image.x + y * image.y, above = image.x + max(y - 1, 0) * image.y,
              below = image.x + min(y + 1, image.z - 1) * image.y;
    const int4 sum = 128 + convert_int4(from[row + right]) - convert_int4(from[row + left]) +
                     convert_int4(from[below + x]) - convert_int4(from[above + x]) + convert_int4(from[below + right]) -
                     convert_int4(from[above + left]);
    uchar4 pixel = convert_uchar4_sat(sum);
    pixel.w = from[row + x].w;
    to[row + x] = pixel;
}

// One image; a pixel per work-item.
__kernel void each(__global const uchar4 *restrict from, __global uchar4 *restrict to, __global const int4 *table,
                   int first)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int4 image = table[first];
    if (x < image.y && y < image.z)
        emboss(from, to, image, x, y);
}

// Many images; the work-items of each compute every ROWS-th row of pixels.
__kernel void packed(__global const uchar4 *restrict from, __global uchar4 *restrict to, __global const int4 *table,
                     int first)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int4 image = table[first + y / ROWS];
    if (x >= image.y)
        return;
    for (int at = y % ROWS; at < image.z; at += ROWS)
        emboss(from, to, image, x, at);
}
