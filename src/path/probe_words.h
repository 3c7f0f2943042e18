// probe_words.h: the arguments and the exit status of a probe's child process
#pragma once

#include "path/variants.h"

// The child's arguments, after the program's name.
enum probe_word {
    WORD_COMMAND,
    WORD_PARENT,  // the process that asks
    WORD_KEY,     // hash of probe_key
    WORD_FORMAT,  // of the chain's input
    WORD_OUTPUT,  // of the chain: "image" or "buffer"
    WORD_PASS,    // its number in the chain's plan
    WORD_VARIANT, // as variant_print writes it
    WORD_CHAIN,
    WORD_KERNELS, // directory; "": none
    WORDS,
};

// Its exit status. 0 or 1 is no answer: the driver ended the process.
enum probe_answer {
    PROBE_PASSED = 100,
    PROBE_ANSWERS = PROBE_PASSED, // the first
    PROBE_WRONG,
    PROBE_NOT_BUILT,
    PROBE_NOT_RUN,
    PROBE_UNKNOWN, // no device makes the program with this key
};

// The stricter limit is one of processor time, so that no variant fails because the machine is busy.
enum { PROBE_CPU_S = 10, PROBE_LIMIT_S = 30 };
#define PROBE_DATA_BYTES ((size_t)8 << 30)

// Returns everything that a verdict depends on. The caller frees it. NULL if there is no memory.
char *probe_key(const struct device *device, const struct variant_choice *choice, const char *text, const char *options,
                size_t *bytes);
