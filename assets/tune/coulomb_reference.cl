// coulomb_reference.cl: the electric potential of charged atoms at the points of a grid

kernel void coulomb_reference(int side, int atoms, float spacing, global const float4 *atom, global float *potential)
{
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    float sum = 0;
    for (int k = 0; k < atoms; k++) {
        const float3 d = spacing * (float3)(x, y, z) - atom[k].xyz;
        sum += atom[k].w / sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
    }
    potential[(z * side + y) * side + x] = sum;
}
