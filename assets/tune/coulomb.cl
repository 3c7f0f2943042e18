// coulomb.cl: the electric potential of charged atoms at the points of a grid
//
// Parameters: SLICED (1: a launch for each ITEMS planes of the grid; 0: one launch), GROUP_X, GROUP_Y (work-group),
// ITEMS (points of a work-item, along z), CONSTANT (1: the atoms in constant memory), APART (1: a vector for each
// coordinate of the atoms), UNROLL (atoms per step of the loop).

#if CONSTANT
#define MEMORY constant
#else
#define MEMORY global const
#endif

// An atom has x, y, z and its charge.
kernel void coulomb(int side, int atoms, int plane, float spacing, MEMORY float4 *atom, MEMORY float *apart,
                    global float *potential)
{
    const int x = get_global_id(0), y = get_global_id(1), z0 = plane + get_global_id(2) * ITEMS;
    float sum[ITEMS];
    for (int i = 0; i < ITEMS; i++)
        sum[i] = 0;
    _Pragma("unroll UNROLL")
    for (int k = 0; k < atoms; k++) {
#if APART
        const float4 of = (float4)(apart[k], apart[atoms + k], apart[2 * atoms + k], apart[3 * atoms + k]);
#else
        const float4 of = atom[k];
#endif
        const float dx = spacing * x - of.x, dy = spacing * y - of.y, flat = dx * dx + dy * dy;
        for (int i = 0; i < ITEMS; i++) {
            const float dz = spacing * (z0 + i) - of.z;
            sum[i] += of.w * native_rsqrt(flat + dz * dz);
        }
    }
    for (int i = 0; x < side && y < side && i < ITEMS && z0 + i < side; i++)
        potential[((z0 + i) * side + y) * side + x] = sum[i];
}
