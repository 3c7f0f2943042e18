// picture.vert: places an image in its box; the first row of the texture is at the top
uniform vec4 box; // left, bottom, right, top in clip space

out vec2 place;

void main()
{
    vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1));
    place = vec2(corner.x, 1.0 - corner.y);
    gl_Position = vec4(mix(box.xy, box.zw, corner), 0.0, 1.0);
}
