// inside.cl: the pass of CPU devices: most columns without clamps and checks, so that compilers vectorise
//
// A work-group is a row, which such a device runs as a loop. `pass_inside` makes the columns at least the radius away
// from both sides, of which the NDRange has no other; `pass` of pass.cl makes the others.
#include "pass.cl"

#ifndef PASS_RADIUS
#define PASS_RADIUS 0
#endif

__kernel void pass_inside(__global const uchar *restrict bytes, layout layout, __global const int *restrict args,
                          DESTINATION to)
{
    pass_at(bytes, layout, args, to, get_global_id(0), get_global_id(1), 1);
}
