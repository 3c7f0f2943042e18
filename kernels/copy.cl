// copy.cl: the plain copy that passes are compared with
#ifndef COPIES
#define COPIES 1 // of 16 bytes, per work-item
#endif

// Offsets count 16 bytes. The pieces of a work-item are a whole NDRange apart, so that neighbouring work-items copy
// neighbouring pieces. The NDRange is exact, so that there is no branch.
__kernel void copy(__global const uint4 *restrict from, ulong from_offset, __global uint4 *restrict to, ulong to_offset)
{
    from += from_offset + get_global_id(0);
    to += to_offset + get_global_id(0);
#pragma unroll
    for (int i = 0; i < COPIES; i++)
        to[i * get_global_size(0)] = from[i * get_global_size(0)];
}
