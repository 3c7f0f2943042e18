// picture.frag: writes the image's unchanged colours, without alpha
uniform sampler2D picture;

in vec2 place;
out vec4 color;

void main()
{
    color = vec4(texture(picture, place).rgb, 1.0);
}
