// nbody.cl: a step of bodies that attract each other
//
// Parameters: GROUP (work-items of a work-group), ITEMS (bodies of a work-item), TILE (GROUP bodies in local memory. 1:
// as float4; 2: a list for each coordinate), VECTOR (bodies of a list that a work-item adds at once), UNROLL (steps of
// the innermost loop).

#if VECTOR == 1
typedef float reals;
#define LOAD(p) *(p)
#define SUM(v) (v)
#elif VECTOR == 2
typedef float2 reals;
#define LOAD(p) vload2(0, p)
#define SUM(v) ((v).x + (v).y)
#elif VECTOR == 4
typedef float4 reals;
#define LOAD(p) vload4(0, p)
#define SUM(v) dot(v, (float4)1)
#else
typedef float8 reals;
#define LOAD(p) vload8(0, p)
#define SUM(v) dot((v).lo + (v).hi, (float4)1)
#endif

// The bodies `k` to `k` + VECTOR - 1.
#if TILE == 2
#define AT(coordinate) LOAD(&tile[coordinate][k])
#else
#define AT(coordinate) from[k].s##coordinate
#endif

// A body has x, y, z and its mass.
kernel void nbody(int count, float step, float soft, global const float4 *body, global const float4 *velocity,
                  global float4 *new_body, global float4 *new_velocity)
{
    const int item = get_local_id(0), first = get_group_id(0) * GROUP * ITEMS + item;
    float4 own[ITEMS];
    reals x[ITEMS], y[ITEMS], z[ITEMS]; // parts of the accelerations
    for (int i = 0; i < ITEMS; i++) {
        own[i] = body[min(first + i * GROUP, count - 1)];
        x[i] = y[i] = z[i] = 0;
    }
#if TILE == 2
    local float tile[4][GROUP];
#elif TILE == 1
    local float4 from[GROUP];
#else
    global const float4 *from = body;
#endif
    for (int k0 = 0; k0 < count; k0 += TILE ? GROUP : count) {
#if TILE
        const float4 of = k0 + item < count ? body[k0 + item] : (float4)0;
        barrier(CLK_LOCAL_MEM_FENCE);
#if TILE == 2
        tile[0][item] = of.x, tile[1][item] = of.y, tile[2][item] = of.z, tile[3][item] = of.w;
#else
        from[item] = of;
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        _Pragma("unroll UNROLL")
        for (int k = 0; k < (TILE ? GROUP : count); k += VECTOR) {
            const reals at_x = AT(0), at_y = AT(1), at_z = AT(2), mass = AT(3);
            for (int i = 0; i < ITEMS; i++) {
                const reals dx = at_x - own[i].x, dy = at_y - own[i].y, dz = at_z - own[i].z;
                const reals near = native_rsqrt(dx * dx + dy * dy + dz * dz + soft);
                const reals pull = mass * near * near * near;
                x[i] += pull * dx;
                y[i] += pull * dy;
                z[i] += pull * dz;
            }
        }
    }
    for (int i = 0; i < ITEMS && first + i * GROUP < count; i++) {
        const float4 now = velocity[first + i * GROUP] + step * (float4)(SUM(x[i]), SUM(y[i]), SUM(z[i]), 0);
        new_velocity[first + i * GROUP] = now;
        new_body[first + i * GROUP] = own[i] + step * now;
    }
}
