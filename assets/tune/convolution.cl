// convolution.cl: a 5x5 convolution of an image of floats; outside the image, the nearest pixel
//
// Parameters: GROUP_X, GROUP_Y (work-group), WORK_X, WORK_Y (pixels per work-item), TILE (1: in local memory),
// UNROLL (1: unroll the loops over the 25 coefficients).

#define RADIUS 2
#define SIDE (2 * RADIUS + 1)
#define TILE_X (GROUP_X * WORK_X)
#define TILE_Y (GROUP_Y * WORK_Y)

#if UNROLL
#define MAYBE_UNROLL _Pragma("unroll")
#else
#define MAYBE_UNROLL _Pragma("nounroll")
#endif

static float pixel(global const float *in, int width, int height, int x, int y)
{
    return in[clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)];
}

kernel void convolution(int width, int height, global const float *in, constant float *factor, global float *out)
{
    const int x0 = get_group_id(0) * TILE_X, y0 = get_group_id(1) * TILE_Y;
    const int local_x = get_local_id(0), local_y = get_local_id(1);
#if TILE
    local float tile[TILE_Y + 2 * RADIUS][TILE_X + 2 * RADIUS];
    for (int y = local_y; y < TILE_Y + 2 * RADIUS; y += GROUP_Y)
        for (int x = local_x; x < TILE_X + 2 * RADIUS; x += GROUP_X)
            tile[y][x] = pixel(in, width, height, x0 + x - RADIUS, y0 + y - RADIUS);
    barrier(CLK_LOCAL_MEM_FENCE);
#define TAP(dx, dy) tile[y + (dy)][x + (dx)]
#else
#define TAP(dx, dy) pixel(in, width, height, x0 + x + (dx) - RADIUS, y0 + y + (dy) - RADIUS)
#endif
    for (int j = 0; j < WORK_Y; j++) {
        for (int i = 0; i < WORK_X; i++) {
            const int x = local_x + i * GROUP_X, y = local_y + j * GROUP_Y;
            float sum = 0;
            MAYBE_UNROLL
            for (int dy = 0; dy < SIDE; dy++) {
                MAYBE_UNROLL
                for (int dx = 0; dx < SIDE; dx++)
                    sum += factor[dy * SIDE + dx] * TAP(dx, dy);
            }
            if (x0 + x < width && y0 + y < height)
                out[(y0 + y) * width + x0 + x] = sum;
        }
    }
}
