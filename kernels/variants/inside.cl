// inside.cl: the pass for CPU devices: most columns without clamps and checks, so that compilers vectorise
//
// A work-group is a part of ROWS rows, and the device runs it as a loop. `pass_inside` makes the columns that are at
// least the radius away from both sides, in groups of ROWS rows; its NDRange has only these. `pass` of pass.cl makes
// the other pixels.
#include "pass.cl"

#ifndef ROWS
#define ROWS 1 // a work-item's pixels, one below the other
#endif

#ifndef PASS_RADIUS
#define PASS_RADIUS 0
#endif

__kernel void pass_inside(__global const uchar *restrict bytes, layout layout, __global const int *restrict args,
                          DESTINATION to)
{
#pragma unroll
    for (int row = 0; row < ROWS; row++)
        pass_at(bytes, layout, args, to, get_global_id(0), get_global_id(1) * ROWS + row, 1);
}
