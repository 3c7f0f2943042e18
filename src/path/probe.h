// probe.h: tests of kernel variants in a child process, before they are used
#pragma once

#include "path/variants.h"

// Path of the program that runs probes. Its hidden command `probe` calls probe_answer. If a program does not define
// this constant, it trusts every variant; an example is the test of a single layer.
extern const char probe_program[] __attribute__((weak));

// A variant of a pass, and the facts from which the child makes its program again.
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

// Returns true if the variant computes the same bytes as the cpu path. A child process builds it and runs it on small
// pictures; it has 30 s, 10 s of processor time and 8 GiB of memory. The verdict is kept beside the compiled programs
// (verdicts.h), and so is the program that the child has compiled. A failed probe is logged once (log_info).
bool probe_trusts(const struct probe *probe);

// The child's part: runs the probe that its arguments describe (probe_words.h). Returns the exit status.
int probe_answer(char *const *words);
