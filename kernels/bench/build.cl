// build.cl: a small stencil to compile; NUMBER makes its machine code differ from all others
#ifndef NUMBER
#define NUMBER 0
#endif

__kernel void build(__global const uchar *restrict from, __global uint *restrict to, int width, int height)
{
    const int x = get_global_id(0), y = get_global_id(1);
    uint sum = 0;
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++)
            sum += from[clamp(y + j, 0, height - 1) * width + clamp(x + i, 0, width - 1)];
    to[y * width + x] = sum * (NUMBER | 1u);
}
