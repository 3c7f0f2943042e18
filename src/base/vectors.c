// vectors.c: the level of vector instructions that the processor has and MONOCLE_VECTORS allows
#include "base/vectors.h"

#include "base/log.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define NAME(type, name, level) #level,
#define OR_NAME(type, name, level) " or " #level
static const char *const names[] = {"plain", VECTORS_ABOVE_PLAIN(NAME, , )};
enum { LEVELS = sizeof(names) / sizeof(*names) };

static int most(void)
{
#if defined(__x86_64__)
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vnni");
    if (avx512)
        return 2;
    return __builtin_cpu_supports("avx2") ? 1 : 0;
#else
    return LEVELS - 1;
#endif
}

static int choose(void)
{
    const char *wanted = getenv("MONOCLE_VECTORS");
    const int level = most();
    if (!wanted || !*wanted)
        return level;
    for (int i = 0; i < LEVELS; i++)
        if (strcmp(wanted, names[i]) == 0) {
            if (i <= level)
                return i;
            log_warn("MONOCLE_VECTORS=%s is ignored: this processor supports at most %s", wanted, names[level]);
            return level;
        }
    log_warn("MONOCLE_VECTORS=%s is ignored: it must be plain" VECTORS_ABOVE_PLAIN(OR_NAME, , ), wanted);
    return level;
}

int vectors_level(void)
{
    enum { UNKNOWN = -1 };
    static atomic_int known = UNKNOWN;
    int level = atomic_load_explicit(&known, memory_order_relaxed);
    if (level == UNKNOWN) {
        level = choose();
        atomic_store_explicit(&known, level, memory_order_relaxed);
    }
    return level;
}

const char *vectors_name(int level)
{
    return names[level];
}

// ---- names of the processor ----

// Reads the first line that begins with `start`, after its colon if it has one.
static bool read_line(const char *path, const char *start, char text[PROCESSOR_NAME])
{
    FILE *file = fopen(path, "r");
    char line[256];
    bool found = false;
    text[0] = '\0';
    while (file && !found && fgets(line, sizeof(line), file)) {
        const char *colon = strchr(line, ':'), *value = colon ? colon + 1 + strspn(colon + 1, " ") : line;
        found = strncmp(line, start, strlen(start)) == 0;
        if (found)
            snprintf(text, PROCESSOR_NAME, "%.*s", (int)strcspn(value, "\n"), value);
    }
    if (file)
        fclose(file);
    return found;
}

// Kernels for ARM have no "model name", but most of them have a device tree.
void processor_model(char text[PROCESSOR_NAME])
{
    struct utsname machine;
    if (!read_line("/proc/cpuinfo", "model name", text) && !read_line("/sys/firmware/devicetree/base/model", "", text))
        snprintf(text, PROCESSOR_NAME, "%s", uname(&machine) == 0 ? machine.machine : "cpu");
}

void processor_vendor(char text[PROCESSOR_NAME])
{
    if (!read_line("/proc/cpuinfo", "vendor_id", text))
        read_line("/proc/cpuinfo", "CPU implementer", text);
}
