// memory.cl: reads, writes and copies the device's memory
#ifndef TYPE
#define TYPE int // a vector: int4
#define NUMBER int
#define FOLD FOLD1 // for a vector: FOLD4
#endif
#ifndef EACH
#define EACH 16 // elements per work-item
#endif
#ifndef STRIDE
#define STRIDE 1 // from one element to the next
#endif

// On a CPU a work-item reads one address after the other. On a GPU, a work-group has one block of memory, and its
// work-items are at neighbouring elements at each step.
#ifdef IN_ORDER
#define UNROLL_SOME // compilers make vectors of the loop instead
#define ELEMENT(i) ((get_global_id(0) * EACH + (i)) * STRIDE)
#else
#define UNROLL_SOME _Pragma("unroll 16")
#define ELEMENT(i) ((get_group_id(0) * get_local_size(0) * EACH + (i)*get_local_size(0) + get_local_id(0)) * STRIDE)
#endif

#ifdef OFFSET // in ints; TYPE is int4
#define LOAD(i) vload4(ELEMENT(i), (__global const int *)from + OFFSET)
#else
#define LOAD(i) from[ELEMENT(i)]
#endif

// The exclusive or of a vector's numbers.
#define FOLD1(v) (v)
#define FOLD2(v) ((v).lo ^ (v).hi)
#define FOLD4(v) FOLD2(FOLD2(v))
#define FOLD8(v) FOLD4(FOLD2(v))
#define FOLD16(v) FOLD8(FOLD2(v))

// A work-item writes one number, the exclusive or of all its numbers, so it reads much more than it writes.
__kernel void read(__global const TYPE *restrict from, __global NUMBER *restrict to)
{
    TYPE sum = 0;
    UNROLL_SOME
    for (int i = 0; i < EACH; i++)
        sum ^= LOAD(i);
    to[get_global_id(0)] = FOLD(sum);
}

// Fills the elements of a work-item with one of the first 256.
__kernel void write(__global const TYPE *restrict from, __global TYPE *restrict to)
{
    const TYPE value = from[get_local_id(0)];
    UNROLL_SOME
    for (int i = 0; i < EACH; i++)
        to[ELEMENT(i)] = value;
}

__kernel void copy(__global const TYPE *restrict from, __global TYPE *restrict to)
{
    UNROLL_SOME
    for (int i = 0; i < EACH; i++)
        to[ELEMENT(i)] = from[ELEMENT(i)];
}
