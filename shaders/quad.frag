// quad.frag: a colour, multiplied by the atlas's coverage of the pixel
uniform sampler2D atlas;

in vec2 place;
flat in vec4 paint;
out vec4 color;

void main()
{
    float cover = texelFetch(atlas, ivec2(floor(place)), 0).r;
    color = vec4(paint.rgb, paint.a * cover);
}
