// user.cl: what users' filters have besides the kernel language (docs/architecture.md)
//
// The facts of src/filter/filter.h precede the arguments of the filter's parameters.
#define WIDTH(args) ARG(args, -2)
#define HEIGHT(args) ARG(args, -1)

// Returns a legal pixel: channels of 0..255, and the alpha of the filter's input.
INLINE pixel user_pixel(pixel p, int alpha)
{
    p.r = sat8(p.r);
    p.g = sat8(p.g);
    p.b = sat8(p.b);
    p.a = alpha;
    return p;
}

#ifdef USER_STENCIL
// The cpu path keeps only the rows within the radius.
INLINE int user_tap(view v, int dx, int dy)
{
    int low = -RADIUS(v), high = RADIUS(v);
    return tap(v, clamp(dx, low, high), clamp(dy, low, high));
}

#undef tap
#define tap(v, dx, dy) user_tap(v, dx, dy)
#endif
