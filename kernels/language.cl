// language.cl: OpenCL C 1.2 made the kernel language (docs/architecture.md)
#define INLINE static inline __attribute__((always_inline))

// Ahead of loops that some variants want unrolled; others would take compilers too long.
#ifdef UNROLL_LOOPS
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

typedef struct {
    int r, g, b, a;
} pixel;

typedef __global const int *arguments;
#define ARG(args, i) ((args)[i])

// The integer nearest to the square root of n, which is below 2^22. A root below 255.5 is at least 4.9e-4 away from
// every half, and sqrt within 4 ulp (the most OpenCL allows) is off by 1.3e-4 at most. Larger ones need not be exact.
INLINE int root(int n)
{
    return (int)(sqrt((float)n) + 0.5f);
}
