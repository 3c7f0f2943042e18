// probe.h: variants of kernels tried out in a child process, before they are used
#pragma once

#include "path/variants.h"

// Path of the program that runs probes. Its hidden command `probe` calls probe_answer. A program that does not define
// this constant, such as the test of a single layer, trusts every variant.
extern const char probe_program[] __attribute__((weak));

// A variant of a pass, and all that makes its program again in the child.
struct probe {
    struct device *device;
    const struct chain *chain;
    enum pixfmt format; // of the chain's input
    bool to_image;      // the chain's output is an image, not a buffer
    int number;         // of the pass in the chain's plan
    const char *name;   // of the pass
    const struct variant_choice *choice;
    const char *text, *options; // of its program
};

// Returns true if the variant computes what the cpu path computes: on small pictures, in a child process, which has
// 30 s, 10 s of processor time and 8 GiB of memory to build and run it. The verdict is kept beside the compiled
// programs (verdicts.h), and so is the program that the child has compiled. A failed probe is reported once (log_info).
bool probe_trusts(const struct probe *probe);

// The child's part: makes the probe that its arguments ask for (probe_words.h). Returns the exit status.
int probe_answer(char *const *words);
