// pass.glsl: a pass, or half of a blur, as a fragment shader
//
// The host puts the language and the pass's macros before this file, and the filters after it (src/path/gl_program.c):
//   LOAD_0(x, y) .. LOAD_3(x, y)     the samples of a pixel of the input: red, green, blue and alpha, or luma, U and V
//   PASS_YUV                         defined if they are luma, U and V
//   PASS_BEFORE, PASS_AFTER, PASS_LOAD_X .. PASS_STORE_Y, PASS_STENCIL .. PASS_WARP              as in pass_io.cl
//   PASS_LAST                        as in pass_io.cl; only for the second half of a blur
//   PASS_SUMS_ACROSS                 defined for the first half of a blur: the sums of rows
//   PASS_SUMS_DOWN                   defined for its second half: the mean from these sums
//   PASS_SHOWN                       defined if the output has bytes that GL draws, not integers
#ifdef PASS_YUV
uniform highp int coefficients[6];
#define COEFFICIENT(k, i) coefficients[i]
#include "yuv.cl"
#endif

uniform highp usampler2D plane0, plane1, plane2;
uniform highp ivec2 size; // of the input

#if defined(PASS_LAST) && !defined(PASS_SUMS_ACROSS)
#define PASS_SECOND
uniform highp usampler2D second;
#if defined(PASS_REMEMBERS_INPUT) || defined(PASS_REMEMBERS_OUTPUT)
layout(location = 1) out highp uvec4 remembered; // the next second picture
#endif
#endif

#ifdef PASS_SHOWN
layout(location = 0) out highp vec4 result;
#else
layout(location = 0) out highp uvec4 result;
#endif

pixel unpacked(ivec4 rgba)
{
    return pixel(rgba.r, rgba.g, rgba.b, rgba.a);
}

// Returns the pass's input at a place inside the picture, after the point filters before the stencil.
pixel loaded(int x, int y)
{
    int u = PASS_LOAD_X(x, size.x), v = PASS_LOAD_Y(y, size.y);
#ifdef PASS_YUV
    pixel p = yuv_pixel(0, LOAD_0(u, v), LOAD_1(u, v), LOAD_2(u, v));
#else
    pixel p = pixel(LOAD_0(u, v), LOAD_1(u, v), LOAD_2(u, v), LOAD_3(u, v));
#endif
    return PASS_BEFORE(p, 0, x, y);
}

#if defined(PASS_SUMS_ACROSS)

// The sums of a row; without PASS_ALPHA, the pixel's own alpha.
pixel computed(int x, int y)
{
#ifdef PASS_ALPHA
    pixel sum = pixel(0, 0, 0, 0);
#else
    pixel sum = pixel(0, 0, 0, loaded(x, y).a);
#endif
    for (int dx = -PASS_RADIUS; dx <= PASS_RADIUS; dx++) {
        pixel p = loaded(clamp(x + dx, 0, size.x - 1), y);
        sum.r += p.r;
        sum.g += p.g;
        sum.b += p.b;
#ifdef PASS_ALPHA
        sum.a += p.a;
#endif
    }
    return sum;
}

#elif defined(PASS_SUMS_DOWN)

pixel computed(int x, int y)
{
    const int side = 2 * PASS_RADIUS + 1, area = side * side;
    ivec4 sum = ivec4(area / 2);
    for (int dy = -PASS_RADIUS; dy <= PASS_RADIUS; dy++) {
        int row = clamp(y + dy, 0, size.y - 1);
        sum += ivec4(LOAD_0(x, row), LOAD_1(x, row), LOAD_2(x, row), LOAD_3(x, row));
    }
    sum /= area;
#ifndef PASS_ALPHA
    sum.a = LOAD_3(x, y);
#endif
    return PASS_AFTER(unpacked(sum), 0, x, y);
}

#elif defined(PASS_STENCIL)

#define RADIUS(v) PASS_RADIUS
struct view {
    int x, y, channel;
};

int tap(view v, int dx, int dy)
{
    pixel p = loaded(clamp(v.x + dx, 0, size.x - 1), clamp(v.y + dy, 0, size.y - 1));
    return v.channel == 0 ? p.r : v.channel == 1 ? p.g : v.channel == 2 ? p.b : p.a;
}

int PASS_STENCIL(view v, arguments args);

pixel computed(int x, int y)
{
    pixel p = loaded(x, y);
    p.r = PASS_STENCIL(view(x, y, 0), PASS_STENCIL_AT);
#ifdef PASS_EQUAL_CHANNELS
    p.g = p.b = p.r;
#else
    p.g = PASS_STENCIL(view(x, y, 1), PASS_STENCIL_AT);
    p.b = PASS_STENCIL(view(x, y, 2), PASS_STENCIL_AT);
#endif
#ifdef PASS_ALPHA
    p.a = PASS_STENCIL(view(x, y, 3), PASS_STENCIL_AT);
#endif
    return PASS_AFTER(p, 0, x, y);
}

#elif defined(PASS_WARP)

pixel nearest(int x, int y)
{
    return loaded(clamp(x, 0, size.x - 1), clamp(y, 0, size.y - 1));
}

#ifdef PASS_TAPS
pixel computed(int x, int y)
{
    int taps = PASS_TAPS(0), at = taps_at(taps, x, y), first = ARG(taps, at), down = ARG(taps, 3);
    pixel sum = pixel(0, 0, 0, 0);
    for (int i = 0; i < ARG(taps, 2); i++)
        sum = taps_add(sum, nearest(down == 0 ? first + i : x, down == 0 ? y : first + i), ARG(taps, at + 1 + i));
    return PASS_AFTER(taps_end(sum), 0, x, y);
}
#else
pixel computed(int x, int y)
{
    place at = PASS_WARP(0, x, y);
    int left = at.x >> 8, top = at.y >> 8;
    pixel p = warp_pixel(nearest(left, top), nearest(left + 1, top), nearest(left, top + 1),
                         nearest(left + 1, top + 1), at);
    return PASS_AFTER(p, 0, x, y);
}
#endif

#else

pixel computed(int x, int y)
{
    return loaded(x, y);
}

#endif

void main()
{
    int x = int(gl_FragCoord.x), y = int(gl_FragCoord.y);
#ifndef PASS_SUMS_ACROSS // the second half mirrors
    x = PASS_STORE_X(x, PASS_WIDTH(0, size.x));
    y = PASS_STORE_Y(y, PASS_HEIGHT(0, size.y));
#endif
    pixel p = computed(x, y);
#ifdef PASS_SECOND
#ifdef PASS_REMEMBERS_INPUT
    remembered = uvec4(p.r, p.g, p.b, p.a);
#endif
    p = PASS_LAST(p, unpacked(ivec4(texelFetch(second, ivec2(x, y), 0))), 0, x, y);
#ifdef PASS_REMEMBERS_OUTPUT
    remembered = uvec4(p.r, p.g, p.b, p.a);
#endif
#endif
#ifdef PASS_SHOWN
    result = vec4(p.r, p.g, p.b, p.a) / 255.0;
#else
    result = uvec4(p.r, p.g, p.b, p.a);
#endif
}
