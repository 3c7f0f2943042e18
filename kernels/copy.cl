// copy.cl: a plain copy, with which the speed of passes is compared
#ifndef COPIES
#define COPIES 1 // pieces of 16 bytes per work-item
#endif

// Offsets are in units of 16 bytes. The pieces of a work-item are a whole NDRange apart, so that neighbouring
// work-items copy neighbouring pieces. The NDRange is exact, so that there is no branch.
__kernel void copy(__global const uint4 *restrict from, ulong from_offset, __global uint4 *restrict to, ulong to_offset)
{
    from += from_offset + get_global_id(0);
    to += to_offset + get_global_id(0);
#pragma unroll
    for (int i = 0; i < COPIES; i++)
        to[i * get_global_size(0)] = from[i * get_global_size(0)];
}
