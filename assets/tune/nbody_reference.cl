// nbody_reference.cl: a step of bodies that attract each other

kernel void nbody_reference(int count, float step, float soft, global const float4 *body,
                            global const float4 *velocity, global float4 *new_body, global float4 *new_velocity)
{
    const int i = get_global_id(0);
    float3 sum = 0;
    for (int k = 0; k < count; k++) {
        const float3 d = body[k].xyz - body[i].xyz;
        const float square = d.x * d.x + d.y * d.y + d.z * d.z + soft;
        sum += body[k].w / (square * sqrt(square)) * d;
    }
    const float4 now = velocity[i] + step * (float4)(sum, 0);
    new_velocity[i] = now;
    new_body[i] = body[i] + step * now;
}
