// language.glsl: definitions that make GLSL ES 3.00 the kernel language (docs/architecture.md)
#define INLINE
#define UNROLL
#define STRUCT(name)

struct pixel {
    int r, g, b, a;
};

#define arguments int
// The arguments of all filters of a pass. A value of type `arguments` is the index of a filter's first argument. Up to
// 128 arguments are uniforms, for which ES has little room. More are in a texture, 2048 in a row.
#ifdef FEW_NUMBERS
uniform highp int numbers[FEW_NUMBERS];
#define ARG(args, i) numbers[(args) + (i)]
#else
uniform highp isampler2D numbers;
#define ARG(args, i) texelFetch(numbers, ivec2((args) + (i) & 2047, (args) + (i) >> 11), 0).r
#endif

// As in language.cl.
int quotient(int n, int d)
{
    return int((float(n) + 0.5) / float(d));
}

// Returns the integer nearest to the square root of n. GLSL's sqrt may have larger errors than OpenCL's, so the result
// is corrected.
int root(int n)
{
    int r = int(sqrt(float(n)) + 0.5);
    r = r * r - r >= n && r > 0 ? r - 1 : r;
    return r * r + r < n ? r + 1 : r;
}
