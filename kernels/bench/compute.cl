// compute.cl: chains of multiply-adds, which need no memory
#ifndef TYPE
#define TYPE float // a vector: float4
#define STEP_FLOAT
#define CHAINS 4 // independent of each other, so that a processor can overlap them
#endif

// A step makes two multiply-adds, each of which needs the result of the other. No compiler can shorten the chain.
// - STEP_FLOAT: values stay between 0 and 1, because a*(1-b) does
// - otherwise integers, which wrap around
#ifdef STEP_FLOAT
#define STEP(x, y)                                                                                                     \
    x = mad(-y, x, y);                                                                                                 \
    y = mad(-x, y, x)
#else
#define STEP(x, y)                                                                                                     \
    x = y * x + y;                                                                                                     \
    y = x * y + x
#endif

#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

// `from` has 256 values, at which the chains begin; `to` gets one value for each work-item.
__kernel void compute(__global const TYPE *restrict from, __global TYPE *restrict to, uint loops)
{
    const uint id = get_global_id(0);
    TYPE x[CHAINS], y[CHAINS];
#pragma unroll
    for (int i = 0; i < CHAINS; i++) {
        x[i] = from[(id + 2 * i) & 255];
        y[i] = from[(id + 2 * i + 1) & 255];
    }
    for (uint n = 0; n < loops; n++) {
#pragma unroll
        for (int step = 0; step < 8; step++) {
#pragma unroll
            for (int i = 0; i < CHAINS; i++) {
                STEP(x[i], y[i]);
            }
        }
    }
    TYPE sum = x[0] + y[0];
#pragma unroll
    for (int i = 1; i < CHAINS; i++)
        sum += x[i] + y[i];
    to[id] = sum;
}
