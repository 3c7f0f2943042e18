// vectors.h: levels of vector instructions, and which one the program uses; the names of the processor
#pragma once

// The levels of a processor family, lowest first. A level includes the levels before it. AVX-512 means its parts F, BW,
// DQ, VL, VBMI and VNNI: AMD's processors since Zen 4 and Intel's servers since Ice Lake have all of these.
//
// VECTORS_TABLE is for a file that meson.build compiles once per level (vector_levels). The file defines
// VECTORS_NAME(name): a const struct of functions, or one function. VECTORS_TABLE declares name_plain, name_avx2, ...
// and defines name(), which returns the address of the one for vectors_level().
#if defined(__x86_64__)
#define VECTORS_ABOVE_PLAIN(ROW, type, name) ROW(type, name, avx2) ROW(type, name, avx512)
#elif defined(__aarch64__)
#define VECTORS_ABOVE_PLAIN(ROW, type, name) ROW(type, name, neon)
#else
#define VECTORS_ABOVE_PLAIN(ROW, type, name)
#endif
#define VECTORS_DECLARE(type, name, level) extern type name##_##level;
#define VECTORS_ADDRESS(type, name, level) &name##_##level,
#define VECTORS_TABLE(type, name)                                                                                      \
    VECTORS_DECLARE(type, name, plain)                                                                                 \
    VECTORS_ABOVE_PLAIN(VECTORS_DECLARE, type, name)                                                                   \
    static inline type *name(void)                                                                                     \
    {                                                                                                                  \
        type *const level[] = {&name##_plain, VECTORS_ABOVE_PLAIN(VECTORS_ADDRESS, type, name)};                       \
        return level[vectors_level()];                                                                                 \
    }

// Appends the level that the file is being compiled for: VECTORS_NAME(rows) is rows_avx2 at the level avx2.
#define VECTORS_NAME(name) VECTORS_JOIN(name, VECTORS)
#define VECTORS_JOIN(name, level) VECTORS_PASTE(name, level)
#define VECTORS_PASTE(name, level) name##_##level

// Returns the highest level that this processor has, or a lower one that the environment variable MONOCLE_VECTORS
// names: plain, avx2 or avx512; on 64-bit ARM plain or neon. 0 is plain. On any thread.
int vectors_level(void);

const char *vectors_name(int level); // as in MONOCLE_VECTORS

// ---- names of the processor ----

enum { PROCESSOR_NAME = 96 };

// Writes the name of the processor's model, such as "AMD EPYC 9R14"; if the system does not know it, the name of the
// machine or of its instruction set.
void processor_model(char text[PROCESSOR_NAME]);
// Writes the name of the processor's vendor, such as "AuthenticAMD" or, on ARM, its number "0x41"; "": unknown.
void processor_vendor(char text[PROCESSOR_NAME]);
