// convolution.cl: a 7x7 convolution of an image of floats; outside the image, the nearest pixel
//
// Parameters: GROUP_X, GROUP_Y (work-group), WORK_X, WORK_Y (pixels per work-item), VECTOR (adjacent ones of them),
// TILE (1: in local memory), PAD (1: a pixel more in each row there), UNROLL (1: unroll the loops over the 49
// coefficients).

#define RADIUS 3
#define SIDE (2 * RADIUS + 1)
#define TILE_X (GROUP_X * WORK_X)
#define TILE_Y (GROUP_Y * WORK_Y)

#if UNROLL
#define MAYBE_UNROLL _Pragma("unroll")
#else
#define MAYBE_UNROLL _Pragma("nounroll")
#endif

#if VECTOR == 1
typedef float pixels;
#define LOAD(p) *(p)
#elif VECTOR == 2
typedef float2 pixels;
#define LOAD(p) vload2(0, p)
#else
typedef float4 pixels;
#define LOAD(p) vload4(0, p)
#endif

static pixels load(global const float *in, int width, int height, int x, int y)
{
    float row[VECTOR];
    for (int i = 0; i < VECTOR; i++)
        row[i] = in[clamp(y, 0, height - 1) * width + clamp(x + i, 0, width - 1)];
    return LOAD(row);
}

kernel void convolution(int width, int height, global const float *in, constant float *factor, global float *out)
{
    const int x0 = get_group_id(0) * TILE_X, y0 = get_group_id(1) * TILE_Y;
    const int local_x = get_local_id(0), local_y = get_local_id(1);
#if TILE
    local float tile[TILE_Y + 2 * RADIUS][TILE_X + 2 * RADIUS + PAD];
    for (int y = local_y; y < TILE_Y + 2 * RADIUS; y += GROUP_Y)
        for (int x = local_x; x < TILE_X + 2 * RADIUS; x += GROUP_X)
            tile[y][x] = in[clamp(y0 + y - RADIUS, 0, height - 1) * width + clamp(x0 + x - RADIUS, 0, width - 1)];
    barrier(CLK_LOCAL_MEM_FENCE);
#define TAP(dx, dy) LOAD(&tile[y + (dy)][x + (dx)])
#else
#define TAP(dx, dy) load(in, width, height, x0 + x + (dx) - RADIUS, y0 + y + (dy) - RADIUS)
#endif
    for (int j = 0; j < WORK_Y; j++) {
        for (int i = 0; i < WORK_X; i += VECTOR) {
            const int x = local_x * VECTOR + i * GROUP_X, y = local_y + j * GROUP_Y;
            union {
                pixels all;
                float one[VECTOR];
            } sum;
            sum.all = 0;
            MAYBE_UNROLL
            for (int dy = 0; dy < SIDE; dy++) {
                MAYBE_UNROLL
                for (int dx = 0; dx < SIDE; dx++)
                    sum.all += factor[dy * SIDE + dx] * TAP(dx, dy);
            }
            for (int k = 0; k < VECTOR && x0 + x + k < width && y0 + y < height; k++)
                out[(y0 + y) * width + x0 + x + k] = sum.one[k];
        }
    }
}
