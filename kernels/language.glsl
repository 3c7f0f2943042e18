// language.glsl: GLSL ES 3.00 made the kernel language (docs/architecture.md)
#define INLINE
#define UNROLL

struct pixel {
    int r, g, b, a;
};

#define arguments int
// The arguments of all filters, one behind the other; `arguments` is where a filter's begin.
uniform highp isampler2D numbers;
#define ARG(args, i) texelFetch(numbers, ivec2((args) + (i), 0), 0).r

// The integer nearest to the square root of n: sqrt may be off by more than OpenCL allows, so the result is corrected.
int root(int n)
{
    int r = int(sqrt(float(n)) + 0.5);
    r = r * r - r >= n && r > 0 ? r - 1 : r;
    return r * r + r < n ? r + 1 : r;
}
