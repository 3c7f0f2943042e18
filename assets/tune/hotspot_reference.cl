// hotspot_reference.cl: the temperature of a chip, whose parts have different powers, after an even number of steps

// One work-group.
kernel void hotspot_reference(int width, int height, float ambient, global const float *power, global float *from,
                              global float *to, int steps)
{
    for (int step = 0; step < steps; step++) {
        global float *before = step % 2 ? to : from, *after = step % 2 ? from : to;
        for (int i = get_local_id(0); i < width * height; i += get_local_size(0)) {
            const int x = i % width, y = i / width;
            const float own = before[i], left = before[x > 0 ? i - 1 : i], right = before[x < width - 1 ? i + 1 : i];
            const float up = before[y > 0 ? i - width : i], down = before[y < height - 1 ? i + width : i];
            after[i] = own + 0.1f * (left + right + up + down - 4 * own) + 0.05f * power[i] + 0.01f * (ambient - own);
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}
