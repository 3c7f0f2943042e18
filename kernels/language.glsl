// language.glsl: definitions that make GLSL ES 3.00 the kernel language (docs/architecture.md)
#define INLINE
#define UNROLL

struct pixel {
    int r, g, b, a;
};

#define arguments int
// The arguments of all filters, one filter after the other. A value of `arguments` is the index of a filter's first.
uniform highp isampler2D numbers;
#define ARG(args, i) texelFetch(numbers, ivec2((args) + (i), 0), 0).r

// Returns the integer nearest to the square root of n. GLSL's sqrt may have larger errors than OpenCL's, so the result
// is corrected.
int root(int n)
{
    int r = int(sqrt(float(n)) + 0.5);
    r = r * r - r >= n && r > 0 ? r - 1 : r;
    return r * r + r < n ? r + 1 : r;
}
