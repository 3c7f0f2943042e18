// empty.cl: a kernel that does almost nothing, to measure launches

// One work-item counts the launches, so that the host can check that each of them ran.
__kernel void empty(__global uint *launches)
{
    launches[0]++;
}
