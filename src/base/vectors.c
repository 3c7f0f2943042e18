// vectors.c: the level of vector instructions that the processor has and MONOCLE_VECTORS allows
#include "base/vectors.h"

#include "base/log.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
static const char *const names[VECTORS_LEVELS] = {"plain", "avx2", "avx512"};
static const char choices[] = "plain, avx2 or avx512";

static enum vectors most(void)
{
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
        __builtin_cpu_supports("avx512vnni"))
        return VECTORS_AVX512;
    return __builtin_cpu_supports("avx2") ? VECTORS_AVX2 : VECTORS_PLAIN;
}
#else
#if defined(__aarch64__)
static const char *const names[VECTORS_LEVELS] = {"plain", "neon"};
static const char choices[] = "plain or neon";
#else
static const char *const names[VECTORS_LEVELS] = {"plain"};
static const char choices[] = "plain";
#endif

static enum vectors most(void)
{
    return VECTORS_LEVELS - 1;
}
#endif

static enum vectors choose(void)
{
    const char *wanted = getenv("MONOCLE_VECTORS");
    const enum vectors level = most();
    if (!wanted || !*wanted)
        return level;
    for (int i = 0; i < VECTORS_LEVELS; i++)
        if (strcmp(wanted, names[i]) == 0) {
            if (i <= (int)level)
                return (enum vectors)i;
            log_warn("MONOCLE_VECTORS=%s is ignored: this processor supports at most %s", wanted, names[level]);
            return level;
        }
    log_warn("MONOCLE_VECTORS=%s is ignored: it must be %s", wanted, choices);
    return level;
}

enum vectors vectors_level(void)
{
    enum { UNKNOWN = -1 };
    static atomic_int known = UNKNOWN;
    int level = atomic_load_explicit(&known, memory_order_relaxed);
    if (level == UNKNOWN) {
        level = (int)choose();
        atomic_store_explicit(&known, level, memory_order_relaxed);
    }
    return (enum vectors)level;
}

const char *vectors_name(enum vectors which)
{
    return names[which];
}
