// probe_words.h: what a probe's two processes say to each other
#pragma once

#include "path/variants.h"

// The child's arguments, behind the program's name.
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

// Its exit status. A driver that ends the process with 0 or 1 has answered nothing.
enum probe_answer {
    PROBE_PASSED = 100,
    PROBE_ANSWERS = PROBE_PASSED, // the first
    PROBE_WRONG,
    PROBE_NOT_BUILT,
    PROBE_NOT_RUN,
    PROBE_UNKNOWN, // no device here has the program that was asked for
};

// A busy machine must not count against a variant: most of the time limit is one of processor time.
enum { PROBE_CPU_S = 10, PROBE_LIMIT_S = 30 };
#define PROBE_DATA_BYTES ((size_t)8 << 30)

// All that a verdict depends on. The caller frees. NULL if there is no memory.
char *probe_key(const struct device *device, const struct variant_choice *choice, const char *text, const char *options,
                size_t *bytes);
