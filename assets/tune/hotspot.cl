// hotspot.cl: the temperature of a chip, whose parts have different powers, after some steps of time
//
// Parameters: STEPS (of a launch), GROUP_X, GROUP_Y (work-group), ROWS (rows of a work-item), TILE (1: the cells are in
// local memory; the outermost STEPS ones on each side are also those of other work-groups), POWER (1: so is the power),
// UNROLL (1: unroll the loop over the rows).

#define TILE_X GROUP_X
#define TILE_Y (GROUP_Y * ROWS)
#define BORDER (TILE ? STEPS : 0)

#if UNROLL
#define MAYBE_UNROLL _Pragma("unroll")
#else
#define MAYBE_UNROLL _Pragma("nounroll")
#endif

// The next temperature of a cell. `ambient`: that of the air, to which heat flows.
static float next(float own, float left, float right, float up, float down, float power, float ambient)
{
    return own + 0.1f * (left + right + up + down - 4 * own) + 0.05f * power + 0.01f * (ambient - own);
}

// No heat flows over the edges of the chip.
kernel void hotspot(int width, int height, float ambient, global const float *power, global const float *from,
                    global float *to)
{
    const int x0 = get_group_id(0) * (TILE_X - 2 * BORDER) - BORDER, local_x = get_local_id(0), x = x0 + local_x;
    const int y0 = get_group_id(1) * (TILE_Y - 2 * BORDER) - BORDER, local_y = get_local_id(1) * ROWS;
    const int left = max(x - 1, 0), right = min(x + 1, width - 1);
#if TILE
    local float tile[2][TILE_Y][TILE_X];
    float own_power[ROWS];
    const int own_x = clamp(x, 0, width - 1);
    for (int j = 0; j < ROWS; j++) {
        const int at = clamp(y0 + local_y + j, 0, height - 1) * width + own_x;
        tile[0][local_y + j][local_x] = from[at];
        own_power[j] = POWER ? power[at] : 0;
    }
    for (int step = 1; step <= STEPS; step++) {
        local float (*before)[TILE_X] = tile[1 - step % 2], (*after)[TILE_X] = tile[step % 2];
        barrier(CLK_LOCAL_MEM_FENCE);
        MAYBE_UNROLL
        for (int j = 0; j < ROWS; j++) {
            const int row = local_y + j, y = y0 + row;
            // Cells next to the edge of the tile are unknown after the step.
            if (x < 0 || x >= width || y < 0 || y >= height || local_x < step || local_x >= TILE_X - step ||
                row < step || row >= TILE_Y - step)
                continue;
            after[row][local_x] = next(before[row][local_x], before[row][left - x0], before[row][right - x0],
                                       before[max(y - 1, 0) - y0][local_x],
                                       before[min(y + 1, height - 1) - y0][local_x],
                                       POWER ? own_power[j] : power[y * width + x], ambient);
            if (step == STEPS)
                to[y * width + x] = after[row][local_x];
        }
    }
#else
    MAYBE_UNROLL
    for (int j = 0; j < ROWS; j++) {
        const int y = y0 + local_y + j, row = y * width;
        if (x < width && y < height)
            to[row + x] = next(from[row + x], from[row + left], from[row + right], from[max(y - 1, 0) * width + x],
                               from[min(y + 1, height - 1) * width + x], power[row + x], ambient);
    }
#endif
}
