// vectors.h: how wide a processor's own instructions may be that rows are made with
#pragma once

// Each has what those ahead of it have. AVX-512 means F, BW, DQ, VL, VBMI and VNNI: AMD's processors since Zen 4 have
// them, and Intel's servers since Ice Lake.
enum vectors {
    VECTORS_PLAIN,
    VECTORS_AVX2,
    VECTORS_AVX512,
};

// The most this processor has; less where the environment's MONOCLE_VECTORS says plain, avx2 or avx512. Any thread.
enum vectors vectors_level(void);

const char *vectors_name(enum vectors level); // as MONOCLE_VECTORS has it
