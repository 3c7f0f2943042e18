// quad.vert: places one rectangle of the overlay per instance, in pixels from the top left
layout(location = 0) in vec4 box;   // x, y, width, height in the framebuffer
layout(location = 1) in vec4 cover; // the rectangle in the atlas; a negative size mirrors
layout(location = 2) in vec4 tint;

uniform vec2 framebuffer; // its size

out vec2 place;
flat out vec4 paint;

void main()
{
    vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1));
    vec2 at = (box.xy + corner * box.zw) / framebuffer;
    place = cover.xy + corner * cover.zw;
    paint = tint;
    gl_Position = vec4(at.x * 2.0 - 1.0, 1.0 - at.y * 2.0, 0.0, 1.0);
}
