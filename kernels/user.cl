// user.cl: what users' filters have besides the kernel language (docs/architecture.md)
//
// src/filter/user_code.c puts the names user_... into the filter's code. The facts of src/filter/filter.h precede the
// arguments of the filter's parameters.
#define FRAME(args) ARG((args).base, -4)
#define TIME(args) ARG((args).base, -3)
#define WIDTH(args) ARG((args).base, -2)
#define HEIGHT(args) ARG((args).base, -1)
#define USER_TURNS 4096 // of the loops of one call of a function

STRUCT(user_arguments)
struct user_arguments {
    arguments base;
};

// There are as many arguments as USER_PARAMS.
INLINE int user_arg(user_arguments args, int i)
{
    return ARG(args.base, clamp(i, 0, 3));
}

// Returns a divisor that no processor refuses: 1 instead of 0, and 1 instead of -1 for the least int. It has no branch,
// so that compilers can make vectors.
INLINE int user_divisor(int a, int b)
{
    return b + (b == 0 ? 1 : 0) + (b == -1 && a < -2147483647 ? 2 : 0);
}

// Division by zero gives 0. The remainder has the sign of `a`, also in GLSL, whose % has no such rule.
INLINE int user_div(int a, int b)
{
    return a / user_divisor(a, b) * (b == 0 ? 0 : 1);
}

INLINE int user_mod(int a, int b)
{
    int divisor = user_divisor(a, b);
    return a - a / divisor * divisor;
}

// As clamp, which OpenCL and GLSL leave undefined if low > high.
INLINE int user_clamp(int value, int low, int high)
{
    return min(max(value, low), high);
}

// Returns the integer nearest to the square root of n; 0 below 0. The root of the language may differ from it by 1.
INLINE int user_root(int n)
{
    int m = max(n, 0);
    int r = min(root(m), 46340);
    r = r > 0 && r * r - r >= m ? r - 1 : r;
    return r * r + r < m ? r + 1 : r;
}

// Returns a pixel of the picture, which follows the arguments.
INLINE pixel user_picture(user_arguments args, int x, int y)
{
    int word = ARG(args.base, 4 + y * WIDTH(args) + x);
    pixel p;
    p.r = word & 255;
    p.g = word >> 8 & 255;
    p.b = word >> 16 & 255;
    p.a = word >> 24 & 255;
    return p;
}

INLINE pixel user_zero_pixel(void)
{
    pixel p;
    p.r = p.g = p.b = p.a = 0;
    return p;
}

INLINE place user_zero_place(void)
{
    place at;
    at.x = at.y = 0;
    return at;
}

// Returns the pixel of the filter's previous output or input, or its input if there is none.
INLINE pixel user_previous(pixel p, pixel previous, user_arguments args)
{
    if (ARG(args.base, -5) == 0)
        return p;
    return previous;
}

// Returns a legal pixel: channels of 0..255, and the alpha of the filter's input.
INLINE pixel user_pixel(pixel p, int alpha)
{
    p.r = sat8(p.r);
    p.g = sat8(p.g);
    p.b = sat8(p.b);
    p.a = alpha;
    return p;
}

// Returns the place of a pixel's centre.
INLINE place user_centre(int x, int y)
{
    place at;
    at.x = 256 * x;
    at.y = 256 * y;
    return at;
}

#ifdef USER_STENCIL
STRUCT(user_view)
struct user_view {
    view base;
    int x, y, radius;
};

INLINE user_view user_view_of(view v)
{
    user_view u;
    u.base = v;
    u.x = v.x;
    u.y = v.y;
    u.radius = RADIUS(v);
    return u;
}

INLINE int user_radius(user_view v)
{
    return RADIUS(v.base);
}

// The cpu path keeps only the rows within the radius.
INLINE int user_tap(user_view v, int dx, int dy)
{
    int low = -RADIUS(v.base), high = RADIUS(v.base);
    return tap(v.base, clamp(dx, low, high), clamp(dy, low, high));
}
#endif
