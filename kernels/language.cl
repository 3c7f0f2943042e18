// language.cl: definitions that make OpenCL C 1.2 the kernel language (docs/architecture.md)
#define INLINE static inline __attribute__((always_inline))
#define STRUCT(name) typedef struct name name;

// UNROLL stands before a loop. Variants that define UNROLL_LOOPS unroll it. Others do not: compiling would take too
// long.
#ifdef UNROLL_LOOPS
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

typedef struct {
    int r, g, b, a;
} pixel;

typedef ulong wide; // not in GLSL

// The arguments of the filters. Variants that define CONSTANT as 2 keep them in constant memory, as 3 in local memory.
#if defined(CONSTANT) && CONSTANT == 3
typedef __local const int *arguments;
#elif defined(CONSTANT) && CONSTANT == 2
typedef __constant const int *arguments;
#else
typedef __global const int *arguments;
#endif
#define ARG(args, i) ((args)[i])

// Returns the integer nearest to the square root of n. It is exact for roots below 255.5: such a root differs from
// every k + 0.5 by at least 4.9e-4, and sqrt has an error of at most 1.3e-4 (OpenCL allows 4 ulp). Larger roots need
// not be exact, because filters saturate them.
INLINE int root(int n)
{
    return (int)(sqrt((float)n) + 0.5f);
}

// Returns n / d for 0 <= n < 65536 and 0 < d < 256, in vectors and faster than an integer division. It is exact:
// (n + 0.5) / d differs from every integer by at least 0.5 / d, and the float by less than 2^-21 of its value.
INLINE int quotient(int n, int d)
{
    return (int)(((float)n + 0.5f) / (float)d);
}
