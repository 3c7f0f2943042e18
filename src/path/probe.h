// probe.h: tests of kernel variants in a child process, before they are used
#pragma once

#include "compute/driver_cache.h"
#include "path/variants.h"

// A variant of a pass, and the facts from which the child finds the pass again.
struct probe {
    struct device *device; // need not be open to find a key
    const struct pass *pass;
    const struct pass_target *target;
    const struct variant_choice *choice;
    const struct chain *chain;
    enum pixfmt format; // of the chain's input
    int number;         // of the pass in the chain's plan
    int width, height;  // of a picture that the child also runs it on, without a comparison; 0: none
    bool builds_only;   // the child builds it and runs it on one small picture, without a comparison
    bool low_priority;  // of the child
    // Children that wait for a probe of this pass, one of which does this one; NULL: a new child does it.
    struct child_pool *children;
};

// Returns true if the variant computes the same bytes as the cpu path. A child process builds it and runs it on small
// pictures; it has 30 s, 10 s of processor time and 8 GiB of memory. The verdict is kept beside the compiled programs
// (driver_cache.h), and so is the program that the child has compiled. A failed probe is logged once (log_info).
// - The probe passed, the bytes are wrong, or the program does not compile: the verdict is kept at once.
// - Crash, time limit, or a kernel that does not run: the verdict is kept if the next run ends in the same way.
// - Another process killed the child, the child did not start, or the driver cannot open the kernels: this run does not
//   use the variant, and the next run probes it again.
bool probe_trusts(const struct probe *probe);

// For a pass with a user's filter. A child process builds the pass's program and runs it once; it has
// PROBE_BUILD_LIMIT_S s, PROBE_BUILD_CPU_S s of processor time and 8 GiB of memory. Returns false if the driver crashes
// or exceeds a limit there, or if the program does not compile: *error is then as in path_open. So only the child's
// standard error, which is /dev/null, gets what a compiler prints. The verdict is kept as for probe_trusts.
bool probe_builds(const struct probe *probe, char **error);

// As probe_builds, for a fragment shader of the gl path, but returns true if the shader does not compile: the caller
// then gets the compiler's messages. Needs no current context.
struct gl_context;
bool probe_shader_builds(const struct gl_context *context, const char *text, bool es, char **error);

// The arguments of the child that builds a shader, after the program's name.
enum probe_shader_word {
    SHADER_WORD_COMMAND,
    SHADER_WORD_KIND, // "shader"
    SHADER_WORD_PARENT,
    SHADER_WORD_ES,   // "es" or ""
    SHADER_WORD_TEXT, // file descriptor of the parent, with the text
    SHADER_WORDS,
};

// The child's part of probe_shader_builds. Returns the exit status.
int probe_shader_answer(char *const *words);

// The child's arguments, after the program's name.
enum probe_word {
    WORD_COMMAND,
    WORD_PARENT, // the process that asks
    WORD_FORMAT, // of the chain's input
    WORD_OUTPUT, // of the pass: "image" or "buffer"
    WORD_PASS,   // its number in the chain's plan
    WORD_CHAIN,
    WORD_KERNELS, // directory; "": none
    WORD_FILTERS, // directory of users' filters; "": none but the standard ones
    WORDS,
};

// The child's answer, as a reply or, for a shader, as its exit status. 0 or 1 is none: the driver ended the process.
enum probe_status {
    PROBE_PASSED = 100,
    PROBE_ANSWERS = PROBE_PASSED, // the first answer
    PROBE_WRONG,
    PROBE_NOT_BUILT, // the compiler refuses the program
    PROBE_NOT_RUN,
    PROBE_NOT_OPENED, // the driver has no memory, or its cache is damaged
    PROBE_UNKNOWN,    // no device makes the program with this key
    PROBE_LATE,       // only returned by probe_now: the child exceeded a time limit
};

// Runs a probe now; neither looks up nor stores a verdict. After a failure, `why` has the reason. On any thread;
// several threads may probe at the same time.
enum probe_status probe_now(const struct probe *probe, char why[VERDICT_TEXT]);

// The stricter limit is one of processor time, so that no variant fails because the machine is busy.
enum { PROBE_CPU_S = 10, PROBE_LIMIT_S = 30 };
// The limits of probe_builds. A user's filter that exceeds them cannot be used, so they are long.
enum { PROBE_BUILD_CPU_S = 30, PROBE_BUILD_LIMIT_S = 180 };
#define PROBE_DATA_BYTES ((size_t)8 << 30)

// The child's part: runs the probes of a pass that the parent asks for. Returns the exit status.
int probe_answer(char *const *words);
