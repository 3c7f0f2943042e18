// caches.cl: reads the same memory again and again
#ifndef TYPE
#define TYPE uint // or a vector: uint4
#endif
#ifndef TILE
#define TILE 256 // elements of local memory; a power of two, at least a work-group
#endif

// Reads `mask` + 1 elements (a power of two) again and again. A work-item begins at its number times `first` and goes
// on by `step`. Writes the exclusive or.
__kernel void again(__global const TYPE *restrict from, __global TYPE *restrict to, uint mask, uint first, uint step,
                    uint loops)
{
    uint at = get_global_id(0) * first;
    TYPE a = 0, b = 0, c = 0, d = 0;
    for (uint n = 0; n < loops; n++) {
        for (int i = 0; i < 8; i++) {
            a ^= from[at & mask];
            b ^= from[(at + step) & mask];
            c ^= from[(at + 2 * step) & mask];
            d ^= from[(at + 3 * step) & mask];
            at += 4 * step;
        }
        a += n; // without it, a compiler could leave out pairs of equal loops
    }
    to[get_global_id(0)] = a ^ b ^ c ^ d;
}

// As `again`, for local memory that is a copy of the first TILE elements.
__kernel void tile(__global const TYPE *restrict from, __global TYPE *restrict to, uint loops)
{
    __local TYPE copy[TILE];
    for (uint i = get_local_id(0); i < TILE; i += get_local_size(0))
        copy[i] = from[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint at = get_local_id(0);
    TYPE a = 0, b = 0, c = 0, d = 0;
    for (uint n = 0; n < loops; n++) {
        for (int i = 0; i < 8; i++) {
            a ^= copy[at & (TILE - 1)];
            b ^= copy[(at + 1) & (TILE - 1)];
            c ^= copy[(at + 2) & (TILE - 1)];
            d ^= copy[(at + 3) & (TILE - 1)];
            at += 4;
        }
        a += n;
    }
    to[get_global_id(0)] = a ^ b ^ c ^ d;
}
