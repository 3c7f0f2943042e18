// quad.frag: writes a colour, multiplied by the coverage of the pixel in the glyph atlas
uniform sampler2D atlas;

in vec2 place;
flat in vec4 paint;
out vec4 color;

void main()
{
    float cover = texelFetch(atlas, ivec2(floor(place)), 0).r;
    color = vec4(paint.rgb, paint.a * cover);
}
