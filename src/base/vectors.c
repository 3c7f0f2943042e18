// vectors.c: what the processor has, and what the environment leaves of it
#include "base/vectors.h"

#include "base/log.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    [VECTORS_PLAIN] = "plain",
    [VECTORS_AVX2] = "avx2",
    [VECTORS_AVX512] = "avx512",
};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

static enum vectors most(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
        __builtin_cpu_supports("avx512vnni"))
        return VECTORS_AVX512;
    if (__builtin_cpu_supports("avx2"))
        return VECTORS_AVX2;
#endif
    return VECTORS_PLAIN;
}

static enum vectors choose(void)
{
    const char *wanted = getenv("MONOCLE_VECTORS");
    const enum vectors level = most();
    if (!wanted || !*wanted)
        return level;
    for (int i = 0; i < NAMES; i++)
        if (strcmp(wanted, names[i]) == 0) {
            if (i <= (int)level)
                return (enum vectors)i;
            log_warn("MONOCLE_VECTORS=%s is ignored: this processor supports at most %s", wanted, names[level]);
            return level;
        }
    log_warn("MONOCLE_VECTORS=%s is ignored: it must be plain, avx2 or avx512", wanted);
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
