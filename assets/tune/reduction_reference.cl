// reduction_reference.cl: the sum of a list

// One work-item adds all, with the rounding error carried along (Kahan).
kernel void reduction_reference(int count, global const float *list, global float *total)
{
    float sum = 0, rest = 0;
    for (int i = 0; i < count; i++) {
        const float next = list[i] - rest, larger = sum + next;
        rest = (larger - sum) - next;
        sum = larger;
    }
    *total = sum;
}
