// vectors.h: which of the processor's vector instructions are used
#pragma once

// Each level includes those before it. AVX-512 means its parts F, BW, DQ, VL, VBMI and VNNI: AMD's processors since Zen
// 4 have all of these, and Intel's servers since Ice Lake.
enum vectors {
    VECTORS_PLAIN,
    VECTORS_AVX2,
    VECTORS_AVX512,
};

// The highest level that this processor has, or a lower one that the environment names: MONOCLE_VECTORS=plain, avx2 or
// avx512. On any thread.
enum vectors vectors_level(void);

const char *vectors_name(enum vectors level); // as MONOCLE_VECTORS has it
